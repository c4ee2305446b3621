import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { makeKey } from '../harness/keys.js';
import { createProject } from '../harness/projects.js';
import { createSecret } from '../harness/secrets.js';
import { createTask, reaches, readTask } from '../harness/tasks.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const PAGE = '/console/settings?part=environments';
const ENVIRONMENTS = '/v1/environments';

describeInBrowser('environments in the console', () => {
  const sandbox = { network: 'allow' as const, allowHosts: ['api.github.com', '*.example.com'] };
  const service = useService(() => bootWorker({ config: { sandbox } }));
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  const browser = useBrowser();

  const look = async (secret = owner.key.secret, screen = {}, path = PAGE) =>
    (await browser.signedIn(service.url, secret, path, screen)).page;
  const form = (page: Page) => page.getByRole('form');
  const field = (page: Page, name: string) => form(page).getByLabel(name, { exact: true });
  const press = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click();
  const isWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  const stored = async (slug: string) =>
    (await owner.client.get<{ environment: object }>(`${ENVIRONMENTS}/${slug}`)).body.environment;
  const make = async (given: object = {}) => {
    const { status, text } = await owner.client.post(ENVIRONMENTS, { slug: 'node-22', setup: ['npm ci'], ...given });
    if (status !== 201) throw new Error(`${status}: ${text}`);
  };
  /** One that has failed. */
  const failed = (log: string) =>
    service.db.query(
      `INSERT INTO environment_builds (id, workspace_id, environment_id, version, key, driver, state, log, finished_at)
       SELECT gen_random_uuid(), workspace_id, id, version, '4f6c1d2e3b', 'bubblewrap', 'failed', $2, now()
       FROM environments WHERE workspace_id = $1`,
      [owner.workspace.id, log],
    );

  it('that are not changed make no version', async () => {
    await make({ name: 'Node 22', refresh: 'daily', variables: { MODE: 'fast' } });
    const page = await look(owner.key.secret, {}, `${PAGE}&environment=node-22&do=edit`);
    await press(page, 'Save as a new version');
    await page.getByText('Nothing of Node 22 is another.').waitFor();
    expect(await stored('node-22')).toMatchObject({ version: 1, refresh: 'daily' });
  });

  it('are built now by a button, and the output of the setup stands there', async () => {
    await make({ setup: ['echo hello from the setup'] });
    const page = await look(owner.key.secret, {}, `${PAGE}&environment=node-22`);
    await press(page, 'Build now');
    const row = page.getByRole('listitem', { name: 'Version 1' });
    await row.getByText('Ready').waitFor();
    await row.getByText('in ', { exact: false }).first().waitFor();
    if (!(await row.getByText('hello from the setup').first().isVisible())) await row.getByText('Output').click();
    await row
      .getByRole('group')
      .getByText(/^hello from the setup$/m)
      .first()
      .waitFor();
  });

  it('are chosen for a new task, where a project has its own, and stand in its details', async () => {
    await make({ name: 'Node 22', setup: [] });
    await make({ slug: 'python', name: 'Python', setup: [] });
    const { id: projectId } = await createProject(owner, { name: 'Water mill' });
    const page = await look(owner.key.secret, {}, `/console/projects/${projectId}`);
    await press(page, 'Edit');
    await page.getByRole('dialog').getByLabel('Environment').selectOption('Python');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const begin = async (choose: (page: Page) => Promise<unknown>) => {
      await page.goto(`/console/new?project=${projectId}`);
      await page.getByLabel('What is to be done').fill('```bash\necho hello\n```');
      await page.getByRole('option', { name: 'As the project: Python' }).waitFor({ state: 'attached' });
      await choose(page);
      await page.getByRole('button', { name: 'Start the task' }).click();
      await reachesPath(page, /^\/console\/tasks\/[-0-9a-f]{36}$/);
      return readTask(owner.client, new URL(page.url()).pathname.split('/').at(-1) ?? '');
    };
    const select = page.getByLabel('Environment');
    expect(await begin(() => Promise.resolve())).toMatchObject({ environment: { slug: 'python', version: 1 } });
    expect(await begin(() => select.selectOption('None'))).toMatchObject({ environment: null });
    expect(await begin(() => select.selectOption('Node 22'))).toMatchObject({
      environment: { slug: 'node-22', version: 1 },
    });
    await owner.client.patch(`${ENVIRONMENTS}/node-22`, { variables: { MODE: 'fast' } });
    await page.getByRole('link', { name: 'node-22, version 1' }).click();
    await page.getByText('This is version 1. The newest is version 2.').waitFor();
  });

  it.each(['member', 'viewer', 'narrow key'] as const)('are only looked at by a %s', async (who) => {
    await make();
    const narrow = () => makeKey(owner.client, { scopes: ['projects:read'] });
    const member = who === 'narrow key' ? null : await makeMember(service, { workspace: owner.workspace, role: who });
    const page = await look(member?.key.secret ?? (await narrow()).secret);
    await page.getByText(member === null ? 'lacks the scope projects:write' : 'Owners and admins make').waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await page.getByRole('link', { name: /node-22/ }).click();
    await page.getByText('npm ci').waitFor();
    expect(await page.getByRole('button', { name: /^(Edit|Delete|Build now)$/ }).count()).toBe(0);
    await page.goto(`${PAGE}&do=new`);
    await page.getByText(member === null ? 'lacks the scope projects:write' : 'Owners and admins make').waitFor();
    expect(await form(page).count()).toBe(0);
  });

  it('that a task works in are not deleted, and the dialog says why', async () => {
    await make({ setup: [] });
    const content = '```ask\nWhich?\n\n- one: One\n- two: Two\n```';
    const { id } = await createTask(owner.client, { content, environment: 'node-22' });
    await reaches(owner.client, id, 'awaiting_input');
    const page = await look(owner.key.secret, {}, `${PAGE}&environment=node-22`);
    browser.allow(/status of 409/);
    await press(page, 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('task').waitFor();
    expect(await stored('node-22')).toMatchObject({ version: 1 });
  });

  it('are made, changed and deleted on a phone: each change is a version, and all of them are kept', async () => {
    await createSecret(owner.client, { name: 'NPM_TOKEN' });
    await createSecret(owner.client, { name: 'OTHER' });
    const page = await look(owner.key.secret, { width: 390, height: 844 });
    await page.getByText('There is no environment yet').waitFor();
    await press(page, 'New environment');
    await press(page, 'Create');
    await field(page, 'Short name').and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    await field(page, 'Short name').fill('node-22');
    await field(page, 'Name').fill('Node 22');
    await field(page, 'Command 1').fill('npm ci\nnpm run build');
    await press(page, 'Add a command');
    await field(page, 'Command 2').fill('echo done');
    await press(page, 'Add a variable');
    await field(page, 'Name of variable 1').fill('MODE');
    await field(page, 'Value of variable 1').fill('fast');
    await field(page, 'Hosts').fill('elsewhere.example.org');
    await page.getByRole('checkbox', { name: 'NPM_TOKEN' }).check();
    await field(page, 'Memory (MiB)').fill('256');
    await field(page, 'Seconds for a command').fill('much');
    await press(page, 'Create');
    await field(page, 'Seconds for a command').and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    await field(page, 'Seconds for a command').fill('60');
    await field(page, 'When a build fails').selectOption('Its tasks begin from the last good build');
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    browser.allow(/status of 400/);
    await press(page, 'Create');
    await page.getByRole('alert').getByText('is not among the hosts and ports that the operator allows').waitFor();
    await press(page, 'Remove the tag elsewhere.example.org');
    await field(page, 'Hosts').fill('api.github.com');
    await press(page, 'Create');
    await reachesPath(page, /part=environments&environment=node-22$/);
    const made = {
      ...{ slug: 'node-22', name: 'Node 22', version: 1, repository: null, onFailure: 'lastGood', refresh: 'never' },
      ...{
        setup: ['npm ci\nnpm run build', 'echo done'],
        variables: { MODE: 'fast' },
        secrets: ['NPM_TOKEN'],
        tools: {},
      },
      ...{ allowHosts: ['api.github.com'] },
      resources: { memoryBytes: 256 * 1024 ** 2, diskBytes: null, wallClockSeconds: 60 },
    };
    expect(await stored('node-22')).toMatchObject(made);
    await page.getByText('MODE=fast').waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);

    await press(page, 'Edit');
    await press(page, 'Take command 2 away');
    await page.getByRole('checkbox', { name: 'NPM_TOKEN' }).uncheck();
    // What somebody else changes meanwhile stays.
    await owner.client.patch(`${ENVIRONMENTS}/node-22`, { variables: { MODE: 'fast', LEVEL: 'all' } });
    await press(page, 'Save as a new version');
    await page.getByText('Node 22 is version 3 now.').waitFor();
    const changed = { setup: ['npm ci\nnpm run build'], secrets: [], variables: { MODE: 'fast', LEVEL: 'all' } };
    expect(await stored('node-22')).toMatchObject({ ...made, ...changed, version: 3 });
    await page.getByLabel('Version', { exact: true }).selectOption({ index: 2 });
    await page.getByText('This is version 1. The newest is version 3.').waitFor();
    await page.getByText('echo done').waitFor();
    await press(page, 'Show the newest');
    await page.getByText('echo done').waitFor({ state: 'detached' });

    await press(page, 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is no environment yet').waitFor();
  });

  it('say by which checks their tasks are done, on a phone; what is not asked for there stays as it was', async () => {
    const whole = { timeoutSeconds: 30, required: false, network: true };
    const unit = { name: 'unit', command: 'npm test', protect: ['test/**'], ...whole };
    const long = { ...whole, name: 'a'.repeat(40), command: 'x'.repeat(400), protect: ['test/**', 'y'.repeat(200)] };
    await make({ name: 'Node 22', checks: [unit, long], maxRepairs: 5 });
    const page = await look(owner.key.secret, { width: 390, height: 844 }, `${PAGE}&environment=node-22`);
    const edit = () => press(page, 'Edit');
    const save = async (version: number) => {
      await press(page, 'Save as a new version');
      await page.getByText(`Node 22 is version ${version} now.`).waitFor();
    };
    await page.getByText('unit npm test').waitFor();
    await page.getByText('5 repairs in a turn').waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    await edit();
    await page.getByText(`at most 30 seconds, protects ${'y'.repeat(200)} too`).waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    await field(page, 'Command of check 1').fill('npm run e2e');
    await field(page, 'Repairs in a turn').fill('many');
    browser.allow(/status of 400/);
    await press(page, 'Save as a new version');
    await form(page).getByRole('alert').filter({ hasText: /^Repairs in a turn must/ }).waitFor(); // prettier-ignore
    await field(page, 'Repairs in a turn').fill('0');
    await save(2);
    const checks = [{ ...unit, command: 'npm run e2e' }, long];
    expect(await stored('node-22')).toMatchObject({ checks, maxRepairs: 0 });

    // Who changes something else changes nothing of them.
    await edit();
    await field(page, 'Hosts').fill('api.github.com');
    await page.keyboard.press('Enter');
    await owner.client.patch(`${ENVIRONMENTS}/node-22`, { checks: [unit], maxRepairs: 1 });
    await save(4);
    expect(await stored('node-22')).toMatchObject({ checks: [unit], maxRepairs: 1, allowHosts: ['api.github.com'] });

    await edit();
    await field(page, 'Checks of its tasks').selectOption('None');
    await save(5);
    await page.getByText('None', { exact: true }).waitFor();
    expect(await stored('node-22')).toMatchObject({ checks: [], maxRepairs: 1 });
    await edit();
    await field(page, 'Checks of its tasks').selectOption('Nothing is said here');
    await field(page, 'Repairs in a turn').fill('');
    await save(6);
    await page.getByText('Nothing is said here').waitFor();
    expect(await stored('node-22')).toMatchObject({ checks: null, maxRepairs: null });
  });

  it('have builds, whose output is read while they are made', async () => {
    await make({ setup: ["printf '\\033[32madded 1 package\\033[0m\\n'; sleep 8; echo added 2 packages; exit 4"] });
    const page = await look(owner.key.secret, {}, `${PAGE}&environment=node-22`);
    await page.getByText('Nothing is built yet').waitFor();
    await press(page, 'Build now');
    const row = page.getByRole('listitem', { name: 'Version 1' });
    const output = row.getByRole('group', { name: 'Output of the build of version 1' });
    await output.getByText('added 1 package').waitFor();
    await row.getByText('Building').waitFor();
    await output.getByText('added 2 packages').waitFor();
    await row.getByText('Failed').waitFor();
    expect(await output.innerText()).not.toContain('\u001b');
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    await createSecret(owner.client, { name: 'NPM_TOKEN' });
    const checks = [{ name: 'unit', command: 'npm test', protect: ['test/**'], required: false }];
    await make({ name: 'Node 22', variables: { MODE: 'fast' }, secrets: ['NPM_TOKEN', 'GONE'], checks });
    await failed('npm error code E404\n');
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: PAGE },
      {
        list: (page) => page.getByRole('link', { name: /Node 22/ }).waitFor(),
        one: async (page) => {
          await page.getByRole('link', { name: /Node 22/ }).click();
          await page.getByText('npm error code E404').waitFor();
        },
        edit: async (page) => {
          await page.getByRole('link', { name: /Node 22/ }).click();
          await press(page, 'Edit');
          await page.getByText('not there now').waitFor();
        },
        missing: async (page) => {
          await press(page, 'New environment');
          await press(page, 'Add a variable');
          await press(page, 'Create');
        },
      },
    );
  });
});
