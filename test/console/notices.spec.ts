import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { MailServer } from '../harness/mail-server.js';
import { readNotices } from '../harness/notices.js';
import { PushService, receives, type TestBrowser } from '../harness/push-service.js';
import { ModelServer } from '../harness/model-server.js';
import { createTask, finished, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';
import { HERE, Receiver } from '../harness/webhooks.js';

const NOTICES = '/console/settings?part=notices';
const SCOPE = '/console/';

interface Shown {
  title: string;
  body: string;
  tag: string;
}

describeInBrowser('notices in the console', () => {
  let [mail, push, hook, model]: [MailServer, PushService, Receiver, ModelServer] = [] as never;
  const service = useService(async () => {
    [mail, push, hook, model] = await Promise.all([
      MailServer.listen(),
      PushService.listen(),
      Receiver.listen(),
      ModelServer.start(),
    ]);
    const smtp = { SMTP_URL: mail.url(), SMTP_FROM: 'mill@example.test' };
    return bootWorker({ env: { ...HERE, ...smtp, OPENAI_COMPATIBLE_URL: model.url } });
  });
  const browser = useBrowser();
  afterAll(() => Promise.all([mail.close(), push.close(), hook.close(), model.stop()]));

  const cell = (page: Page, kind: string, by: string) =>
    page.getByRole('checkbox', { name: `Tell me ${by} that a task ${kind}` });
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Your notices are changed.').waitFor();
  };
  /** A window that may show notices, and whose browser is given this subscription: the one thing here that is not real is a push service of a maker of browsers. */
  const subscribing = async ({ client, key }: Member, path = NOTICES) => {
    const other = push.browser((await readNotices(client)).push.publicKey);
    const { context, page } = await browser.open(service.url);
    await context.grantPermissions(['notifications'], { origin: service.url });
    await context.addInitScript(`{
      const given = ${JSON.stringify(other.subscription)};
      const state = { made: null };
      const made = { endpoint: given.endpoint, toJSON: () => given, unsubscribe: async () => { sessionStorage.removeItem('made'); return true; } };
      PushManager.prototype.subscribe = async (options) => {
        if (options.applicationServerKey !== ${JSON.stringify((await readNotices(client)).push.publicKey)}) throw new Error('another key');
        sessionStorage.setItem('made', '1');
        return made;
      };
      PushManager.prototype.getSubscription = async () => (sessionStorage.getItem('made') === null ? null : made);
    }`);
    await browser.signIn(page, key.secret, path);
    return { context, page, other };
  };
  /** What was pushed to the browser, given to its service worker as a push service would. */
  const deliver = async (context: BrowserContext, page: Page, { received }: TestBrowser) => {
    const wire = await context.newCDPSession(page);
    await wire.send('ServiceWorker.enable');
    const registrationId = await registered(wire);
    const data = JSON.stringify(received.at(-1)?.notice);
    await wire.send('ServiceWorker.deliverPushMessage', { origin: service.url, registrationId, data });
  };
  const shown = (page: Page, tag: string): Promise<Shown> =>
    until('a notice to be shown', async () => {
      const all = await page.evaluate<Shown[]>(
        `navigator.serviceWorker.getRegistration('${SCOPE}').then((one) => one.getNotifications()).then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`,
      );
      return all.find((one) => one.tag === tag);
    });

  it('are chosen by kind and channel, and kept', async () => {
    const { client, key } = await makeMember(service);
    const { page } = await browser.signedIn(service.url, key.secret, NOTICES);
    await cell(page, 'needs you', 'by e-mail').check();
    await cell(page, 'has failed', 'by the hook').check();
    await page.getByLabel('Address of the hook').fill(hook.url('/hook'));
    await page.getByLabel('Send the question of the task too').check();
    await page.getByLabel('Quiet hours').check();
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
    await page.getByLabel('From', { exact: true }).fill('21:30');
    await save(page);
    expect(await readNotices(client)).toMatchObject({
      ...{ needsYou: ['email'], finished: [], failed: ['hook'], hookUrl: hook.url('/hook'), detail: true },
      quiet: { from: '21:30', to: '07:00', timezone: 'Europe/Berlin' },
    });
    await page.reload();
    await until('what was saved', () => cell(page, 'has failed', 'by the hook').isChecked());
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('21:30');

    const sent = page.getByText('The test is on its way.');
    await page.getByRole('button', { name: 'To the hook' }).click();
    await sent.waitFor();
    await until('the test at the hook', () => hook.received.some(({ body }) => body.includes('"kind":"test"')));
    expect(await page.getByRole('button', { name: 'To my browsers' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'By e-mail' }).click();
    await mail.gets(1);

    await page.getByLabel('Quiet hours').uncheck();
    await page.getByLabel('Address of the hook').fill('');
    await cell(page, 'has failed', 'by the hook').uncheck();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('them to be off', async () => (await readNotices(client)).quiet === null);
    expect(await readNotices(client)).toMatchObject({ failed: [], hookUrl: null });
  });

  it('what the service refuses stands below its field, and nothing is lost', async () => {
    const { client, key } = await makeMember(service);
    const { page } = await browser.signedIn(service.url, key.secret, NOTICES);
    browser.allow(/status of 400/);
    await page.getByLabel('Address of the hook').fill('https://ann:secret@hooks.example/x');
    await cell(page, 'is done', 'by the hook').check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const field = page.getByLabel('Address of the hook');
    await until('the field to be at fault', async () => (await field.getAttribute('aria-invalid')) === 'true');
    expect(await field.and(page.locator(':focus')).count()).toBe(1);
    await field.fill(hook.url('/hook'));
    await page.getByLabel('Quiet hours').check();
    await page.getByLabel('Time zone').fill('Nowhere/Land');
    await page.getByLabel('Time zone').press('Enter');
    await page.getByText('Time zone must be an IANA time zone such as Europe/Berlin').waitFor();
    expect(await readNotices(client)).toMatchObject({ finished: [], hookUrl: null, quiet: null });
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page.getByLabel('Time zone').press('Enter');
    await page.getByText('Your notices are changed.').waitFor();
    expect((await readNotices(client)).quiet?.timezone).toBe('Asia/Tokyo');
  });

  it('are set by keyboard, on a phone, by a viewer', async () => {
    const { workspace } = await makeMember(service, { role: 'owner' });
    const viewer = await makeMember(service, { workspace, role: 'viewer' });
    const { page } = await browser.signedIn(service.url, viewer.key.secret, NOTICES, { width: 390, height: 844 });
    await cell(page, 'is done', 'by e-mail').focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await page.getByText('Your notices are changed.').waitFor();
    expect((await readNotices(viewer.client)).finished).toEqual(['email']);
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  });

  it('look well with all of it open', async () => {
    const { key } = await makeMember(service);
    await looksWell(
      browser,
      { url: service.url, secret: key.secret, path: NOTICES },
      {
        'quiet hours': (page) => page.getByLabel('Quiet hours').check(),
      },
    );
  });

  it('a browser takes them: the service worker shows a push, and a click leads to the task', async () => {
    const member = await makeMember(service);
    const { context, page, other } = await subscribing(member);
    await page.getByText('This browser takes none. 0 browsers of yours in all.').waitFor();
    await cell(page, 'is done', 'in the browser').check();
    await page.getByText('No browser of yours takes notices yet').waitFor();
    await page.getByRole('button', { name: 'Take notices here' }).click();
    await page.getByText('This browser takes notices. 1 browser of yours in all.').waitFor();
    await save(page);

    const { id } = await createTask(member.client, {
      content: script({ text: 'canary of an answer' }),
      title: 'Mend it',
    });
    await finished(member.client, id);
    await receives(other);
    await deliver(context, page, other);
    const notice = await shown(page, `${id} finished`);
    expect(notice).toEqual({ title: 'Finished: Mend it', body: '', tag: `${id} finished` });

    const [worker] = context.serviceWorkers();
    await worker?.evaluate(
      `registration.getNotifications().then(([notification]) => dispatchEvent(new NotificationEvent('notificationclick', { notification })))`,
    );
    await reachesPath(page, new RegExp(`^/console/tasks/${id}`));
    await page.getByRole('heading', { name: 'Mend it' }).waitFor();
  });

  it('a browser that the service knows no more takes none when it is told so', async () => {
    const member = await makeMember(service);
    const { page, other } = await subscribing(member);
    await page.getByRole('button', { name: 'Take notices here' }).click();
    await page.getByText('This browser takes notices.').waitFor();
    const query = `endpoint=${encodeURIComponent(other.subscription.endpoint)}`;
    expect((await member.client.delete(`/v1/notices/push?${query}`)).status).toBe(200);
    browser.allow(/status of 404/);
    await page.getByRole('button', { name: 'Take none here' }).click();
    await page.getByText('This browser takes none. 0 browsers of yours in all.').waitFor();
  });

  it('a page tells nothing of its own while its browser takes them, and who signs out is told no more there', async () => {
    const member = await makeMember(service);
    const { page } = await subscribing(member);
    await page.getByRole('button', { name: 'Take notices here' }).click();
    await page.getByText('This browser takes notices.').waitFor();
    // The page turns the switch on when the browser has granted it. `check()` fails before that: it looks right after the click.
    await page.getByRole('switch', { name: 'Tell me when one of my tasks' }).click();
    await page.getByRole('switch', { name: 'Tell me when one of my tasks', checked: true }).waitFor();
    await page.evaluate(
      `globalThis.told = []; globalThis.Notification = class { static permission = 'granted'; constructor(title) { told.push(title); } }; null`,
    );
    await page.getByRole('link', { name: 'Tasks' }).first().click();
    const { id } = await createTask(member.client, { content: script({ text: 'Done.' }), title: 'Unsaid' });
    await finished(member.client, id);
    await page
      .getByRole('link', { name: /Unsaid/ })
      .first()
      .waitFor();
    expect(await page.evaluate('told')).toEqual([]);

    await page.goto('/console/settings');
    await page.getByRole('button', { name: 'End this session' }).click();
    await page.getByLabel('Key', { exact: true }).waitFor();
    expect((await readNotices(member.client)).push.subscriptions).toBe(0);
    expect(await page.evaluate(`localStorage.getItem('millwright.push')`)).toBe('');
  });
});

async function registered(wire: CDPSession): Promise<string> {
  let id: string | undefined;
  wire.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    id = registrations.find(({ isDeleted }) => !isDeleted)?.registrationId ?? id;
  });
  await wire.send('ServiceWorker.disable');
  await wire.send('ServiceWorker.enable');
  return until('the registration of the worker', () => id);
}
