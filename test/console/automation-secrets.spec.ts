import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, createAutomation } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { changeEnvironment, createEnvironment } from '../harness/environments.js';
import { connect } from '../harness/hooks.js';
import { createProject } from '../harness/projects.js';
import { createSecret } from '../harness/secrets.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

type Automation = AutomationBody & { environment: object | null; secrets: string[] | null };

describeInBrowser('environment and secrets of an automation in the console', () => {
  const sandbox = { network: 'allow' as const, allowHosts: ['api.github.com'] };
  const service = useService(() => bootWorker({ config: { sandbox } }));
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    for (const name of ['NPM_TOKEN', 'OTHER']) await createSecret(owner.client, { name });
    await createEnvironment(owner.client, { slug: 'node-22', name: 'Node 22' });
    await createEnvironment(owner.client, { slug: 'python', name: 'Python' });
  });
  const browser = useBrowser();
  const look = async (path: string, screen = {}) =>
    (await browser.signedIn(service.url, owner.key.secret, path, screen)).page;
  const read = async (id = '') =>
    (await owner.client.get<{ automation: Automation }>(`${AUTOMATIONS}/${id}`)).body.automation;

  it('are chosen when it is made, on a phone, and stand in its details', async () => {
    await connect(service, owner);
    const page = await look('/console/automations/new?event=github.push', { width: 390, height: 844 });
    await page.getByLabel('Name', { exact: true }).fill('On a push');
    await page.getByLabel('What each task is to do').fill('Look at it.');
    await page.getByLabel('Environment').selectOption('Node 22');
    await page.getByLabel('Secrets', { exact: true }).selectOption('Those that are chosen here');
    const which = page.getByRole('group', { name: 'Which secrets its tasks have' });
    await which.getByText('reach the hosts that they are bound to and nothing else').waitFor();
    await which.getByRole('checkbox', { name: 'NPM_TOKEN' }).check();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Create the automation' }).click();
    await reachesPath(page, /^\/console\/automations\/[-0-9a-f]{36}$/);
    await page.getByText('NPM_TOKEN', { exact: true }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    expect(await read(id)).toMatchObject({ environment: { slug: 'node-22', version: null }, secrets: ['NPM_TOKEN'] });
    await page.getByRole('link', { name: 'node-22, the newest version' }).click();
    await page.getByRole('heading', { name: 'Node 22' }).waitFor();
  });

  it('stay as they are unless they are changed: a version, a name that is not there, and none at all', async () => {
    await changeEnvironment(owner.client, 'node-22', { variables: { MODE: 'fast' } });
    const given = { environment: { slug: 'node-22', version: 1 }, secrets: ['OTHER', 'GONE'] };
    const { id } = await createAutomation(owner, given);
    const page = await look(`/console/automations/${id}/edit`);
    const which = page.getByRole('group', { name: 'Which secrets its tasks have' });
    await which.getByRole('checkbox', { name: 'GONE not there now' }).waitFor();
    await page.getByRole('option', { name: 'Node 22, version 1' }).waitFor({ state: 'attached' });
    await page.getByLabel('Name', { exact: true }).fill('Called so');
    const save = async () => {
      await page.getByRole('button', { name: 'Save' }).click();
      await reachesPath(page, new RegExp(`^/console/automations/${id}$`));
    };
    await save();
    await page.getByRole('link', { name: 'node-22, version 1' }).waitFor();
    expect(await read(id)).toMatchObject({ ...given, name: 'Called so' });
    await page.getByRole('button', { name: 'Edit' }).click();
    await which.getByRole('checkbox', { name: 'GONE' }).click();
    await page.getByLabel('Environment').selectOption('Node 22');
    await save();
    expect(await read(id)).toMatchObject({ environment: { slug: 'node-22', version: null }, secrets: ['OTHER'] });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Secrets', { exact: true }).selectOption('All that its tasks may use');
    await page.getByLabel('Environment').selectOption('None');
    await save();
    await page.getByText('All that its tasks may use').waitFor();
    expect(await read(id)).toMatchObject({ environment: null, secrets: null });
  });

  it('nothing chosen is the environment of its project', async () => {
    const { id: projectId } = await createProject(owner, { name: 'Water mill' });
    await owner.client.patch(`/v1/projects/${projectId}`, { environment: 'python' });
    const { id } = await createAutomation(owner, { projectId });
    const page = await look(`/console/automations/${id}/edit`);
    await page.getByRole('option', { name: 'As the project: Python' }).waitFor({ state: 'attached' });
    expect(await page.getByLabel('Environment').getByRole('option').allTextContents()).toEqual(['As the project: Python', 'Python', 'Node 22']); // prettier-ignore
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    const { id } = await createAutomation(owner, { environment: 'node-22', secrets: ['NPM_TOKEN', 'GONE'] });
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: `/console/automations/${id}` },
      {
        facts: (page) => page.getByText('NPM_TOKEN, GONE').waitFor(),
        form: async (page) => {
          await page.getByRole('button', { name: 'Edit' }).click();
          await page.getByText('not there now').waitFor();
        },
      },
    );
  });
});
