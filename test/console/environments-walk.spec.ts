import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { createSecret } from '../harness/secrets.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const PAGE = '/console/settings?part=environments';
const ENVIRONMENTS = '/v1/environments';

describeInBrowser('environments in the console, one after the other', () => {
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
    await make({ name: 'Node 22', variables: { MODE: 'fast' }, secrets: ['NPM_TOKEN', 'GONE'] });
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
  }, 120_000);
});
