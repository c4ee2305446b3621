import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { api, type ForkTask, MillwrightError } from '../../api/client.ts';
import { queryClient, taskQuery } from '../../api/queries.ts';
import { useKeyFor } from '../../api/task-actions.ts';
import { t } from '../../texts/index.ts';
import { DialogActions, FormFailure, saidOf, TextArea, TextField } from '../../ui/form.tsx';
import { Dialog } from '../../ui/ui.tsx';
import css from './task.module.css';

const FIELDS = ['content', 'title'];

/** Makes a new task of this one as it was at the end of a turn, and opens it. */
export default function Fork({ task, turn, onClose }: { task: string; turn: number; onClose: () => void }) {
  const [content, setContent] = useState('');
  const [title, setTitle] = useState('');
  const [, navigate] = useLocation();
  // While the dialog is open the same is one fork, also after an answer that was lost.
  const { keyFor } = useKeyFor();
  const fork = useMutation({
    mutationFn: (body: ForkTask) => api.tasks.fork(task, body, keyFor(body)),
    onSuccess: (made) => {
      queryClient.setQueryData(taskQuery(made.id).queryKey, made);
      void queryClient.invalidateQueries({ queryKey: ['tasks'] });
      navigate(`/tasks/${made.id}`);
    },
  });
  const { error } = fork;
  const gone = error instanceof MillwrightError && error.code === 'snapshot_gone';
  const send = (event: FormEvent) => {
    event.preventDefault();
    fork.mutate({ turn, ...(content.trim() && { content }), ...(title.trim() && { title }) });
  };
  return (
    <Dialog open onClose={onClose} title={t.fork.title(turn)}>
      <form className={css.form} onSubmit={send}>
        <p>{t.fork.text}</p>
        <TextArea
          label={t.fork.message}
          hint={t.fork.messageHint}
          said={saidOf(error, 'content')}
          value={content}
          rows={4}
          autoFocus
          onChange={setContent}
        />
        <TextField
          label={t.fork.name}
          hint={t.fork.nameHint}
          said={saidOf(error, 'title')}
          value={title}
          maxLength={200}
          onChange={setTitle}
        />
        <FormFailure error={gone ? new Error(t.fork.gone) : error} fields={FIELDS} />
        <DialogActions onKeep={onClose} type="submit" disabled={fork.isPending || gone}>
          {t.fork.action}
        </DialogActions>
      </form>
    </Dialog>
  );
}
