// Below the conversation, always in view: what the agent asks, and a box to write to it. A box that somebody writes in stays where
// it is and keeps the focus, whatever arrives: else the next letters would go to the page, and a letter can be a shortcut.
import { useQuery } from '@tanstack/react-query';
import { Suspense, useRef, useState } from 'react';
import { checksOf } from '../../api/check-queries.ts';
import type { Interaction, Task } from '../../api/client.ts';
import { type Conversation, conversationQuery } from '../../api/queries.ts';
import { useCan } from '../../shell/can.ts';
import { program } from '../../shell/program.ts';
import { t } from '../../texts/index.ts';
import { Composer } from './composer.tsx';
import css from './dock.module.css';
import { fieldsOf } from './steps.ts';

const Asking = program(() => import('./asking.tsx'));
const ChecksPanel = program(() => import('./checks/panel.tsx'));
const CommandsPanel = program(() => import('./commands/panel.tsx'));

interface Props {
  task: Task;
  ask: Interaction | null;
  /** Whether one writes to the agent from here. What it asks is shown either way. */
  open: boolean;
}

export function Dock(props: Props) {
  // A session that may not write any more gets an error from the service: what is being written stays.
  const [writes] = useState(useCan()('tasks:write'));
  if (writes) return <WritingDock {...props} />;
  const { ask, open } = props;
  return (
    <div className={css.dock}>
      <Checks {...props} />
      <Commands {...props} />
      {ask && (
        <Suspense fallback={null}>
          <Asking ask={ask} form={null} />
        </Suspense>
      )}
      {open && <p className={css.readOnly}>{t.task.readOnly}</p>}
    </div>
  );
}

/** Of a task that has some. */
function Checks({ task, ask, open }: Props) {
  if (!open || checksOf(task).status === 'none') return null;
  return (
    <Suspense fallback={null}>
      <ChecksPanel task={task} aside={ask !== null} />
    </Suspense>
  );
}

/** Of a task whose agent lets some go on. */
function Commands({ task, open }: Props) {
  const { data } = useQuery({ ...conversationQuery(task.id), enabled: false, select: mayGoOn });
  if (!open || data !== true) return null;
  return (
    <Suspense fallback={null}>
      <CommandsPanel task={task} />
    </Suspense>
  );
}

const ASKS = ['background', 'terminal', 'yieldSeconds', 'onTimeout'];
/** What is not read yet may have begun one. */
const mayGoOn = ({ messages, older }: Conversation): boolean =>
  older !== null ||
  messages.some(({ parts }) =>
    parts.some(
      (part) =>
        part.type === 'tool_call' &&
        // What takes long goes on, whether its call asks for it or not.
        (part.name === 'exec_command' || ASKS.some((field) => field in fieldsOf(part.input))),
    ),
  );

const MESSAGE = 'message';

function WritingDock({ task, ask, open }: Props) {
  /** The boxes that somebody writes in: the message, and answers by what they answer. */
  const [written, setWritten] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState(ask);
  /** What was settled elsewhere while somebody wrote an answer to it. */
  const [over, setOver] = useState<Interaction[]>([]);
  /** Once the message box is there beside a question, it stays until the question goes: nothing moves under the pointer. */
  const [beside, setBeside] = useState(false);
  if (ask?.id !== last?.id) {
    setLast(ask);
    setBeside(written.has(MESSAGE));
    if (last !== null && written.has(last.id)) setOver([...over, last]);
  } else if (!beside && written.has(MESSAGE)) setBeside(true);

  const tellers = useRef(new Map<string, (writes: boolean) => void>());
  const onWritingOf = (box: string) => {
    const known = tellers.current.get(box) ?? ((writes: boolean) => setWritten((old) => changed(old, box, writes)));
    tellers.current.set(box, known);
    return known;
  };
  const asks = ask === null ? over : [...over.filter(({ id }) => id !== ask.id), ask];
  return (
    <div className={css.dock}>
      <Checks task={task} ask={ask} open={open} />
      <Commands task={task} ask={ask} open={open} />
      <Suspense fallback={null}>
        {asks.map((one) => {
          const close = one.id === ask?.id ? undefined : () => setOver(over.filter(({ id }) => id !== one.id));
          return <Asking key={one.id} ask={one} form={{ taskId: task.id, onWriting: onWritingOf(one.id), close }} />;
        })}
      </Suspense>
      <Composer task={task} ask={ask} hidden={!(open && ask === null) && !beside} onWriting={onWritingOf(MESSAGE)} />
    </div>
  );
}

function changed(all: ReadonlySet<string>, one: string, has: boolean): ReadonlySet<string> {
  if (all.has(one) === has) return all;
  const next = new Set(all);
  if (has) next.add(one);
  else next.delete(one);
  return next;
}
