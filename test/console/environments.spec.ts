import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { makeKey } from '../harness/keys.js';
import { createProject } from '../harness/projects.js';
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
  const press = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click();
  const stored = async (slug: string) =>
    (await owner.client.get<{ environment: object }>(`${ENVIRONMENTS}/${slug}`)).body.environment;
  const make = async (given: object = {}) => {
    const { status, text } = await owner.client.post(ENVIRONMENTS, { slug: 'node-22', setup: ['npm ci'], ...given });
    if (status !== 201) throw new Error(`${status}: ${text}`);
  };
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
});
