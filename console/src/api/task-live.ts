// One task that is looked at: its events keep the conversation up, its deltas show what is being made.
import type { Delta } from '@millwright/sdk';
import { useEffect, useMemo } from 'react';
import { applied } from './apply.ts';
import type { RunningCheck } from './check-queries.ts';
import { api, isForbidden, isGone, type TaskEvent } from './client.ts';
import { connection } from './connection.ts';
import { heard } from './decisions.ts';
import { type Conversation, conversationQuery, queryClient, taskQuery } from './queries.ts';
import { Store } from './store.ts';

/** Part of a message that has no event yet. */
interface MakingPart {
  type: 'text' | 'reasoning';
  text: string;
}

/** What a command has printed so far. */
export interface Printed {
  stdout: string;
  stderr: string;
  /** Of the beginning, which is not kept. */
  left: number;
}

export interface Making {
  /** The message that is being written, by the index of its parts. */
  message: { id: string; parts: ReadonlyMap<number, MakingPart> } | null;
  /** By the id of the call or of the command that goes on, or {@link printerOf} a check. */
  printed: ReadonlyMap<string, Printed>;
}

export interface TaskLive {
  making: Store<Making>;
  /** `gone`: deleted, or not to be seen any more. */
  state: Store<'following' | 'gone' | 'refused'>;
}

/** What stands for a check that runs, in place of the id of a call. */
export const printerOf = ({ name, phase, round }: RunningCheck): string => `${phase}/${round}/${name}`;

const NOTHING: Making = { message: null, printed: new Map() };
/** A command may print for hours: so much of each stream is kept, in characters. */
const KEPT = 200_000;
/** A page in the background gives its connection back after this time. */
const HIDDEN_MS = 10_000;

/** Follows a task while the page that asks is there and is seen. */
export function useTaskEvents(taskId: string): TaskLive {
  const live = useMemo<TaskLive>(() => ({ making: new Store(NOTHING), state: new Store('following') }), [taskId]);
  useEffect(() => {
    let now: AbortController | null = null;
    let hiding = 0;
    const begin = () => {
      clearTimeout(hiding);
      if (now !== null) return;
      now = new AbortController();
      void keep(taskId, live, now.signal);
    };
    const end = () => {
      now?.abort();
      now = null;
    };
    const onVisibility = () => {
      if (document.hidden) hiding = window.setTimeout(end, HIDDEN_MS);
      else begin();
    };
    document.addEventListener('visibilitychange', onVisibility);
    // The client waits longer and longer; that the service answers again is known at once.
    const endReturn = connection.onReturn(() => (end(), document.hidden || begin()));
    begin();
    return () => {
      endReturn();
      document.removeEventListener('visibilitychange', onVisibility);
      clearTimeout(hiding);
      end();
    };
  }, [taskId, live]);
  return live;
}

/** The last number that the kept conversation has seen, by task: following goes on from it. */
const positions = new Map<string, number>();

async function keep(taskId: string, live: TaskLive, signal: AbortSignal): Promise<void> {
  const { queryKey } = conversationQuery(taskId);
  // What is kept of an earlier look is right up to its position; without it the end is read as soon as the stream stands.
  let after = queryClient.getQueryData(queryKey) === undefined ? undefined : positions.get(taskId);
  let first = true;
  let read: Promise<unknown> = Promise.resolve();
  const making = new InTheMaking(live.making);
  const onReady = ({ latest }: { latest: number }) => {
    making.clear();
    void queryClient.invalidateQueries({ queryKey: taskQuery(taskId).queryKey });
    if (first && after === undefined) {
      positions.set(taskId, latest);
      read = queryClient.fetchQuery({ ...conversationQuery(taskId), staleTime: 0 });
      // It is waited for with the first frame.
      read.catch(() => undefined);
    }
    first = false;
  };
  while (!signal.aborted) {
    try {
      for await (const frame of api.tasks.events(taskId, { after: after ?? 'latest', deltas: true, onReady, signal })) {
        await read;
        if (!('seq' in frame)) {
          making.hear(frame);
          continue;
        }
        positions.set(taskId, frame.seq);
        making.replaced(frame);
        queryClient.setQueryData<Conversation>(queryKey, (known) => known && withEvent(known, frame));
        heard(taskId, frame);
        stale(taskId, frame);
        if (frame.type === 'command.started' || frame.type === 'command.ended') commandsChange(taskId, frame, making);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (isGone(error) || isForbidden(error)) {
        live.state.set(isGone(error) ? 'gone' : 'refused');
        break;
      }
      // The page says what it could not read, and reads it again when it is told to.
      read = Promise.resolve();
      await new Promise((resolve) => setTimeout(resolve, 2000));
      after = queryClient.getQueryData(queryKey) === undefined ? undefined : positions.get(taskId);
      first = after === undefined;
    }
  }
  making.clear();
}

function withEvent(known: Conversation, event: TaskEvent): Conversation {
  const messages = applied(known.messages, event);
  return messages === known.messages ? known : { ...known, messages };
}

/** Events come in bursts; the task is read once for those of so many milliseconds. */
const TOGETHER_MS = 100;
const waiting = new Set<string>();

/** The task itself has figures that no event carries. */
function stale(taskId: string, event: TaskEvent): void {
  if (!waiting.has(taskId)) {
    waiting.add(taskId);
    setTimeout(() => {
      waiting.delete(taskId);
      void queryClient.invalidateQueries({ queryKey: taskQuery(taskId).queryKey });
    }, TOGETHER_MS);
  }
  if (event.type.startsWith('check.')) void queryClient.invalidateQueries({ queryKey: ['checks', taskId] });
  if (event.type === 'file.published') void queryClient.invalidateQueries({ queryKey: ['task-files', taskId] });
}

/** The output of one that has ended stays until it comes with the list. */
function commandsChange(
  taskId: string,
  { type, data }: Extract<TaskEvent, { type: 'command.started' | 'command.ended' }>,
  making: InTheMaking,
): void {
  const read = queryClient.invalidateQueries({ queryKey: ['commands', taskId] });
  if (type === 'command.ended') void read.then(() => making.listed(data.commandId));
}

/** Deltas, gathered for one drawing each frame. */
class InTheMaking {
  #message: { id: string; parts: Map<number, MakingPart> } | null = null;
  #printed = new Map<string, Printed>();
  #drawing = false;

  constructor(private readonly shown: Store<Making>) {}

  hear(delta: Delta): void {
    if (delta.type === 'message.discarded') {
      if (this.#message?.id === delta.messageId) this.#message = null;
    } else if (delta.type === 'message.delta') this.#write(delta);
    else if (delta.type === 'command.output') this.#say(delta);
    else this.#print(delta);
    this.#draw();
  }

  /** What is over is not being made any more. What was written of a message the page leaves out itself once it shows the message. */
  replaced(event: TaskEvent): void {
    if (event.type === 'tool.completed') this.#printed.delete(event.data.toolCallId);
    // One that begins anew prints anew.
    else if (event.type === 'check.started' || event.type === 'check.completed')
      this.#printed.delete(printerOf(event.data));
    else if (event.type.startsWith('task.') && event.type !== 'task.updated' && event.type !== 'task.running')
      this.clear();
    this.#draw();
  }

  /** What a command said is in the list of them now. */
  listed(commandId: string): void {
    this.#printed.delete(commandId);
    this.#draw();
  }

  clear(): void {
    this.#message = null;
    this.#printed.clear();
    this.#draw();
  }

  #write({ messageId, index, part, offset, delta }: Extract<Delta, { type: 'message.delta' }>): void {
    if (this.#message?.id !== messageId) this.#message = { id: messageId, parts: new Map() };
    const { parts } = this.#message;
    const known = parts.get(index)?.text ?? '';
    if (offset <= known.length) parts.set(index, { type: part, text: known.slice(0, offset) + delta });
  }

  /** Of a command that goes on; what came before the end that is at hand is missing. */
  #say({ commandId, offset, delta }: Extract<Delta, { type: 'command.output' }>): void {
    const known = this.#printed.get(commandId) ?? { stdout: '', stderr: '', left: 0 };
    const end = known.left + known.stdout.length;
    if (offset < end) return;
    const whole = (offset > end ? '' : known.stdout) + delta;
    const stdout = whole.slice(-KEPT);
    this.#printed.set(commandId, { stdout, stderr: '', left: offset + delta.length - stdout.length });
  }

  #print(progress: Extract<Delta, { type: 'tool.progress' }>): void {
    const { stream, delta } = progress;
    const printer = 'toolCallId' in progress ? progress.toolCallId : printerOf({ ...progress, name: progress.check });
    const known = this.#printed.get(printer) ?? { stdout: '', stderr: '', left: 0 };
    const whole = known[stream] + delta;
    const kept = whole.length > KEPT ? whole.slice(-KEPT) : whole;
    this.#printed.set(printer, { ...known, [stream]: kept, left: known.left + whole.length - kept.length });
  }

  #draw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    requestAnimationFrame(() => {
      this.#drawing = false;
      const message = this.#message && { id: this.#message.id, parts: new Map(this.#message.parts) };
      this.shown.set({ message, printed: new Map(this.#printed) });
    });
  }
}
