import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, isFinal, type Task } from '../../api/client.ts';
import { type Refusal, withEach } from '../../api/list-queries.ts';
import { queryClient } from '../../api/queries.ts';
import { t } from '../../texts/index.ts';
import { DialogActions, Field } from '../../ui/form.tsx';
import { TagInput } from '../../ui/tags.tsx';
import { Button, Dialog, saidBy, toast } from '../../ui/ui.tsx';
import css from './tasks.module.css';

type Done = keyof typeof t.tasks.done;
interface Work {
  what: Done;
  tasks: Task[];
  act: (task: Task) => Promise<unknown>;
}

/** What the dialogs name of the tasks. */
const NAMED = 5;
/** Sentences of the service that are shown. */
const MOST_TOASTS = 3;

/** Stands where the filters stand while tasks are selected. */
export function Selection({
  tasks: selected,
  clear,
  hold,
}: {
  tasks: Task[];
  clear: () => void;
  /** Called while a dialog is open: then this stays on the page. */
  hold: (open: boolean) => void;
}) {
  const [asked, setAsked] = useState<{ what: 'cancel' | 'delete' | 'tags'; tasks: Task[] } | null>(null);
  // A dialog is about those that were selected when it was opened, whatever becomes of the list meanwhile.
  const tasks = asked?.tasks ?? selected;
  const work = useMutation({
    mutationFn: async ({ what, tasks, act }: Work) => ({ what, of: tasks.length, refused: await withEach(tasks, act) }),
    onSuccess: ({ what, of, refused }) => {
      if (of > refused.length) toast(t.tasks.done[what](of - refused.length));
      refused.slice(0, MOST_TOASTS).forEach(showRefusal);
      if (refused.length === 0) clear();
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['tasks'] }),
  });
  const ask = (what: 'cancel' | 'delete' | 'tags') => (setAsked({ what, tasks }), hold(true));
  const close = () => (setAsked(null), hold(false));
  const begin = (next: Work) => (close(), work.mutate(next));
  const going = tasks.filter(({ status }) => !isFinal(status));
  const archived = tasks.filter((task) => task.archived);
  const current = tasks.filter((task) => !task.archived);
  const archiving = (what: 'archive' | 'unarchive', of: Task[]) => {
    const act = ({ id }: Task) => api.tasks.update(id, { archived: what === 'archive' });
    return (
      of.length > 0 && (
        <Button small icon="Inbox" disabled={work.isPending} onClick={() => begin({ what, tasks: of, act })}>
          {t.tasks[what]}
        </Button>
      )
    );
  };
  return (
    <div className={css.selection} role="toolbar" aria-label={t.tasks.selection}>
      <span className={css.selectedCount} role="status">
        {t.tasks.selected(tasks.length)}
      </span>
      {archiving('archive', current)}
      {archiving('unarchive', archived)}
      <Button small icon="Pencil" disabled={work.isPending} onClick={() => ask('tags')}>
        {t.tasks.tags}
      </Button>
      {going.length > 0 && (
        <Button small icon="Square" disabled={work.isPending} onClick={() => ask('cancel')}>
          {t.tasks.cancel}
        </Button>
      )}
      <Button small look="danger" icon="Trash" disabled={work.isPending} onClick={() => ask('delete')}>
        {t.tasks.delete}
      </Button>
      <span className="grow" />
      <Button small look="ghost" icon="X" keys="Esc" onClick={clear}>
        <span className={css.unselect}>{t.tasks.unselect}</span>
      </Button>

      <Dialog open={asked?.what === 'cancel'} onClose={close} title={t.tasks.cancelTitle(going.length)}>
        <p>{t.tasks.cancelText}</p>
        <Named tasks={going} />
        <DialogActions
          keep={t.tasks.keep}
          onKeep={close}
          look="danger"
          onClick={() => begin({ what: 'cancel', tasks: going, act: ({ id }) => api.tasks.cancel(id) })}
        >
          {t.tasks.cancelThem(going.length)}
        </DialogActions>
      </Dialog>
      <Dialog open={asked?.what === 'delete'} onClose={close} title={t.tasks.deleteTitle(tasks.length)}>
        <p>{t.tasks.deleteText}</p>
        <Named tasks={tasks} />
        <DialogActions
          keep={t.tasks.keep}
          onKeep={close}
          look="danger"
          onClick={() => begin({ what: 'delete', tasks, act: ({ id }) => api.tasks.delete(id) })}
        >
          {t.tasks.deleteThem(tasks.length)}
        </DialogActions>
      </Dialog>
      <Dialog open={asked?.what === 'tags'} onClose={close} title={t.tasks.tagTitle(tasks.length)}>
        <Tags tasks={tasks} onClose={close} onSave={(act) => begin({ what: 'tags', tasks, act })} />
      </Dialog>
    </div>
  );
}

const showRefusal = ({ task, error }: Refusal) => toast(t.tasks.failed(task.title, saidBy(error)), true);

const Named = ({ tasks }: { tasks: Task[] }) => (
  <ul className={css.named}>
    {tasks.slice(0, NAMED).map(({ id, title }) => (
      <li key={id} className="ellipsis">
        {title}
      </li>
    ))}
    {tasks.length > NAMED && <li>{t.tasks.andMore(tasks.length - NAMED)}</li>}
  </ul>
);

function Tags({ tasks, onClose, onSave }: { tasks: Task[]; onClose: () => void; onSave: (act: Work['act']) => void }) {
  const [added, setAdded] = useState<string[]>([]);
  const [removed, setRemoved] = useState<string[]>([]);
  const present = [...new Set(tasks.flatMap(({ tags }) => tags))].sort();
  const act = ({ id, tags }: Task) =>
    api.tasks.update(id, { tags: [...new Set([...tags.filter((tag) => !removed.includes(tag)), ...added])] });
  return (
    <form
      className={css.tagForm}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(act);
      }}
    >
      <Field label={t.tasks.tagAdd} hint={t.form.tagHint}>
        {(control) => <TagInput control={control} tags={added} onChange={setAdded} />}
      </Field>
      {present.length > 0 && (
        <fieldset className={css.present}>
          <legend>{t.tasks.tagRemove}</legend>
          {present.map((tag) => (
            <label key={tag}>
              <input
                type="checkbox"
                checked={removed.includes(tag)}
                onChange={({ target: { checked } }) =>
                  setRemoved(checked ? [...removed, tag] : removed.filter((one) => one !== tag))
                }
              />
              <span className="ellipsis">{tag}</span>
            </label>
          ))}
        </fieldset>
      )}
      <DialogActions onKeep={onClose} type="submit" disabled={added.length === 0 && removed.length === 0}>
        {t.tasks.save}
      </DialogActions>
    </form>
  );
}
