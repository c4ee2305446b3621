// Whether this browser takes notices while no page of the console is open (Web Push). The service worker shows them: public/sw.js.
// Only types are imported: what the shell loads later shares no module with it, which would split its program in two (1.2 KiB more).
import type { api } from '../api/client.ts';

type Notices = typeof api.notices;

const SCOPE = '/console/';

export type Push = 'on' | 'off' | 'denied' | 'unsupported';

export async function pushState(): Promise<Push> {
  // Without https, but on this machine itself, a browser has neither.
  if (!('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  return (await subscribed()) === null ? 'off' : 'on';
}

/** Asks the browser for permission where it has none; rejects when it gives none. `publicKey`: of the service. */
export async function takePush(notices: Notices, publicKey: string): Promise<void> {
  const registration = await navigator.serviceWorker.register(workerUrl(), { scope: SCOPE });
  await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: publicKey };
  const subscription = await registration.pushManager.subscribe(options).catch(async (error: unknown) => {
    // Of another key: the service was set up anew.
    const before = await registration.pushManager.getSubscription();
    if (before === null) throw error;
    await before.unsubscribe();
    return registration.pushManager.subscribe(options);
  });
  await notices.subscribe(bodyOf(subscription));
}

/** Ends it at the service and in the browser: there also when the service does not answer, which finds it gone by its next notice. */
export async function endPush(notices: Notices): Promise<void> {
  const subscription = await subscribed();
  if (subscription === null) return;
  try {
    await notices.unsubscribe(subscription.endpoint);
  } catch (error) {
    // It has it no more.
    if ((error as { status?: number }).status !== 404) throw error;
  } finally {
    await subscription.unsubscribe();
  }
}

/** Says to the service that the browser is still there, also in this workspace, and under the address that it has now. Resolves with whether it is. */
export async function renewPush(notices: Notices): Promise<boolean> {
  const subscription = await subscribed();
  if (subscription !== null) await notices.subscribe(bodyOf(subscription));
  return subscription !== null;
}

async function subscribed(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

function bodyOf(subscription: PushSubscription) {
  return subscription.toJSON() as { endpoint: string; keys: { p256dh: string; auth: string } };
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL: (url: string) => string };
}
let worker: string | null = null;

/** The one address that the policy of the page lets a script be run from so (Trusted Types). */
function workerUrl(): string {
  const url = `${SCOPE}sw.js`;
  const { trustedTypes } = window as { trustedTypes?: Policies };
  worker ??= trustedTypes?.createPolicy('worker', { createScriptURL: () => url }).createScriptURL(url) ?? url;
  return worker;
}
