import { type FormEvent, useState } from 'react';
import type { Task } from '../../api/client.ts';
import { usePauseUntil } from '../../api/task-actions.ts';
import { t } from '../../texts/index.ts';
import { DialogActions, FormFailure, saidOf, TextField } from '../../ui/form.tsx';
import { instantOf, localOf } from '../../ui/format.ts';
import { Dialog } from '../../ui/ui.tsx';
import css from './task.module.css';

const HOUR_MS = 3_600_000;

/** Pauses the task with a time at which it goes on by itself. Of one that is paused already it changes that time. */
export default function PauseUntil({ task: { id, resumesAt }, onClose }: { task: Task; onClose: () => void }) {
  const [at, setAt] = useState(() => localOf(resumesAt ? new Date(resumesAt) : new Date(Date.now() + HOUR_MS)));
  const pause = usePauseUntil(id);
  const instant = instantOf(at);
  const send = (event: FormEvent) => {
    event.preventDefault();
    pause.mutate(instant, { onSuccess: onClose });
  };
  return (
    <Dialog open onClose={onClose} title={t.pause.title}>
      <form className={css.form} onSubmit={send}>
        <TextField
          label={t.pause.at}
          hint={t.pause.hint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
          said={instant === '' ? t.pause.noTime : saidOf(pause.error, 'resumeAt')}
          type="datetime-local"
          value={at}
          autoFocus
          onChange={setAt}
        />
        <FormFailure error={pause.error} fields={['resumeAt']} />
        <DialogActions onKeep={onClose} type="submit" disabled={pause.isPending || instant === ''}>
          {t.pause.action}
        </DialogActions>
      </form>
    </Dialog>
  );
}
