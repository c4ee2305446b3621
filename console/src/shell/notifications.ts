// The browser tells when one of the reader's own tasks needs them or ends. They ask for it in the settings; of several tabs the one
// that had the focus last tells.
import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { api, type Task } from '../api/client.ts';
import { onWorkspaceEvent } from '../api/live.ts';
import { Store, useStore } from '../api/store.ts';
import { t } from '../texts/index.ts';
import { useCan, useContext } from './can.ts';
import { remember, remembered } from './url.ts';

const NAME = 'notifications';
const LOCK = 'millwright.notifications';
const TOLD = {
  'task.awaiting_input': 'awaiting_input',
  'task.completed': 'completed',
  'task.failed': 'failed',
} as const;

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
export function useTelling(): void {
  const can = useCan();
  const { user } = useContext();
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!('Notification' in window) || !can('tasks:read')) return;
    const stop = new AbortController();
    const isTeller = oneOfTabs(stop.signal);
    const end = onWorkspaceEvent(({ type, taskId }) => {
      if (taskId === null || !(type in TOLD) || !wanted.value || !isTeller()) return;
      const status = TOLD[type as keyof typeof TOLD];
      api.tasks.get(taskId).then(
        // What came after an outage may be over already.
        (task) => task.status === status && task.createdBy.id === user.id && tell(task, status, navigate),
        () => undefined,
      );
    });
    return () => (end(), stop.abort());
  }, []);
}

function tell(task: Task, status: keyof typeof t.common.status, navigate: (path: string) => void): void {
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

/** Whether this tab has the lock, which goes to the one that gets the focus. Where there are no locks every tab tells: the tag makes it one. */
function oneOfTabs(signal: AbortSignal): () => boolean {
  if (!('locks' in navigator)) return () => true;
  let held = false;
  const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const hold = (steal: boolean): void => {
    if (signal.aborted || held) return;
    const options = steal ? { steal } : { signal };
    navigator.locks
      .request(LOCK, options, () => {
        held = true;
        return ended;
      })
      .catch(() => {
        // Another tab has taken it: this one is next in line again.
        held = false;
        hold(false);
      });
  };
  const take = () => hold(true);
  addEventListener('focus', take, { signal });
  hold(document.hasFocus());
  return () => held;
}
