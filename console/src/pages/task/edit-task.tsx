import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { ChangeTask, Task } from '../../api/client.ts';
import { modelsQuery } from '../../api/queries.ts';
import { useChange } from '../../api/task-actions.ts';
import { useCan } from '../../shell/can.ts';
import { t } from '../../texts/index.ts';
import { Choice, DialogActions, Field, FormFailure, saidOf, TextField } from '../../ui/form.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { Dialog, toast } from '../../ui/ui.tsx';
import { ProjectSelect } from '../projects/project-select.tsx';
import css from './task.module.css';

const FIELDS = ['title', 'projectId', 'tags', 'model', 'effort', 'whenBlocked'];

/** Name, project, tags, and with what the next turn works. Only what was changed is sent. */
export default function EditTask({ task: now, onClose }: { task: Task; onClose: () => void }) {
  // As it was at the beginning: what others change meanwhile is not changed back.
  const [task] = useState(now);
  const can = useCan();
  const { data: models = [] } = useQuery(modelsQuery);
  const [title, setTitle] = useState(task.title);
  const [projectId, setProjectId] = useState(task.projectId);
  const [tags, setTags] = useState(task.tags);
  const [model, setModel] = useState(task.model);
  const [effort, setEffort] = useState(task.effort);
  const [whenBlocked, setWhenBlocked] = useState(task.whenBlocked);
  const change = useChange(task.id);
  const { edit } = t.task;
  const efforts = models.find(({ id }) => id === model)?.efforts ?? [];
  const given: ChangeTask = {
    ...(title !== task.title && { title }),
    ...(projectId !== task.projectId && { projectId }),
    ...(tags.join() !== task.tags.join() && { tags }),
    ...(model !== task.model && { model }),
    ...((effort !== task.effort || model !== task.model) && effort !== null && efforts.includes(effort) && { effort }),
    ...(whenBlocked !== task.whenBlocked && { whenBlocked }),
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(given).length === 0) return onClose();
    change.mutate(given, { onSuccess: () => (toast(edit.saved), onClose()) });
  };
  const { error } = change;
  return (
    <Dialog open onClose={onClose} title={edit.title}>
      <form className={css.form} onSubmit={save}>
        <TextField
          label={edit.name}
          said={saidOf(error, 'title')}
          value={title}
          maxLength={200}
          required
          autoFocus
          onChange={setTitle}
        />
        {can('projects:read') && (
          <ProjectSelect
            label={t.task.details.project}
            none={edit.noProject}
            said={saidOf(error, 'projectId')}
            value={projectId ?? ''}
            onChange={(id) => setProjectId(id || null)}
          />
        )}
        <Field label={t.task.details.tags} hint={t.form.tagHint} said={saidOf(error, 'tags')}>
          {(control) => <TagInput control={control} tags={tags} onChange={setTags} />}
        </Field>
        <Choice
          label={t.task.details.model}
          hint={edit.modelHint}
          said={saidOf(error, 'model')}
          value={model}
          onChange={setModel}
          options={[
            ...(models.some(({ id }) => id === model) ? [] : [[model, model] as const]),
            ...models.map(({ id, name }) => [id, name] as const),
          ]}
        />
        {efforts.length > 0 && (
          <Choice
            label={edit.effort}
            said={saidOf(error, 'effort')}
            value={effort ?? ''}
            onChange={(chosen) => setEffort(chosen || null)}
            options={[
              ...(effort === null ? [['', edit.usual] as const] : []),
              ...efforts.map((one) => [one, one] as const),
            ]}
          />
        )}
        <Choice
          label={t.form.whenBlocked}
          hint={t.form.waitHint}
          said={saidOf(error, 'whenBlocked')}
          value={whenBlocked}
          onChange={setWhenBlocked}
          options={[
            ['fail', t.form.blocked.fail],
            ['wait', t.form.blocked.wait],
          ]}
        />
        <FormFailure error={error} fields={FIELDS} />
        <DialogActions onKeep={onClose} type="submit" disabled={change.isPending}>
          {edit.save}
        </DialogActions>
      </form>
    </Dialog>
  );
}
