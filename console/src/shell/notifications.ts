// The browser notifies people when one of their own tasks needs them or ends. They turn this on in the settings. Of several tabs the one
// that had the focus last notifies.
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { api, type Task } from '../api/client.ts';
import { onWorkspaceEvent } from '../api/live.ts';
import { onSignOut } from '../api/session.ts';
import { Store, useStore } from '../api/store.ts';
import { t } from '../texts/index.ts';
import { useCan, useContext } from './can.ts';
import { PUSH, remember, remembered } from './url.ts';

const NAME = 'notifications';
const LOCK = 'millwright.notifications';
const NOTIFIED = {
  'task.awaiting_input': 'awaiting_input',
  'task.completed': 'completed',
  'task.failed': 'failed',
} as const;

// Somebody else may sit here next. What fails is left: the service forgets a browser that is gone.
onSignOut(async () => {
  if (remembered(PUSH, '') === '') return;
  remember(PUSH, '');
  await import('./push.ts').then(({ endPush }) => endPush(api.notices)).catch(() => undefined);
});

const wanted = new Store(remembered(NAME, '') === 'on');
addEventListener('storage', ({ key, newValue }) => {
  if (key === `millwright.${NAME}`) wanted.set(newValue === 'on');
});

export type Notifications = 'on' | 'off' | 'denied' | 'unsupported';

export function useNotifications(): Notifications {
  const on = useStore(wanted);
  if (!('Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  return on && Notification.permission === 'granted' ? 'on' : 'off';
}

/** Asks the browser for permission where it has none. */
export async function setNotifications(on: boolean): Promise<void> {
  const granted = on && (await Notification.requestPermission()) === 'granted';
  remember(NAME, granted ? 'on' : 'off');
  wanted.set(granted);
}

/** For as long as somebody is signed in. */
export function useNotifying(): void {
  const can = useCan();
  const { user } = useContext();
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!('Notification' in window) || !can('tasks:read')) return;
    const stop = new AbortController();
    const isNotifier = oneOfTabs(stop.signal);
    const end = onWorkspaceEvent(({ type, taskId }) => {
      // Where the browser takes notices, its service worker tells.
      if (taskId === null || !(type in NOTIFIED) || !wanted.value || !isNotifier() || remembered(PUSH, '')) return;
      const status = NOTIFIED[type as keyof typeof NOTIFIED];
      api.tasks.get(taskId).then(
        // What came after an outage may be over already.
        (task) => task.status === status && task.createdBy.id === user.id && notify(task, status, navigate),
        () => undefined,
      );
    });
    if (remembered(PUSH, '') === user.id) {
      void import('./push.ts')
        .then(({ renewPush }) => renewPush(api.notices))
        .then((there) => !there && remember(PUSH, ''))
        .catch(() => undefined);
    }
    // Somebody has clicked on a notice.
    navigator.serviceWorker?.addEventListener(
      'message',
      ({ data }: MessageEvent<{ path: string }>) => navigate(`~${data.path}`),
      stop,
    );
    return () => (end(), stop.abort());
  }, []);
}

function notify(task: Task, status: keyof typeof t.common.status, navigate: (path: string) => void): void {
  const path = `/tasks/${task.id}`;
  if (Notification.permission !== 'granted' || (document.hasFocus() && location.pathname.endsWith(path))) return;
  const said =
    task.pendingInteraction?.question ?? (status === 'failed' ? task.statusReason?.message : task.result?.text);
  const body = `${t.common.status[status]}${said ? `: ${said.slice(0, 200)}` : ''}`;
  try {
    const notification = new Notification(task.title, {
      body,
      tag: `${task.id} ${status}`,
      icon: '/console/favicon.svg',
    });
    notification.onclick = () => {
      window.focus();
      navigate(path);
      notification.close();
    };
  } catch {
    // Browsers of phones show none that a page makes.
  }
}

/** Whether this tab has the lock, which goes to the one that gets the focus. Without locks every tab notifies, and the tag makes the browser show one. */
function oneOfTabs(signal: AbortSignal): () => boolean {
  if (!('locks' in navigator)) return () => true;
  let hasLock = false;
  const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const request = (steal: boolean): void => {
    if (signal.aborted || hasLock) return;
    const options = steal ? { steal } : { signal };
    navigator.locks
      .request(LOCK, options, () => {
        hasLock = true;
        return ended;
      })
      .catch(() => {
        // Another tab has taken it: this one is next in line again.
        hasLock = false;
        request(false);
      });
  };
  const steal = () => request(true);
  addEventListener('focus', steal, { signal });
  request(document.hasFocus());
  return () => hasLock;
}
