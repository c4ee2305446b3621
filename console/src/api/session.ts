// Who is signed in. The key is exchanged for a cookie that no script can read (reference §20); the page knows only whether there is one.
import { flushSync } from 'react-dom';
import type { AuthContext } from './client.ts';
import { connection } from './connection.ts';
import { api, failureOf, MillwrightError, observed, onUnauthorized } from './client.ts';
import { Store } from './store.ts';

type SessionState =
  | { is: 'unknown' }
  /** `ended`: there was one a moment ago. */
  | { is: 'out'; ended: boolean }
  | { is: 'in'; context: AuthContext }
  /** It could not be found out. */
  | { is: 'failed'; error: unknown };

export const session = new Store<SessionState>({ is: 'unknown' });

/** Other tabs have the same cookie: what one does, all see. */
const tabs = new BroadcastChannel('millwright.session');
tabs.onmessage = ({ data }) => (data === 'out' ? leave() : void find());

onUnauthorized(() => {
  // One tab has noticed; the others have the same cookie.
  if (session.value.is === 'in') tabs.postMessage('out');
  leave();
});
connection.onReturn(() => session.value.is === 'failed' && void find());

/** Is there a session already: from another tab, or from before a reload? */
export async function find(): Promise<void> {
  try {
    enter(await api.auth.context());
  } catch (error) {
    const out = error instanceof MillwrightError && error.status === 401;
    // Who is signed in stays so while the service cannot be asked: the page keeps what is written on it.
    if (!out && session.value.is === 'in') return;
    session.set(out ? { is: 'out', ended: false } : { is: 'failed', error });
  }
}

/** With a key, or with the code of a link that is good for once. Throws what the service says. */
export async function signIn(credential: { key: string } | { code: string }): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await observed('/console/session', { method: 'POST', headers, body: JSON.stringify(credential) });
  if (!response.ok) throw await failureOf(response);
  enter(await api.auth.context());
  tabs.postMessage('in');
}

/** What is done with the session before it ends by the person's wish. */
let leaving: () => Promise<void> = () => Promise.resolve();
export function onSignOut(listener: () => Promise<void>): void {
  leaving = listener;
}

/** Throws when the service does not answer: then the session is still there. */
export async function signOut(): Promise<void> {
  await leaving();
  const response = await observed('/console/session', { method: 'DELETE' });
  if (!response.ok && response.status !== 401) throw await failureOf(response);
  tabs.postMessage('out');
  session.set({ is: 'out', ended: false });
  // Of somebody whom a provider has signed in, who is signed out there as well.
  if (response.status !== 200) return;
  const { logoutUrl } = (await response.json()) as { logoutUrl: string };
  location.assign(logoutUrl);
}

/** Somebody else in between is nobody: what the page keeps ends with the one whom it was read for. */
function enter(context: AuthContext): void {
  const now = session.value;
  const other = now.is === 'in' && now.context.credential.id !== context.credential.id;
  if (other) flushSync(() => session.set({ is: 'unknown' }));
  session.set({ is: 'in', context });
}

function leave(): void {
  const { is } = session.value;
  session.set({ is: 'out', ended: is === 'in' });
}

/** The name of the provider by which people sign in here; null where there is none. */
export const provider = document.querySelector<HTMLMetaElement>('meta[name="millwright-sign-in"]')?.content ?? null;

/** Where the provider is, and from there back to this very page. */
export function providerLink(): string {
  const { pathname, search } = location;
  return `/console/sign-in?return=${encodeURIComponent(pathname + search)}`;
}

/** Why the provider has signed nobody in, as the service says it behind the #. It leaves the address at once. */
export function takeRefusal(): string | null {
  const reason = new URLSearchParams(location.hash.slice(1)).get('sign-in');
  if (reason !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return reason;
}

/** The code of a link such as `/console/#code=…`. It leaves the address at once: it is no part of the history. */
export function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return code;
}
