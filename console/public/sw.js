// The service worker of the console: it shows the notices that the service pushes (docs/reference.md §21), and leads to their task. It
// keeps no file and answers no request, so a page never depends on it.
const HOME = '/console/';

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('push', (event) => event.waitUntil(show(event.data)));
addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(lead(event.notification.data.path));
});
addEventListener('pushsubscriptionchange', (event) => event.waitUntil(subscribeAnew(event)));

async function show(data) {
  const { kind, taskId, link, text } = data.json();
  // Of this origin, whatever the link names.
  const path = new URL(link, location.origin).pathname;
  const windows = await clients.matchAll({ type: 'window' });
  if (windows.some((one) => one.focused && new URL(one.url).pathname === path && taskId !== null)) return;
  // The first line is for a list; the last one is the link.
  const [headline, ...rest] = text.split('\n\n');
  await registration.showNotification(headline, {
    body: rest.slice(0, -1).join('\n\n'),
    tag: `${taskId} ${kind}`,
    icon: `${HOME}favicon.svg`,
    data: { path },
  });
}

async function lead(path) {
  const windows = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const ours = windows.filter(({ url }) => new URL(url).pathname.startsWith(HOME));
  const there = ours.find(({ url }) => new URL(url).pathname === path) ?? ours[0];
  if (there === undefined) return clients.openWindow(path);
  // The page goes there itself, and keeps what is written on it.
  there.postMessage({ path });
  return there.focus();
}

/** The push service has ended the subscription. Without a session the page does this at the next sign-in. */
async function subscribeAnew({ oldSubscription, newSubscription }) {
  const options = { userVisibleOnly: true, applicationServerKey: oldSubscription?.options.applicationServerKey };
  const made = newSubscription ?? (await registration.pushManager.subscribe(options));
  const headers = { 'content-type': 'application/json' };
  await fetch('/v1/notices/push', { method: 'POST', headers, body: JSON.stringify(made) });
}
