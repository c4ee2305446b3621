// What happens in the workspace, told to all tabs. A browser has six connections to one origin (HTTP/1.1), and a stream
// holds one: so the tabs share one stream of the workspace, held by the one that has the lock.
import type { WorkspaceEvent } from '@millwright/sdk';
import { api, MillwrightError } from './client.ts';
import { queryClient } from './queries.ts';

type Told = { event: WorkspaceEvent } | { again: true };

const LOCK = 'millwright.events';
/** Events that come together are one reason to read anew. */
const TOGETHER_MS = 250;
/** While much happens, what is shown is read so often at most: each reading counts for the limits of the key. */
const APART_MS = 2000;

const listeners = new Set<(event: WorkspaceEvent) => void>();

/** Is called for each event of the workspace, in one tab or another. */
export function onWorkspaceEvent(listener: (event: WorkspaceEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A lock that comes later than this was another tab's, in milliseconds. */
const WAITED_MS = 500;

/** Follows the workspace until the signal. */
export function followWorkspace(signal: AbortSignal): void {
  const tabs = new BroadcastChannel('millwright.events');
  const told = (message: Told) => ('event' in message ? heard(message.event) : everythingAnew());
  tabs.onmessage = ({ data }: MessageEvent<Told>) => told(data);
  signal.addEventListener('abort', () => tabs.close(), { once: true });
  const tell = (message: Told) => {
    told(message);
    if (!signal.aborted) tabs.postMessage(message);
  };
  const asked = performance.now();
  const hold = () => hear(tell, signal, performance.now() - asked > WAITED_MS);
  // Without a secure context there are no locks; then each tab has a stream of its own.
  const held = 'locks' in navigator ? navigator.locks.request(LOCK, { signal }, hold) : hold();
  held.catch(() => undefined);
}

/** @param after another tab has heard: what happened between the end of its stream and this one is read anew. */
async function hear(tell: (message: Told) => void, signal: AbortSignal, after: boolean): Promise<void> {
  let first = !after;
  // What happened between the end of another tab's stream and this one, or while there was none.
  const onReady = () => {
    if (!first) tell({ again: true });
    first = false;
  };
  while (!signal.aborted) {
    try {
      for await (const event of api.events({ onReady, signal })) tell({ event });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof MillwrightError && [401, 403].includes(error.status)) {
        // The stream was ended: an answer 401 says to all of the page that the session is over.
        await api.auth.context().catch(() => undefined);
        return;
      }
      // 410: what was missed is kept no longer. 429: too many streams of this key.
      tell({ again: true });
      await new Promise((resolve) => setTimeout(resolve, 5000));
    }
  }
}

const stale = new Set<string>();
let timer = 0;
let lastRead = 0;

function heard(event: WorkspaceEvent): void {
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

/** All that is shown, but for conversations: each has events of its own. */
export function everythingAnew(): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [name] }) => name !== 'conversation' && name !== 'text',
  });
}
