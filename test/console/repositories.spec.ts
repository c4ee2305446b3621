import { join } from 'node:path';
import { useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember } from '../harness/client.js';
import {
  begin,
  branch,
  field,
  Hosts,
  KEPT,
  option,
  options,
  press,
  repository,
  TOKEN,
} from '../harness/console-repositories.js';
import { git } from '../harness/repositories.js';
import { content, start, taskIn } from '../harness/task-pages.js';
import { readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, drawn, reachesPath, useBrowser } from '../harness/walks.js';

const CHANGES = '```bash\ncd repo && printf "one\\ntwo\\n" > a.txt\n```\n';

describeInBrowser('repositories of new tasks', () => {
  let hosts: Hosts;
  const service = useService(async () => {
    hosts = await Hosts.start();
    return hosts.boot();
  });
  afterEach(() => {
    hosts.github.before = () => false;
  });
  afterAll(() => hosts.stop());
  const browser = useBrowser();

  it('are connected, chosen, worked on, reviewed and end in a pull request, by mouse', async () => {
    const { owner } = await hosts.newWorkspace(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await page.getByRole('link', { name: 'Connect GitHub to work on your repositories' }).click();
    await reachesPath(page, /^\/console\/settings\?part=repositories$/);
    await page.getByText('Nothing is connected').waitFor();
    await begin(page, hosts.github);
    expect(await field(page, 'Token').getAttribute('type')).toBe('password');
    expect(await field(page, 'Token').getAttribute('autocomplete')).toBe('off');
    await field(page, 'Token').fill(TOKEN);
    await press(page, 'Connect');
    await page.getByText(`${hosts.github.name} answers: connected as acme.`).waitFor();
    const row = page.getByRole('listitem', { name: hosts.github.name });
    await row.getByText('as acme').waitFor();
    await row.getByText('millwright/*').waitFor();

    await page.goto('/console/new');
    await repository(page).click();
    const listed = option(page, 'acme/api');
    await listed.getByText('Private').waitFor();
    await listed.getByText(hosts.github.name).waitFor();
    await listed.click();
    expect(await repository(page).inputValue()).toBe('acme/api');
    await branch(page).click();
    await until('the default branch to be the first', async () =>
      /main\s*default/.test((await options(page).first().innerText()).replace(/\s+/g, ' ')),
    );
    await option(page, 'next').click();
    await page.getByRole('switch', { name: /Open a pull request/ }).click();
    await content(page).fill(CHANGES);
    await page.getByLabel('Title', { exact: true }).fill('Add the second line');
    const named = page.getByLabel('New branch');
    expect(await named.getAttribute('placeholder')).toMatch(/^millwright\/add-the-second-line-[a-z0-9]{4}$/);
    await page.getByLabel('As a draft').check();
    // It is a draft until it is sent.
    await page.reload();
    expect([await repository(page).inputValue(), await branch(page).inputValue()]).toEqual(['acme/api', 'next']);
    expect(await page.getByLabel('As a draft').isChecked()).toBe(true);
    const name = (await named.getAttribute('placeholder')) ?? '';
    await start(page).click();
    const id = await taskIn(page);
    await page.locator('header').getByText('Completed').waitFor({ timeout: 60_000 });
    expect(await readTask(owner.client, id)).toMatchObject({
      repository: { url: hosts.github.url('acme/api'), ref: 'next', push: { branch: name } },
    });
    expect(hosts.github.pullRequests.at(-1)).toMatchObject({
      ...{ path: 'acme/api', branch: name, base: 'next', title: 'Add the second line', draft: true },
    });

    await page.getByRole('tab', { name: 'Changes' }).click();
    const line = page.getByRole('row').filter({ hasText: 'two' });
    await line.hover();
    await page.getByRole('button', { name: 'Comment on line 2', exact: true }).click();
    await page.getByRole('textbox', { name: /^Comment on/ }).fill('And a third one.');
    await page.getByRole('button', { name: 'Add the comment' }).click();
    const review = page.getByRole('region', { name: 'Review' });
    await review.getByLabel(/^Say something/).fill('```bash\ncd repo && echo three >> a.txt\n```\n');
    await review.getByRole('button', { name: 'Send review' }).click();
    const tip = () => git(join(hosts.github.folder.path, 'acme/api.git'), 'show', `${name}:a.txt`);
    await until('the second turn to be pushed', () => tip() === 'one\ntwo\nthree', { within: 150_000 });
    await page.locator('header').getByText('Completed').waitFor();
    const link = page.getByRole('banner').or(page.locator('header')).getByRole('link', { name: /Pull request/i }).first(); // prettier-ignore
    expect(await link.getAttribute('href')).toBe(
      `${hosts.github.origin}/acme/api/pull/${hosts.github.pullRequests.length}`,
    );
    expect(await page.evaluate<string>(KEPT)).not.toContain(TOKEN);
  });

  it('are chosen by keyboard alone', async () => {
    const { owner } = await hosts.connected(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await content(page).fill('```bash\ntrue\n```\n');
    await repository(page).focus();
    await page.keyboard.type('acme/w');
    await until('one to be found', async () => (await options(page).count()) === 1);
    await page.keyboard.press('ArrowDown');
    const active = await repository(page).getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).innerText()).toContain('acme/web');
    await page.keyboard.press('Escape');
    expect(await repository(page).getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('ArrowDown');
    await option(page, 'acme/api').waitFor();
    await repository(page).press('Control+a');
    await page.keyboard.type('acme/web');
    await until('one to be found', async () => (await options(page).count()) === 1);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    expect(await repository(page).inputValue()).toBe('acme/web');
    await branch(page).focus();
    await page.keyboard.type('v1.0');
    await page.getByText('It is taken as a tag or a commit.').waitFor();
    await page.keyboard.press('Enter');
    expect([await branch(page).inputValue(), await branch(page).getAttribute('aria-expanded')]).toEqual([
      'v1.0',
      'false',
    ]);
    await page.getByRole('button', { name: 'Clear: Branch' }).press('Enter');
    await page.getByRole('switch').press('Space');
    await page.getByLabel('New branch').press('Control+Enter');
    expect(await readTask(owner.client, await taskIn(page))).toMatchObject({
      repository: { url: hosts.github.url('acme/web'), ref: null, push: { branch: expect.stringMatching(/^millwright\/true-/) as string } },
    }); // prettier-ignore
  });

  it('are pasted as addresses, and say what is no repository', async () => {
    const { owner } = await hosts.connected(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await content(page).fill('```bash\ntrue\n```\n');
    await repository(page).fill('acme');
    await start(page).click();
    await page.getByRole('alert').filter({ hasText: 'Choose a repository of the list' }).waitFor();
    await repository(page).fill(`https://${hosts.github.name}/acme/web`);
    await page.getByRole('switch', { name: /Open a pull request/ }).waitFor();
    await page.getByRole('heading', { name: 'New task' }).click();
    expect(await repository(page).inputValue()).toBe('acme/web');
  });

  it('that may not be pushed to offer no pull request, and say why', async () => {
    const { workspace, owner } = await hosts.connected(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    const none = page.getByRole('switch');
    await repository(page).fill(hosts.github.url('acme/read-only'));
    await page.getByText(`the connection to ${hosts.github.name} allows no branches`).waitFor();
    expect(await none.count()).toBe(0);
    await page.getByRole('link', { name: 'Look at the connections' }).waitFor();
    await repository(page).fill(hosts.gitlab.url('acme/lab'));
    await page.getByText(`no connection to ${hosts.gitlab.name} leads to this repository`).waitFor();
    expect(await none.count()).toBe(0);
    browser.allow(/status of 404 .*\/v1\/repositories\/branches/);
    await page.getByRole('link', { name: `Connect ${hosts.gitlab.name}` }).click();
    await page.getByRole('listitem', { name: hosts.github.name }).waitFor();
    const member = await makeMember(service, { workspace });
    const { page: other } = await browser.signedIn(service.url, member.key.secret, '/console/new');
    await repository(other).fill(hosts.gitlab.url('acme/lab'));
    await other.getByText('Ask an owner or admin of the workspace for it.').waitFor();
  });

  it('say when a host does not answer, and ask it again', async () => {
    const { owner } = await hosts.connected(service);
    hosts.github.before = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await repository(page).click();
    await page.getByText('A host did not answer').waitFor();
    hosts.github.before = () => false;
    await until('the host to be asked again', async () => {
      const again = page.getByRole('button', { name: 'Refresh', exact: true });
      if (await again.isVisible()) await again.click();
      return (await option(page, 'acme/api').count()) > 0;
    }, { within: 150_000 }); // prettier-ignore
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    const { owner } = await hosts.connected(service);
    const { owner: fresh } = await hosts.newWorkspace(service);
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: '/console/new' },
      {
        list: async (page) => {
          await repository(page).click();
          await option(page, 'acme/api').waitFor();
          await page.keyboard.press('ArrowDown');
        },
        chosen: async (page) => {
          await repository(page).fill(hosts.github.url('acme/api'));
          await page.getByRole('switch').check();
          await branch(page).click();
          await option(page, 'next').waitFor();
          await drawn(page);
        },
      },
    );
    await looksWell(
      browser,
      { url: service.url, secret: fresh.key.secret, path: '/console/new' },
      { empty: (page) => page.getByText('Connect GitHub to work').waitFor() },
    );
  });
});
