import { ConsoleSessions } from '../../src/access/auth/console-sessions.js';
import { bootWorker, useService } from '../harness/app.js';
import { type Client, makeMember, type Member } from '../harness/client.js';
import { makeKey, removeKey } from '../harness/keys.js';
import { createProject } from '../harness/projects.js';
import { relayTo } from '../harness/proxy.js';
import { content, rows, shows, start, taskIn } from '../harness/task-pages.js';
import { createTask, reaches, readTask, RUNBOOK } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, drawn, isInViewport, reachesPath, useBrowser } from '../harness/walks.js';

const HELLO = '```bash\necho hello\n```\n';

describeInBrowser('what stands around every page', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();
  let member: Member;
  let client: Client;

  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    client = member.client;
  });

  it('is reached by a link that is good for once', async () => {
    // The page asks who it is, and sends a code that was used.
    browser.allow(/status of 401/);
    const { code } = await service.app.get(ConsoleSessions, { strict: false }).addCode(member.key.id);
    const { page } = await browser.open(service.url);
    await page.goto(`/console/tasks?status=failed#code=${code}`);
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
    // It has left the address; where it led to has not.
    expect(page.url()).toBe(`${service.url}/console/tasks?status=failed`);
    const { page: late } = await browser.open(service.url);
    await late.goto(`/console/#code=${code}`);
    await late.getByRole('alert').waitFor();
    await late.getByRole('heading', { name: 'Sign in to Millwright' }).waitFor();
  });

  it('takes such a link in the address of its own page too', async () => {
    browser.allow(/status of 401/);
    const { code } = await service.app.get(ConsoleSessions, { strict: false }).addCode(member.key.id);
    const { page } = await browser.open(service.url);
    await page.goto('/console/');
    await page.getByRole('heading', { name: 'Sign in to Millwright' }).waitFor();
    await page.goto(`/console/#code=${code}`);
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
    expect(page.url()).not.toContain(code);
  });

  it('says that the service is away when a proxy says so, and goes on by itself, whatever the key may see', async () => {
    browser.allow(/status of 502/);
    const { key } = await makeMember(service, { role: 'owner', scopes: ['billing:read'] });
    const { page } = await browser.signedIn(service.url, key.secret, '/console/usage');
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    let away = true;
    await page.route(/\/(v1|health)\//, (route) => (away ? route.fulfill({ status: 502 }) : route.continue()));
    await page
      .getByRole('radio', { name: '90 days' })
      .or(page.getByRole('button', { name: '90 days' }))
      .first()
      .click();
    await page.getByText('The service does not answer').waitFor();
    const read = page.waitForResponse(
      (response) => response.url().includes('/v1/billing') && response.status() === 200,
    );
    away = false;
    await read;
    await page.getByText('The service does not answer').waitFor({ state: 'detached' });
  });

  it('leads everywhere by name, also from where one writes, and fits a phone', async () => {
    await createTask(client, { content: HELLO, title: 'Whet the millstone' });
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/new');
    await content(page).fill('A thought');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('millst');
    await page.getByRole('option', { name: 'Whet the millstone' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await content(page).inputValue()).toBe('A thought');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('millst');
    await page.getByRole('option', { name: 'Whet the millstone', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await taskIn(page);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('need');
    await page.getByRole('option', { name: 'Tasks that need you' }).click();
    await reachesPath(page, /status=awaiting_input/);

    const small = { width: 390, height: 844 };
    const { page: phone } = await browser.signedIn(service.url, member.key.secret, '/console/tasks', small);
    await rows(phone).first().waitFor();
    await phone.getByRole('button', { name: 'Menu' }).click();
    const projects = phone.getByRole('link', { name: 'Projects' });
    await until('the menu', () => isInViewport(phone, projects));
    await phone.keyboard.press('Escape');
    await projects.waitFor({ state: 'hidden' });
    for (const path of ['/console/tasks', '/console/new']) {
      await phone.goto(path);
      await drawn(phone);
      expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    }
  });

  it('keeps its layout when the screen is turned with the menu open, and hints at no keys where there are none', async () => {
    const { page } = await browser.open(service.url, { width: 820, height: 1180 }, { hasTouch: true, isMobile: true });
    await browser.signIn(page, member.key.secret, '/console/tasks');
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Menu' }).click();
    const projects = page.getByRole('link', { name: 'Projects' });
    await until('the menu', () => isInViewport(page, projects));
    const hints = '[...document.querySelectorAll("kbd")].filter((key) => key.checkVisibility()).length';
    expect(await page.evaluate(hints)).toBe(0);
    expect(await page.getByRole('button', { name: 'Keyboard shortcuts' }).isVisible()).toBe(false);
    await page.setViewportSize({ width: 1180, height: 820 });
    const main = async () => (await page.locator('#main').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await until('the page beside the menu', async () => (await main()).x > 0);
    const { x, y, width, height } = await main();
    expect([y, x + width, height]).toEqual([0, 1180, 820]);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Settings' }).waitFor();
    expect(await page.getByText('move', { exact: true }).isVisible()).toBe(false);
  });

  it('asks for nothing that the key may not read, and offers nothing that it may not do', async () => {
    const { id: projectId } = await createProject(member, { name: 'Mill', visibility: 'workspace' });
    await createTask(client, { content: HELLO, projectId });
    const viewer = await makeMember(service, { workspace: member.workspace, role: 'viewer' });
    const narrow = await makeKey(client, { scopes: ['tasks:read'] });
    const other = await makeKey(client, { scopes: ['billing:read'] });
    for (const secret of [viewer.key.secret, narrow.secret, other.secret]) {
      const { page } = await browser.open(service.url);
      const refused: string[] = [];
      page.on('response', (response) => response.status() === 403 && refused.push(response.url()));
      await browser.signIn(page, secret);
      const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
      for (const link of await links.all()) {
        await link.click();
        await reachesPath(page, new RegExp(`^${await link.getAttribute('href')}$`));
        await drawn(page);
      }
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'Settings' }).waitFor();
      await page.keyboard.press('Escape');
      await page.goto('/console/tasks');
      await (secret === other.secret ? page.getByText('It needs the scope tasks:read') : rows(page).first()).waitFor();
      expect(await page.getByRole('button', { name: /New task/ }).count()).toBe(0);
      expect(await page.getByRole('checkbox', { name: /Select/ }).count()).toBe(0);
      await page.goto('/console/new');
      await page.getByText('tasks:write').waitFor();
      expect(refused).toEqual([]);
    }
  });

  it('leads back to where one was, draft and all, when the session ended or the service was away', async () => {
    // The session ends, and the service is away.
    browser.allow(/status of 401/, /ERR_/);
    const relay = await relayTo(service.url);
    try {
      const key = await makeKey(client, { scopes: ['tasks:read', 'tasks:write', 'files:read', 'files:write'] });
      const { page } = await browser.signedIn(relay.url, key.secret, '/console/new?project=');
      await content(page).fill('Half a thought');
      await removeKey(client, key.key.id);
      await page.getByText('Your session has ended').waitFor();
      await page.getByLabel('Key', { exact: true }).fill(member.key.secret);
      await page.keyboard.press('Enter');
      await content(page).waitFor();
      expect(await content(page).inputValue()).toBe('Half a thought');

      await relay.cut();
      const banner = page.getByText('The service does not answer');
      await start(page).click();
      await banner.waitFor();
      await page.getByRole('alert').getByText('cannot be reached').waitFor();
      await content(page).fill('A whole thought');
      await relay.mend();
      await banner.waitFor({ state: 'detached' });
      expect(await content(page).inputValue()).toBe('A whole thought');
      await start(page).click();
      expect(await readTask(client, await taskIn(page))).toMatchObject({ title: 'A whole thought' });
    } finally {
      await relay.close();
    }
  });

  it('is told by the browser when a task of theirs needs them, once, who asked for it', async () => {
    const own = await makeMember(service);
    const { context, page } = await browser.open(service.url);
    // Chromium without a screen shows none: what would be shown is written down.
    await context.addInitScript(
      `if (location.protocol === 'http:') localStorage.setItem('millwright.notifications', 'on');
       window.told = [];
       window.Notification = class { static permission = 'granted'; constructor(title, { body }) { window.told.push(title + ': ' + body); } };`,
    );
    await browser.signIn(page, own.key.secret, '/console/tasks');
    const other = await context.newPage();
    await other.goto('/console/settings');
    await other.getByRole('navigation', { name: 'Console' }).waitFor();
    const task = await createTask(own.client, { content: RUNBOOK, title: 'Sort the sacks' });
    await reaches(own.client, task.id, 'awaiting_input');
    const told = async () =>
      (await Promise.all([page, other].map((tab) => tab.evaluate<string[]>('window.told')))).flat();
    await until('the notification', async () => (await told()).length > 0);
    // The list has read what the event told of, and so has the other tab.
    await shows(page, 'Sort the sacks');
    expect(await told()).toEqual(['Sort the sacks: Needs you: Which order?']);
  });
});
