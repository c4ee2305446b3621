import { memo, Suspense, useEffect, useRef, useState } from 'react';
import { WAITS_FOR_TASKS } from '../../api/child-queries.ts';
import { isFinal, type Message, type Task } from '../../api/client.ts';
import { type Conversation as Data, readOlder } from '../../api/queries.ts';
import { program } from '../../shell/program.ts';
import { useShortcuts } from '../../shell/shortcuts.tsx';
import { t } from '../../texts/index.ts';
import { Icon } from '../../ui/icon.tsx';
import { Markdown } from '../../ui/markdown.tsx';
import { Button, Failure, toastError } from '../../ui/ui.tsx';
import { Asked, QuietLine, SharedFile, Source, UserMessage } from './blocks.tsx';
import { Ending } from './ending.tsx';
import { useFollowedEnd } from './follow-end.ts';
import { foldAll } from './folds.ts';
import { ForkFrom } from './fork-from.tsx';
import { useWritten } from './live.ts';
import { Loading } from './reading.tsx';
import { type Block, blocksOf, type Now } from './steps.ts';
import { Spinner, Steps } from './steps-view.tsx';
import css from './conversation.module.css';
import page from './task.module.css';

const Refusals = program(() => import('./network/refusals.tsx'));

interface Props {
  task: Task | undefined;
  data: Data | undefined;
  error: unknown;
  retry: () => void;
  turn: number;
}

export default function Conversation({ task, data, error, retry, turn }: Props) {
  if (task && data) return <Messages task={task} data={data} turn={turn} />;
  if (!error) return <Loading />;
  return (
    <div className={page.note}>
      <Failure error={error} retry={retry} />
    </div>
  );
}

/** Follows what comes as long as one stands at the end; a person who reads further up is left there. `turn`: the last one that has begun. */
function Messages({ task, data, turn }: { task: Task; data: Data; turn: number }) {
  const blocks = useBlocks(data.messages);
  const { box, inner, away, toEnd, release, hold } = useFollowedEnd();
  const fresh = useFresh(data, away);
  const now = useNow(task);
  // Messages that wait stand behind what goes on.
  const end = blocks.findLastIndex((block) => block.kind !== 'user' || block.message.status !== 'queued');

  const step = (by: number) => {
    const heads = [...(inner.current?.querySelectorAll<HTMLElement>('[data-step]:not(:disabled)') ?? [])];
    const at = heads.findIndex((head) => head === document.activeElement);
    const from = at === -1 ? (by > 0 ? -1 : heads.length) : at;
    const next = heads[Math.max(0, Math.min(heads.length - 1, from + by))];
    release();
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useShortcuts({ j: () => step(1), k: () => step(-1), e: foldAll });

  return (
    <div className={css.frame}>
      <div className={css.scroller} ref={box} tabIndex={0} role="region" aria-label={t.task.tabs.conversation}>
        <div className={css.inner} ref={inner}>
          {data.older !== null && <Earlier taskId={task.id} hold={hold} />}
          {data.messages.length === 0 && <p className={css.quiet}>{t.task.nothingShown}</p>}
          {blocks.map((block, index) => {
            const last = index >= end - 1;
            return <BlockView key={block.key} block={block} task={task.id} now={last ? now : OVER} last={last} />;
          })}
          <Written messages={data.messages} />
          <Ending task={task} />
          {turn > 0 && isFinal(task.status) && <ForkFrom task={task.id} turn={turn} />}
        </div>
      </div>
      {away && (
        <button type="button" className={css.down} onClick={() => toEnd(true)}>
          <Icon name="ArrowDown" size={14} />
          {fresh ? t.task.newSteps : t.task.toEnd}
        </button>
      )}
    </div>
  );
}

const OVER: Now = { state: 'over', waiting: null };

/** The same object as long as it says the same, so that what does not change is not drawn anew. */
function useNow(task: Task): Now {
  // The call that has made them goes on as long as they do.
  const runs = task.status === 'running' || task.statusReason?.code === WAITS_FOR_TASKS;
  const state = runs ? 'running' : ['queued', 'awaiting_input'].includes(task.status) ? 'paused' : 'over';
  const waiting = task.pendingInteraction?.toolCall?.toolCallId ?? task.pendingInteraction?.id ?? null;
  const now = useRef<Now>(OVER);
  if (now.current.state !== state || now.current.waiting !== waiting) now.current = { state, waiting };
  return now.current;
}

function useBlocks(messages: Data['messages']): Block[] {
  const last = useRef<{ messages: Data['messages'] | null; blocks: Block[] }>({ messages: null, blocks: [] });
  if (last.current.messages !== messages) {
    const before = new Map(last.current.blocks.map((block) => [block.key, block]));
    last.current = { messages, blocks: blocksOf(messages, before) };
  }
  return last.current.blocks;
}

/** Whether something has come since the end went out of sight. */
function useFresh({ messages }: Data, away: boolean): boolean {
  const [fresh, setFresh] = useState(false);
  const newest = messages.at(-1)?.id;
  const known = useRef(newest);
  useEffect(() => {
    setFresh(away && newest !== known.current);
    if (!away) known.current = newest;
  }, [away, newest]);
  return fresh;
}

function Earlier({ taskId, hold }: { taskId: string; hold: () => void }) {
  const [busy, setBusy] = useState(false);
  const load = async () => {
    setBusy(true);
    await readOlder(taskId, hold).catch(toastError);
    setBusy(false);
  };
  return (
    <Button small className={css.earlier} disabled={busy} onClick={() => void load()}>
      {busy ? t.common.loading : t.task.earlier}
    </Button>
  );
}

const BlockView = memo(function BlockView({
  block,
  task,
  now,
  last,
}: {
  block: Block;
  task: string;
  now: Now;
  last: boolean;
}) {
  switch (block.kind) {
    case 'user':
      return <UserMessage block={block} taskId={task} />;
    case 'text':
      return (
        <div className={css.say}>
          <Markdown text={block.text} />
        </div>
      );
    case 'steps':
      return <Steps id={block.key} steps={block.steps} now={now} last={last} />;
    case 'ask':
      // Until it is answered it stands in the dock, where it cannot be scrolled away.
      return now.waiting !== null && block.call.result === null ? null : <Asked call={block.call} />;
    case 'file':
      return <SharedFile part={block.part} />;
    case 'source':
      return <Source part={block.part} />;
    case 'turn':
      return <ForkFrom task={task} turn={block.turn} />;
    case 'quiet':
      if (block.name === 'network') {
        return (
          <Suspense fallback={null}>
            <Refusals taskId={task} data={block.data} />
          </Suspense>
        );
      }
      return <QuietLine id={block.key} name={block.name} data={block.data} />;
  }
});

/** So much of the end of a thought is shown while it grows, in characters. */
const THOUGHT = 1500;

/** What the model writes at this moment: drawn with each frame, and replaced by the message once there is one. */
function Written({ messages }: { messages: readonly Message[] }) {
  const message = useWritten();
  // In the same drawing as its message comes: never both, and never neither.
  if (message === null || messages.some(({ id }) => id === message.id)) return null;
  const parts = [...message.parts].sort(([a], [b]) => a - b);
  return (
    <div className={css.written} aria-busy>
      {parts.map(([index, { type, text }]) =>
        type === 'text' ? (
          <div key={index} className={css.say}>
            <Markdown text={text} />
          </div>
        ) : (
          <section key={index} className={css.thinking} aria-label={t.task.thinking}>
            <header>
              <Spinner /> {t.task.thinking}
            </header>
            {index === parts.at(-1)?.[0] && <p>{text.length > THOUGHT ? `… ${text.slice(-THOUGHT)}` : text}</p>}
          </section>
        ),
      )}
    </div>
  );
}
