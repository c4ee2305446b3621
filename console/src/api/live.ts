// Events of the workspace, for all tabs. A browser has six connections to one origin (HTTP/1.1), and a stream occupies one. So only the
// tab that has the lock opens the stream, and broadcasts its events to the other tabs.
import type { WorkspaceEvent } from '@millwright/sdk';
import { api, MillwrightError } from './client.ts';
import { queryClient } from './queries.ts';

type TabMessage = { event: WorkspaceEvent } | { again: true };

const LOCK = 'millwright.events';
/** Events within this time cause one reading. */
const TOGETHER_MS = 250;
/** The least time between two readings: each counts towards the rate limits of the key. */
const APART_MS = 2000;

const listeners = new Set<(event: WorkspaceEvent) => void>();

/** Is called for each event of the workspace, in one tab or another. */
export function onWorkspaceEvent(listener: (event: WorkspaceEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Milliseconds. A lock that is granted later was another tab's. */
const WAITED_MS = 500;

/** Subscribes to the events of the workspace until the signal is aborted. */
export function followWorkspace(signal: AbortSignal): void {
  const tabs = new BroadcastChannel('millwright.events');
  const receive = (message: TabMessage) => ('event' in message ? onEvent(message.event) : everythingAnew());
  tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => receive(data);
  signal.addEventListener('abort', () => tabs.close(), { once: true });
  const broadcast = (message: TabMessage) => {
    receive(message);
    if (!signal.aborted) tabs.postMessage(message);
  };
  const asked = performance.now();
  const start = () => readStream(broadcast, signal, performance.now() - asked > WAITED_MS);
  // Without a secure context there are no locks; then each tab has a stream of its own.
  const ended = 'locks' in navigator ? navigator.locks.request(LOCK, { signal }, start) : start();
  ended.catch(() => undefined);
}

/** @param after another tab had the stream before: the page reads again what it may have missed between the two streams. */
async function readStream(
  broadcast: (message: TabMessage) => void,
  signal: AbortSignal,
  after: boolean,
): Promise<void> {
  let first = !after;
  // Also after a stream that broke: events may have been missed since.
  const onReady = () => {
    if (!first) broadcast({ again: true });
    first = false;
  };
  while (!signal.aborted) {
    try {
      for await (const event of api.events({ onReady, signal })) broadcast({ event });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof MillwrightError && [401, 403].includes(error.status)) {
        // The stream was ended: an answer 401 says to all of the page that the session is over.
        await api.auth.context().catch(() => undefined);
        return;
      }
      // 410: what was missed is kept no longer. 429: too many streams of this key.
      broadcast({ again: true });
      await new Promise((resolve) => setTimeout(resolve, 5000));
    }
  }
}

const stale = new Set<string>();
let timer = 0;
let lastRead = 0;

function onEvent(event: WorkspaceEvent): void {
  for (const listener of listeners) listener(event);
  if (event.type.startsWith('automation.')) stale.add('automations');
  if (event.type.startsWith('task.')) {
    stale.add('tasks');
    if (event.type === 'task.deleted' && event.taskId !== null)
      queryClient.removeQueries({ queryKey: ['task', event.taskId] });
    else if (event.taskId !== null) stale.add(`task ${event.taskId}`);
    if (event.type === 'task.completed' || event.type === 'task.failed') stale.add('billing');
  }
  timer ||= window.setTimeout(readAnew, Math.max(TOGETHER_MS, lastRead + APART_MS - Date.now()));
}

function readAnew(): void {
  timer = 0;
  lastRead = Date.now();
  for (const name of stale) void queryClient.invalidateQueries({ queryKey: name.split(' ') });
  stale.clear();
}

/** Reads all data again, but for conversations: each has events of its own. */
export function everythingAnew(): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => name !== 'conversation' && name !== 'text',
  });
}
