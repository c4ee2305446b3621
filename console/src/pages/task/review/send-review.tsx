// At the foot of the changes: the comments, and the button that sends them.
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import type { ReviewComment, SendMessage, Task } from '../../../api/client.ts';
import { useSend } from '../../../api/task-actions.ts';
import { useParam } from '../../../shell/url.ts';
import { t } from '../../../texts/index.ts';
import { Icon } from '../../../ui/icon.tsx';
import { Button, cx, Failure, toast, ui } from '../../../ui/ui.tsx';
import { pressed, useSettled } from '../press.ts';
import type { Placed } from './comments.ts';
import css from './review.module.css';

interface Props {
  task: Task;
  text: string;
  comments: Placed[];
  viewOf: (id: string) => ReactNode;
  setText: (text: string) => void;
  /** Called with the ids of what was sent. */
  onSent: (ids: string[]) => void;
}

export function SendReview({ task, text, comments, viewOf, setText, onSent }: Props) {
  const outdated = comments.filter((one) => one.outdated).length;
  const [open, setOpen] = useState(outdated > 0);
  const [, setTab] = useParam('tab', 'conversation');
  const ask = task.pendingInteraction;
  const [button, settled] = useSettled(ask?.id);
  const sent = useRef<string[]>([]);
  const send = useSend(task.id, () => {
    onSent(sent.current);
    toast(t.task.review.sent);
    setTab('conversation');
  });
  const ready = !send.isPending && (ask === null || settled);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!ready) return;
    const review = comments.map(({ path, side, line, endLine, quote, text: said }): ReviewComment => ({
      path,
      side,
      line,
      endLine,
      quote,
      text: said,
    }));
    const body: SendMessage = {
      ...(text.trim() !== '' && { content: text }),
      review,
      ...(task.status === 'running' && { mode: 'steer' as const }),
    };
    sent.current = comments.map(({ id }) => id);
    send.mutate(body);
  };
  return (
    <section className={cx(ui.letter, css.foot)} aria-label={t.task.review.title}>
      {open && (
        <ul className={css.list}>
          {comments.map(({ id }) => (
            <li key={id}>{viewOf(id)}</li>
          ))}
        </ul>
      )}
      {send.isError && <Failure error={send.error} retry={() => submit()} />}
      <form className={css.bar} onSubmit={submit} onKeyDown={pressed}>
        <button type="button" className={css.count} aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'ChevronDown' : 'ChevronRight'} size={14} />
          <span aria-live="polite">{t.task.review.count(comments.length)}</span>
          {outdated > 0 && <span className={css.outdated}>{`${outdated} ${t.task.review.outdated}`}</span>}
        </button>
        <textarea
          className={ui.area}
          rows={1}
          value={text}
          placeholder={t.task.review.overall}
          aria-label={t.task.review.overall}
          onChange={({ target }) => setText(target.value)}
        />
        <Button ref={button} small type="submit" look={ask === null ? 'primary' : 'plain'} disabled={!ready}>
          {ask === null ? t.task.review.send : t.task.composer.settles[ask.type]}
        </Button>
      </form>
    </section>
  );
}
