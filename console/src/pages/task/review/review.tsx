// Comments on lines of a patch: written below the lines, kept in this browser, and sent together as one message.
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react';
import type { Task } from '../../../api/client.ts';
import { t } from '../../../texts/index.ts';
import { Diff, type DiffLayout, type Noted } from '../../../ui/diff.tsx';
import type { DiffFile } from '../../../ui/patch.ts';
import { toast } from '../../../ui/ui.tsx';
import { useDraft } from '../drafts.ts';
import { CommentCard, CommentForm } from './comment.tsx';
import {
  type Comment,
  type Draft,
  isWritten,
  keepDraft,
  MOST,
  type Placed,
  placed,
  quoteOf,
  type Range,
  readDraft,
} from './comments.ts';
import { LineButton, type Told } from './line-button.ts';
import { SendReview } from './send-review.tsx';
import css from './review.module.css';

interface Props {
  task: Task;
  /** Of the patch; `shown` is all of it or one of them. */
  files: DiffFile[];
  shown: DiffFile[];
  layout: DiffLayout;
}

/** Where a comment stands: below its lines, or in the list of all. */
type Where = 'line' | 'list';

/** What is being written, and what it was before. */
interface Editing {
  id: string;
  before: string;
  where: Where;
}

/** What stands below lines is asked for where it is drawn: the patch is not drawn anew for each letter. */
const Views = createContext<(id: string, where: Where) => ReactNode>(() => null);
const Below = ({ id }: { id: string }) => use(Views)(id, 'line');

export function Review({ task, files, shown, layout }: Props) {
  const [kept, keep] = useDraft(`${task.id}.review`);
  const draft = useMemo(() => readDraft(kept), [kept]);
  const [editing, setEditing] = useState<Editing | null>(null);
  // Of this moment: what is changed next begins with it.
  const now = useRef({ draft, editing });
  now.current = { draft, editing };
  const save = (next: Partial<Draft>) => {
    now.current.draft = { ...now.current.draft, ...next };
    keep(keepDraft(now.current.draft));
  };
  const edit = (next: Editing | null) => setEditing((now.current.editing = next));
  /** Without what has no words, but for the one that is being written. */
  const change = (next: (comments: Comment[]) => Comment[]) =>
    save({ comments: next(now.current.draft.comments).filter((one) => isWritten(one) || isEdited(one)) });
  const isEdited = ({ id }: Comment) => id === now.current.editing?.id;

  const all = useMemo(() => placed(files, draft.comments), [files, draft.comments]);
  const current = all.find(isEdited);
  const isBegun = () => current !== undefined && !isWritten(current);
  const onComment = (range: Range) => {
    const quote = quoteOf(files, range);
    if (current && isBegun())
      return change((list) => list.map((one) => (isEdited(one) ? { ...one, ...range, quote } : one)));
    if (all.length >= MOST.comments) return toast(t.task.review.full(MOST.comments), true);
    const id = crypto.getRandomValues(new Uint32Array(2)).join('-');
    edit({ id, before: '', where: 'line' });
    change((list) => [...list, { id, ...range, quote, text: '' }]);
  };
  const [box, lineButton] = useLineButton({ onComment, isBegun });

  const write = (id: string, text: string) =>
    change((list) => list.map((one) => (one.id === id ? { ...one, text } : one)));
  const leave = (comment: Placed, text = comment.text) => {
    edit(null);
    write(comment.id, text);
    lineButton.current?.focusOn(comment);
  };
  const viewOf = (id: string, where: Where): ReactNode => {
    const comment = all.find((one) => one.id === id);
    if (comment === undefined) return null;
    if (id !== editing?.id || where !== editing.where)
      return (
        <CommentCard
          comment={comment}
          named={where === 'list'}
          onEdit={() => edit({ id, before: comment.text, where })}
          onRemove={() => change((list) => list.filter((one) => one.id !== id))}
        />
      );
    return (
      <CommentForm
        comment={comment}
        known={editing.before !== ''}
        onWrite={(text) => write(id, text)}
        onDone={() => leave(comment)}
        onCancel={() => leave(comment, editing.before)}
      />
    );
  };
  return (
    <Views value={viewOf}>
      <div ref={box} className={css.layer}>
        <Diff key={shown.length} files={shown} layout={layout} idPrefix="change" noted={useNoted(all)} />
      </div>
      {all.some(isWritten) && (
        <SendReview
          task={task}
          text={draft.text}
          comments={all.filter(isWritten)}
          viewOf={(id) => viewOf(id, 'list')}
          setText={(text) => save({ text })}
          onSent={(ids) =>
            save({ text: '', comments: now.current.draft.comments.filter(({ id }) => !ids.includes(id)) })
          }
        />
      )}
    </Views>
  );
}

function useLineButton(next: Told) {
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<LineButton>(null);
  const told = useRef(next);
  told.current = next;
  useEffect(() => {
    if (box.current === null) return;
    const one = new LineButton(box.current, () => told.current);
    button.current = one;
    return () => one.stop();
  }, []);
  return [box, button] as const;
}

/** By file; the same objects as long as the comments are where they were. */
function useNoted(all: readonly Placed[]): ReadonlyMap<string, readonly Noted[]> {
  const known = useRef(new Map<string, { is: string; noted: Noted[] }>());
  const places = JSON.stringify(
    all.map(({ id, path, side, line, endLine, outdated }) => [id, path, side, line, endLine, outdated]),
  );
  return useMemo(() => {
    const byPath = Map.groupBy(
      all.filter(({ outdated }) => !outdated),
      ({ path }) => path,
    );
    const next = new Map<string, { is: string; noted: Noted[] }>();
    for (const [path, comments] of byPath) {
      const noted = comments.map(({ id, side, line, endLine }) => ({ key: id, side, line, endLine }));
      const is = JSON.stringify(noted);
      const before = known.current.get(path);
      next.set(
        path,
        before?.is === is ? before : { is, noted: noted.map((one) => ({ ...one, node: <Below id={one.key} /> })) },
      );
    }
    known.current = next;
    return new Map([...next].map(([path, { noted }]) => [path, noted]));
  }, [places]);
}
