import type { Page } from 'playwright-core';
import { useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, readAutomation, type RunBody } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { type Client, makeMember } from '../harness/client.js';
import { branch, Hosts, option, options, repository, TOKEN } from '../harness/console-repositories.js';
import { until } from '../harness/until.js';
import { describeInBrowser, drawn, reachesPath, useBrowser } from '../harness/walks.js';

const NEW = '/console/automations/new';
const CHANGES = '```bash\ncd repo && echo two >> a.txt\n```\n';
const PUSH = /Open a pull request/;

type Automation = AutomationBody & { repository: object | null };

const newBranch = (page: Page) => page.getByLabel('New branch');
const create = (page: Page) => page.getByRole('button', { name: 'Create the automation' });
const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
const fact = (page: Page, name: string) =>
  page
    .locator('dl > div')
    .filter({ has: page.locator('dt').getByText(name, { exact: true }) })
    .locator('dd');

/** Begins one that is called Sweep. */
async function begin(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('Sweep');
  await page.getByLabel('What each task is to do').fill(CHANGES);
}

/** The automation whose page comes up. */
async function shown(page: Page, client: Client): Promise<Automation> {
  await reachesPath(page, /^\/console\/automations\/[0-9a-f-]{36}$/);
  return (await readAutomation(client, new URL(page.url()).pathname.split('/').at(-1) ?? '')) as Automation;
}

describeInBrowser('repositories of automations', () => {
  let hosts: Hosts;
  const service = useService(async () => {
    hosts = await Hosts.start();
    return hosts.boot();
  });
  afterAll(() => hosts.stop());
  const browser = useBrowser();

  const made = async (client: Client, json: object) =>
    (
      await client.post<{ automation: Automation }>(AUTOMATIONS, {
        ...{ name: 'Sweep', content: CHANGES, cron: '0 9 * * *' },
        ...json,
      })
    ).body.automation;

  it('are chosen, run to a pull request, changed and taken away by mouse', async () => {
    const { owner } = await hosts.connected(service);
    const url = hosts.github.url('acme/api');
    const { page } = await browser.signedIn(service.url, owner.key.secret, NEW);
    await begin(page);
    await repository(page).click();
    await option(page, 'acme/api').click();
    await branch(page).click();
    await option(page, 'next').click();
    await page.getByRole('switch', { name: PUSH }).click();
    expect(await newBranch(page).getAttribute('placeholder')).toBe('millwright/sweep-{taskId}');
    await page.getByRole('button', { name: 'Add {date}' }).click();
    expect(await newBranch(page).inputValue()).toBe('millwright/sweep-{taskId}-{date}');
    await newBranch(page).fill('millwright/sweep');
    await page.getByText('Without {taskId} all runs have this one branch.').waitFor();
    await page.getByRole('button', { name: 'Add {taskId}' }).click();
    await page.getByText('In each run {taskId} becomes the id of its task').waitFor();
    await page.getByLabel('Title of the pull request').fill('Swept');
    await page.getByLabel('As a draft').check();
    // It is a draft until it is sent.
    await page.reload();
    expect([await repository(page).inputValue(), await branch(page).inputValue()]).toEqual(['acme/api', 'next']);
    await create(page).click();
    const automation = await shown(page, owner.client);
    const push = { branch: 'millwright/sweep-{taskId}', pullRequest: { title: 'Swept', base: null, draft: true } };
    expect(automation.repository).toEqual({ url, ref: 'next', push });
    await fact(page, 'Repository').getByText(`${hosts.github.name}/acme/api`).waitFor();
    await fact(page, 'Branch').getByText('next').waitFor();
    await fact(page, 'Changes go to').getByText(push.branch).waitFor();
    await fact(page, 'Pull request').getByText('As a draft, “Swept”, into the branch it begins with').waitFor();

    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('link', { name: 'Open the task' }).first().click();
    await page.locator('header').getByText('Completed').waitFor({ timeout: 60_000 });
    const link = page
      .locator('header')
      .getByRole('link', { name: /Pull request/i })
      .first();
    expect(await link.getAttribute('href')).toBe(
      `${hosts.github.origin}/acme/api/pull/${hosts.github.pullRequests.length}`,
    );
    const [run] = (await owner.client.get<{ runs: RunBody[] }>(`${AUTOMATIONS}/${automation.id}/runs`)).body.runs;
    expect(hosts.github.pullRequests.at(-1)).toMatchObject({
      ...{ path: 'acme/api', branch: `millwright/sweep-${run?.taskId}`, base: 'next', title: 'Swept', draft: true },
    });

    const edit = `/console/automations/${automation.id}/edit`;
    await page.goto(edit);
    expect([await repository(page).inputValue(), await newBranch(page).inputValue()]).toEqual([
      ...['acme/api', push.branch],
    ]);
    await newBranch(page).fill('main');
    browser.allow(/status of 400/);
    await save(page).click();
    await page
      .getByRole('alert')
      .getByText(/^New branch names a branch that neither/)
      .waitFor();
    await newBranch(page).and(page.locator(':focus')).waitFor();
    await newBranch(page).fill('millwright/{runId}');
    await save(page).click();
    await page
      .getByRole('alert')
      .getByText(/^New branch has \{runId\}, which is no placeholder/)
      .waitFor();
    await newBranch(page).fill('');
    await page.getByLabel('Only push the branch').check();
    await save(page).click();
    expect((await shown(page, owner.client)).repository).toEqual({
      ...{ url, ref: 'next', push: { branch: 'millwright/sweep-{taskId}', pullRequest: null } },
    });
    await fact(page, 'Pull request').getByText('None').waitFor();

    await page.goto(edit);
    await page.getByRole('button', { name: 'Clear: Repository' }).click();
    await save(page).click();
    expect((await shown(page, owner.client)).repository).toBeNull();
    expect(await fact(page, 'Repository').count()).toBe(0);
  });

  it('are chosen by keyboard alone', async () => {
    const { owner } = await hosts.connected(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, NEW);
    await begin(page);
    await repository(page).focus();
    await page.keyboard.type('acme/w');
    await until('one to be found', async () => (await options(page).count()) === 1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await repository(page).inputValue()).toBe('acme/web');
    await page.getByRole('switch', { name: PUSH }).press('Space');
    await page.getByRole('button', { name: 'Add {date}' }).press('Enter');
    await newBranch(page).press('Control+Enter');
    expect((await shown(page, owner.client)).repository).toEqual({
      url: hosts.github.url('acme/web'),
      ref: null,
      push: {
        branch: 'millwright/sweep-{taskId}-{date}',
        pullRequest: { title: null, base: null, draft: false },
      },
    });
  });

  it('say so where their connection allows one branch, which all runs would share', async () => {
    const { owner } = await hosts.newWorkspace(service);
    const { status } = await owner.client.post('/v1/repository-connections', {
      ...{ host: hosts.github.name, token: TOKEN, push: ['millwright/nightly'] },
    });
    expect(status).toBe(201);
    const { page } = await browser.signedIn(service.url, owner.key.secret, NEW);
    await begin(page);
    await repository(page).fill(hosts.github.url('acme/api'));
    await page.getByRole('switch', { name: PUSH }).check();
    expect(await newBranch(page).getAttribute('placeholder')).toBe('millwright/nightly');
    await page.getByText('Without {taskId} all runs have this one branch.').waitFor();
  });

  it('that are no addresses are refused at their field', async () => {
    const { owner } = await hosts.connected(service);
    const { page } = await browser.signedIn(service.url, owner.key.secret, NEW);
    await begin(page);
    await repository(page).fill('https://github.com/acme/50%');
    await repository(page).fill('acme');
    browser.allow(/status of 400/);
    await create(page).click();
    await page
      .getByRole('alert')
      .getByText(/^Repository must be/)
      .waitFor();
    await repository(page).and(page.locator(':focus')).waitFor();
  });

  it('are not asked for, and stay as they are, where the session may not list them', async () => {
    const { workspace } = await hosts.connected(service);
    const scopes = ['automations:read', 'automations:write', 'tasks:read', 'tasks:write'] as const;
    const member = await makeMember(service, { workspace, scopes });
    const { id, repository: given } = await made(member.client, { repository: { url: hosts.github.url('acme/api') } });
    const { page } = await browser.signedIn(service.url, member.key.secret, `/console/automations/${id}/edit`);
    await page.getByLabel('Name').fill('Swept');
    expect(await repository(page).count()).toBe(0);
    await save(page).click();
    expect(await shown(page, member.client)).toMatchObject({ name: 'Swept', repository: given });
    await fact(page, 'Branch').getByText('The default branch').waitFor();
    await fact(page, 'Changes go to').getByText('Stay here as a patch').waitFor();
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    const { owner } = await hosts.connected(service);
    const push = { branch: 'millwright/{date}-{taskId}', pullRequest: { title: 'Swept', draft: true } };
    const { id } = await made(owner.client, { repository: { url: hosts.github.url('acme/api'), ref: 'next', push } });
    const at = (path: string) => ({ url: service.url, secret: owner.key.secret, path });
    await looksWell(browser, at(NEW), {
      shared: async (page) => {
        await repository(page).fill(hosts.github.url('acme/api'));
        await page.getByRole('switch', { name: PUSH }).check();
        await newBranch(page).fill('millwright/sweep');
        await drawn(page);
      },
      list: async (page) => {
        await repository(page).click();
        await option(page, 'acme/api').waitFor();
      },
    });
    const facts = (page: Page) => fact(page, 'Changes go to').waitFor();
    await looksWell(browser, at(`/console/automations/${id}`), { facts });
  });
});
