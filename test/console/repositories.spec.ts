import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember } from '../harness/client.js';
import { CERTIFICATE } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { git } from '../harness/repositories.js';
import { content, start, taskIn } from '../harness/task-pages.js';
import { readTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, drawn, reachesPath, useBrowser } from '../harness/walks.js';

const TOKEN = 'canary-token-of-the-console-4713';
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const CHANGES = '```bash\ncd repo && printf "one\\ntwo\\n" > a.txt\n```\n';
const SETTINGS = '/console/settings?part=repositories';

/** All that the page keeps, as a text. */
const KEPT = `(async () => {
  const kept = [JSON.stringify(localStorage), JSON.stringify(sessionStorage), JSON.stringify(history.state), document.documentElement.outerHTML];
  for (const { name } of await indexedDB.databases()) {
    const db = await new Promise((done) => { const asked = indexedDB.open(name); asked.onsuccess = () => done(asked.result); });
    for (const store of db.objectStoreNames) {
      const asked = db.transaction(store).objectStore(store).getAll();
      kept.push(JSON.stringify(await new Promise((done) => { asked.onsuccess = () => done(asked.result); })));
    }
    db.close();
  }
  for (const name of await caches.keys()) kept.push(name);
  return kept.join(' ');
})()`;

describeInBrowser('repositories in the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-repositories-'));
  let github: FakeGitHub;
  let gitlab: FakeGitLab;
  let workspaces = 0;
  const service = useService(async () => {
    github = await FakeGitHub.start(TOKEN);
    gitlab = await FakeGitLab.start('canary-token-of-gitlab-4714');
    const known = ({ name, kind, apiUrl }: FakeGitHub | FakeGitLab) => ({
      [name]: { kind, api: apiUrl, caFile: CERTIFICATE },
    });
    const repositories = { ...known(github), ...known(gitlab) };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32'] }));
    return bootWorker({ env: { CONFIG_FILE: join(folder, 'config.json') } });
  });
  beforeAll(() => {
    const api = github.make('acme/api', { 'a.txt': 'one\n' });
    git(api, 'branch', 'next', 'main');
    github.make('acme/web', { 'a.txt': 'one\n' });
    github.add('acme/read-only', { members: { acme: 'read' }, private: false });
    gitlab.make('acme/lab', { 'a.txt': 'one\n' });
    const installation = { id: 55, account: 'acme', repositories: ['acme/api'] };
    const more = { contents: 'write' as const, suspended: false };
    github.apps.push({ id: 9, slug: 'helper', publicKey, installations: [{ ...installation, ...more }] });
  });
  afterEach(() => {
    github.before = () => false;
  });
  afterAll(async () => {
    await github.stop();
    await gitlab.stop();
    rmSync(folder, { recursive: true });
  });
  const browser = useBrowser();

  const newWorkspace = async () => {
    const n = ++workspaces;
    const about = { name: `Picked ${n}`, slug: `picked-${n}`, plan: 'paid' as const };
    const workspace = await service.app.get(WorkspacesService).create(about);
    return { workspace, owner: await makeMember(service, { workspace, role: 'owner' }) };
  };
  const connected = async (more: object = {}) => {
    const made = await newWorkspace();
    const body = { host: github.name, token: TOKEN, ...more };
    expect((await made.owner.client.post('/v1/repository-connections', body)).status).toBe(201);
    return made;
  };
  const repository = (page: Page) => page.getByRole('combobox', { name: 'Repository' });
  const branch = (page: Page) => page.getByRole('combobox', { name: 'Branch', exact: true });
  const option = (page: Page, text: string) => page.getByRole('option').filter({ hasText: text });
  const field = (page: Page, name: string) => page.getByRole('dialog').getByLabel(name, { exact: true });
  const press = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  const another = async (page: Page) => {
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await press(page, 'Another');
    await field(page, 'Name of the host').fill(github.name);
    await field(page, 'Address of its API').fill(github.apiUrl);
  };

  it('are connected, chosen, worked on, reviewed and end in a pull request, by mouse', async () => {
    const { owner } = await newWorkspace();
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await page.getByRole('link', { name: 'Connect GitHub to work on your repositories' }).click();
    await reachesPath(page, /^\/console\/settings\?part=repositories$/);
    await page.getByText('Nothing is connected').waitFor();
    await another(page);
    expect(await field(page, 'Token').getAttribute('type')).toBe('password');
    expect(await field(page, 'Token').getAttribute('autocomplete')).toBe('off');
    await field(page, 'Token').fill(TOKEN);
    await press(page, 'Connect');
    await page.getByText(`${github.name} answers: connected as acme.`).waitFor();
    const row = page.getByRole('listitem', { name: github.name });
    await row.getByText('as acme').waitFor();
    await row.getByText('millwright/*').waitFor();

    await page.goto('/console/new');
    await repository(page).click();
    const listed = option(page, 'acme/api');
    await listed.getByText('Private').waitFor();
    await listed.getByText(github.name).waitFor();
    await listed.click();
    expect(await repository(page).inputValue()).toBe('acme/api');
    await branch(page).click();
    await until('the default branch to be the first', async () =>
      /main\s*default/.test((await page.getByRole('option').first().innerText()).replace(/\s+/g, ' ')),
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
    expect((await readTask(owner.client, id)) as TaskBody).toMatchObject({
      repository: { url: github.url('acme/api'), ref: 'next', push: { branch: name } },
    });
    expect(github.pullRequests.at(-1)).toMatchObject({
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
    await until('the second turn', async () => {
      const { status, turn } = (await readTask(owner.client, id)) as TaskBody & { turn: number };
      return status === 'completed' && turn === 2;
    }, { within: 60_000 }); // prettier-ignore
    const pushed = git(join(github.folder.path, 'acme/api.git'), 'show', `${name}:a.txt`);
    expect(pushed).toBe('one\ntwo\nthree');
    const link = page.getByRole('banner').or(page.locator('header')).getByRole('link', { name: /Pull request/i }).first(); // prettier-ignore
    expect(await link.getAttribute('href')).toBe(`${github.origin}/acme/api/pull/${github.pullRequests.length}`);
    expect(await page.evaluate<string>(KEPT)).not.toContain(TOKEN);
  }, 180_000);

  it('are chosen by keyboard alone', async () => {
    const { owner } = await connected();
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await content(page).fill('```bash\ntrue\n```\n');
    await repository(page).focus();
    await page.keyboard.type('acme/w');
    await until('one to be found', async () => (await page.getByRole('option').count()) === 1);
    await page.keyboard.press('ArrowDown');
    const active = await repository(page).getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).innerText()).toContain('acme/web');
    await page.keyboard.press('Escape');
    expect(await repository(page).getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('ArrowDown');
    await option(page, 'acme/api').waitFor();
    await page.keyboard.type('acme/web');
    await until('one to be found', async () => (await page.getByRole('option').count()) === 1);
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
      repository: { url: github.url('acme/web'), ref: null, push: { branch: expect.stringMatching(/^millwright\/true-/) as string } },
    }); // prettier-ignore
  });

  it('are pasted as addresses, and say what is no repository', async () => {
    const { owner } = await connected();
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await content(page).fill('```bash\ntrue\n```\n');
    await repository(page).fill('acme');
    await start(page).click();
    await page.getByRole('alert').filter({ hasText: 'Choose a repository of the list' }).waitFor();
    await repository(page).fill(`https://${github.name}/acme/web`);
    await page.getByRole('switch', { name: /Open a pull request/ }).waitFor();
    await page.getByRole('heading', { name: 'New task' }).click();
    expect(await repository(page).inputValue()).toBe('acme/web');
  });

  it('that may not be pushed to offer no pull request, and say why', async () => {
    const { workspace, owner } = await connected();
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    const none = page.getByRole('switch');
    await repository(page).fill(github.url('acme/read-only'));
    await page.getByText(`the connection to ${github.name} allows no branches`).waitFor();
    expect(await none.count()).toBe(0);
    await page.getByRole('link', { name: 'Look at the connections' }).waitFor();
    await repository(page).fill(gitlab.url('acme/lab'));
    await page.getByText(`no connection to ${gitlab.name} leads to this repository`).waitFor();
    expect(await none.count()).toBe(0);
    browser.allow(/status of 404 .*\/v1\/repositories\/branches/);
    await page.getByRole('link', { name: `Connect ${gitlab.name}` }).click();
    await page.getByRole('listitem', { name: github.name }).waitFor();
    const member = await makeMember(service, { workspace });
    const { page: other } = await browser.signedIn(service.url, member.key.secret, '/console/new');
    await repository(other).fill(gitlab.url('acme/lab'));
    await other.getByText('Ask an owner or admin of the workspace for it.').waitFor();
  });

  it('say when a host does not answer, and ask it again', async () => {
    const { owner } = await connected();
    github.before = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await repository(page).click();
    await page.getByText('A host did not answer').waitFor();
    github.before = () => false;
    await until('the host to be asked again', async () => {
      const again = page.getByRole('button', { name: 'Refresh', exact: true });
      if (await again.isVisible()) await again.click();
      return (await option(page, 'acme/api').count()) > 0;
    }, { within: 15_000 }); // prettier-ignore
  });

  it('are connected, tested, changed, given another credential and deleted on a phone', async () => {
    const { owner } = await newWorkspace();
    const phone = { width: 390, height: 844 };
    const { page } = await browser.signedIn(service.url, owner.key.secret, SETTINGS, phone);
    await another(page);
    await press(page, 'Connect');
    await field(page, 'Token').and(page.locator('[aria-invalid="true"]')).waitFor();
    await field(page, 'Token').fill('a-token-that-is-not-taken');
    await press(page, 'Connect');
    const row = page.getByRole('listitem', { name: github.name });
    await row.getByText('Failed').waitFor();
    await row.getByRole('button', { name: /^New credential/ }).click();
    await field(page, 'Token').fill(TOKEN);
    await press(page, 'Replace it');
    await row.getByText('as acme').waitFor();
    await row.getByRole('button', { name: /^Edit/ }).click();
    await press(page, 'Remove the tag **');
    await field(page, 'Repositories').fill('acme/*');
    await press(page, 'Remove the tag millwright/*');
    await press(page, 'Save');
    await row.getByText('none: it only reads').waitFor();
    await row.getByRole('button', { name: /^Test/ }).click();
    await page.getByText(`${github.name} answers: connected as acme.`).last().waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);

    await page.goto('/console/new');
    await repository(page).click();
    await option(page, 'acme/web').click();
    await page.getByText('allows no branches').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.goto(SETTINGS);
    await row.getByRole('button', { name: /^Delete/ }).click();
    await press(page, 'Delete');
    await page.getByText('Nothing is connected').waitFor();
  });

  it('are connected by a GitHub App, whose key is pasted or a file', async () => {
    const { owner } = await newWorkspace();
    const { page } = await browser.signedIn(service.url, owner.key.secret, SETTINGS);
    await another(page);
    await press(page, 'A GitHub App');
    await field(page, 'App ID').fill('9');
    await field(page, 'Installation ID').fill('55');
    const key = field(page, 'Private key');
    expect(await key.getAttribute('type')).toBe('password');
    await page.locator('input[type=file]').setInputFiles({
      ...{ name: 'helper.pem', mimeType: 'application/x-pem-file', buffer: Buffer.from(PEM) },
    });
    await until('the file to be read', async () => (await key.inputValue()).includes('BEGIN RSA PRIVATE KEY'));
    // What is pasted into a field of one line loses its line breaks.
    await key.fill(PEM.replaceAll('\n', ' '));
    await press(page, 'Connect');
    await page.getByRole('listitem', { name: github.name }).getByText('GitHub App').waitFor();
    await page.getByText(/answers: connected as/).waitFor();
    expect(await page.evaluate<string>(KEPT)).not.toContain(PEM.slice(100, 140));
  });

  it('are only looked at by viewers and members', async () => {
    const { workspace } = await connected();
    for (const role of ['viewer', 'member'] as const) {
      const { key } = await makeMember(service, { workspace, role });
      const { page } = await browser.signedIn(service.url, key.secret, SETTINGS);
      await page.getByText('Owners and admins connect hosts').waitFor();
      await page.getByRole('listitem', { name: github.name }).waitFor();
      expect(await page.getByRole('button', { name: /^(Connect|Test|Edit|New credential|Delete)/ }).count()).toBe(0);
    }
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    const { owner } = await connected();
    const { owner: fresh } = await newWorkspace();
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: SETTINGS },
      {
        list: (page) => page.getByRole('listitem', { name: github.name }).waitFor(),
        connect: another,
        app: async (page) => {
          await another(page);
          await press(page, 'A GitHub App');
        },
        edit: async (page) => page.getByRole('button', { name: /^Edit/ }).click(),
      },
    );
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
          await repository(page).fill(github.url('acme/api'));
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
  }, 120_000);
});
