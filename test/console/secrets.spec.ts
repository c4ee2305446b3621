import type { Page } from 'playwright-core';
import { bootApp, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { field, KEPT, press } from '../harness/console-repositories.js';
import { makeKey } from '../harness/keys.js';
import { createProject } from '../harness/projects.js';
import { createSecret, type SecretBody, SECRETS } from '../harness/secrets.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

const PAGE = '/console/settings?part=secrets';
const VALUE = 'canary-value-of-the-console-4713';
const NEXT = 'canary-value-of-the-console-4714';

describeInBrowser('secrets in the console', () => {
  const sandbox = { network: 'allow' as const, allowHosts: ['api.github.com', '*.example.com'] };
  const service = useService(() => bootApp({ config: { sandbox } }));
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  const browser = useBrowser();

  const look = async (secret = owner.key.secret, screen = {}) =>
    (await browser.signedIn(service.url, secret, PAGE, screen)).page;
  const row = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true });
  const begin = async (page: Page, name: string, value: string, host: string) => {
    await page.getByRole('button', { name: 'New secret' }).click();
    await field(page, 'Name').fill(name);
    await field(page, 'Value').fill(value);
    await field(page, 'Host').fill(host);
  };
  const stored = async (name: string, by = owner): Promise<SecretBody> => {
    const { body } = await by.client.get<{ secrets: SecretBody[] }>(SECRETS);
    const found = body.secrets.find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no secret ${name}.`);
    return found;
  };
  const isWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

  it('are made, changed and deleted on a phone; what is not changed stays', async () => {
    const page = await look(owner.key.secret, { width: 390, height: 844 });
    await page.getByText('There is no secret yet').waitFor();
    await page.getByRole('button', { name: 'New secret' }).click();
    await press(page, 'Keep it');
    await field(page, 'Name').and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    await field(page, 'Name').fill('DEPLOY_TOKEN');
    await field(page, 'Value').fill('short');
    await field(page, 'Host').fill('api.github.com');
    await press(page, 'Keep it');
    await page.getByText('A value has at least 8 characters.').waitFor();
    await field(page, 'Value').fill(` ${VALUE} `);
    await field(page, 'Form').selectOption('Basic, as the password');
    await field(page, 'User name').fill('x-access-token');
    await page.getByText('Authorization: Basic base64(x-access-token:•••)').waitFor();
    await page.getByText('Only some requests').click();
    await page.getByRole('checkbox', { name: 'POST' }).check();
    await page.getByRole('checkbox', { name: 'GET' }).check();
    await field(page, 'Paths').fill('/repos/acme/**');
    await press(page, 'Another place');
    const second = page.getByRole('group', { name: 'Place 2' });
    await second.getByLabel('Host').fill('*.example.com');
    await second.getByLabel('In', { exact: true }).selectOption('A parameter of the address');
    await second.getByLabel('Parameter').fill('key');
    await second.getByText('?key=•••').waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    await press(page, 'Keep it');
    await row(page, 'DEPLOY_TOKEN').getByText('*.example.com').waitFor();
    await row(page, 'DEPLOY_TOKEN').getByText('Used never').waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    const narrow = { methods: ['GET', 'POST'], paths: ['/repos/acme/**'] };
    const all = { methods: null, paths: null };
    const bindings = [
      {
        ...{ host: 'api.github.com', port: 443, ...narrow },
        place: { header: 'Authorization', form: 'basic', user: 'x-access-token' },
      },
      { host: '*.example.com', port: 443, ...all, place: { query: 'key' } },
    ];
    const made = { name: 'DEPLOY_TOKEN', env: 'DEPLOY_TOKEN', scope: 'workspace', version: 1, bindings };
    expect(await stored('DEPLOY_TOKEN')).toMatchObject(made);

    await row(page, 'DEPLOY_TOKEN').getByRole('button', { name: 'Edit DEPLOY_TOKEN' }).click();
    await field(page, 'Description').fill('From the bot account.');
    await press(page, 'Save');
    await row(page, 'DEPLOY_TOKEN').getByText('From the bot account.').waitFor();
    // Neither value nor bindings were sent: the version would be another one.
    expect(await stored('DEPLOY_TOKEN')).toMatchObject({ ...made, description: 'From the bot account.' });
    await row(page, 'DEPLOY_TOKEN').getByRole('button', { name: 'Edit DEPLOY_TOKEN' }).click();
    await press(page, 'Take place 2 away');
    await field(page, 'New value').fill(NEXT);
    await press(page, 'Save');
    await row(page, 'DEPLOY_TOKEN').getByText('version 2').waitFor();
    expect(await stored('DEPLOY_TOKEN')).toMatchObject({ bindings: bindings.slice(0, 1) });

    await row(page, 'DEPLOY_TOKEN').getByRole('button', { name: 'Delete DEPLOY_TOKEN' }).click();
    await page.getByText('The next request of a task with it is refused').waitFor();
    await press(page, 'Delete');
    await page.getByText('There is no secret yet').waitFor();
  });

  it('leave no value behind: not in the page, its storage, its address and what it sends but once', async () => {
    const page = await look();
    const sent: string[] = [];
    page.on('request', (request) => {
      const all = `${request.url()} ${request.postData() ?? ''}`;
      if (all.includes('canary-value')) sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await begin(page, 'DEPLOY_TOKEN', VALUE, 'other.example.org');
    expect(await field(page, 'Value').getAttribute('type')).toBe('password');
    expect(await page.evaluate<string>(KEPT)).not.toContain('canary-value');
    browser.allow(/status of 400/);
    await press(page, 'Keep it');
    // What is wrong stands at its field, and what was sent is not sent again by itself.
    await page.getByRole('alert').getByText('Host is not among the hosts and ports').waitFor();
    expect(await field(page, 'Value').inputValue()).toBe('');
    await page.getByText('Give the value once more').waitFor();
    await field(page, 'Host').fill('api.github.com');
    await press(page, 'Keep it');
    await field(page, 'Value').and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    await field(page, 'Value').fill(VALUE);
    await press(page, 'Keep it');
    await row(page, 'DEPLOY_TOKEN').waitFor();
    expect(sent).toEqual(['POST /v1/secrets', 'POST /v1/secrets']);
    // In the memory of the page no mutation has it: the library shows what it keeps of them.
    expect(await page.evaluate<string>(KEPT)).not.toContain('canary-value');
    expect(page.url()).not.toContain('canary-value');
    await row(page, 'DEPLOY_TOKEN').getByRole('button', { name: 'Edit DEPLOY_TOKEN' }).click();
    expect(await field(page, 'New value').inputValue()).toBe('');
  });

  it('are refused as a value of several lines, which a field of one line would join', async () => {
    const page = await look();
    await page.getByRole('button', { name: 'New secret' }).click();
    await field(page, 'Value').focus();
    const paste = (text: string) =>
      page.evaluate(`{
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', ${JSON.stringify(text)});
        document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      }`);
    await paste('one line\nand another');
    await page.getByRole('alert').getByText('A value is one line').waitFor();
    await paste('one line alone\n');
    await page.getByText('A value is one line').waitFor({ state: 'detached' });
  });

  it('are made with the keyboard alone, and the focus is where it was then', async () => {
    const page = await look();
    await page.getByRole('button', { name: 'New secret' }).press('Enter');
    await field(page, 'Name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('NPM_TOKEN');
    await page.keyboard.press('Tab');
    await page.keyboard.type(VALUE);
    await field(page, 'Host').focus();
    await page.keyboard.type('api.github.com');
    await page.keyboard.press('Enter');
    await row(page, 'NPM_TOKEN').waitFor();
    await row(page, 'NPM_TOKEN').getByRole('button', { name: 'Edit NPM_TOKEN' }).press('Enter');
    await field(page, 'New value').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit NPM_TOKEN' }).and(page.locator(':focus')).waitFor();
  });

  it('of a project stand with its name, and are made for it', async () => {
    const { id: projectId } = await createProject(owner, { name: 'Water mill' });
    const page = await look();
    await begin(page, 'MILL_TOKEN', VALUE, 'api.github.com');
    await field(page, 'For').selectOption('Project');
    await press(page, 'Keep it');
    await field(page, 'Project').and(page.locator('[aria-invalid="true"]')).waitFor();
    await field(page, 'Project').selectOption('Water mill');
    await field(page, 'Value').fill(VALUE);
    await field(page, 'Variable in the task').fill('TOKEN');
    await press(page, 'Keep it');
    await row(page, 'MILL_TOKEN').getByRole('link', { name: 'Water mill' }).waitFor();
    await row(page, 'MILL_TOKEN').getByText('TOKEN', { exact: true }).waitFor();
    expect(await stored('MILL_TOKEN')).toMatchObject({ scope: 'project', projectId, env: 'TOKEN' });
  });

  it('of the workspace are only looked at by members, who keep their own', async () => {
    await createSecret(owner.client, { name: 'SHARED' });
    const member = await makeMember(service, { workspace: owner.workspace });
    const page = await look(member.key.secret);
    await page.getByText('Owners and admins change the secrets of the workspace').waitFor();
    await row(page, 'SHARED').getByText('Workspace', { exact: true }).waitFor();
    expect(await row(page, 'SHARED').getByRole('button').count()).toBe(0);
    await begin(page, 'MINE', VALUE, 'api.github.com');
    expect(await field(page, 'For').locator('option').allTextContents()).toEqual(['Yours alone']);
    await press(page, 'Keep it');
    await row(page, 'MINE').getByRole('button', { name: 'Delete MINE' }).waitFor();
    expect(await stored('MINE', member)).toMatchObject({ scope: 'user' });
    // Nobody else sees it.
    await expect(stored('MINE')).rejects.toThrow('no secret');
  });

  it.each(['viewer', 'narrow key'] as const)('are only looked at by a %s', async (who) => {
    await createSecret(owner.client, { name: 'SHARED' });
    const viewer = await makeMember(service, { workspace: owner.workspace, role: 'viewer' });
    const narrow = await makeKey(owner.client, { scopes: ['automations:read'] });
    const page = await look(who === 'viewer' ? viewer.key.secret : narrow.secret);
    await row(page, 'SHARED').waitFor();
    await page.getByText(who === 'viewer' ? 'Viewers have no secrets' : 'lacks the scope automations:write').waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
  });

  it('say in the dialog what the service refuses, as to one who is no admin any more', async () => {
    await createSecret(owner.client, { name: 'SHARED' });
    const admin = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
    const page = await look(admin.key.secret);
    await row(page, 'SHARED').waitFor();
    await service.db.query(`UPDATE memberships SET role = 'member' WHERE user_id = $1`, [admin.user.id]);
    browser.allow(/status of 403/, /status of 409/);
    const refusal = page.getByRole('dialog').getByRole('alert').getByText('Only an owner or admin of the workspace');
    await row(page, 'SHARED').getByRole('button', { name: 'Delete SHARED' }).click();
    await press(page, 'Delete');
    await refusal.waitFor();
    await press(page, 'Cancel');
    await row(page, 'SHARED').getByRole('button', { name: 'Edit SHARED' }).click();
    await field(page, 'New value').fill(VALUE);
    await press(page, 'Save');
    await refusal.waitFor();
    expect(await stored('SHARED')).toMatchObject({ version: 1 });
    await press(page, 'Cancel');
    await service.db.query(`UPDATE memberships SET role = 'admin' WHERE user_id = $1`, [admin.user.id]);
    await begin(page, 'SHARED', VALUE, 'api.github.com');
    await press(page, 'Keep it');
    await page.getByRole('alert').getByText('The workspace has a secret SHARED already').waitFor();
  });

  it('look well in both themes, on a desk and on a phone', async () => {
    await createSecret(owner.client, { name: 'SHARED', description: 'From the bot account.', env: 'GH_TOKEN' });
    const open = (page: Page) => page.getByRole('button', { name: 'New secret' }).click();
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: PAGE },
      {
        list: (page) => row(page, 'SHARED').waitFor(),
        create: async (page) => {
          await open(page);
          await page.getByText('Only some requests').click();
        },
        missing: async (page) => {
          await open(page);
          await press(page, 'Keep it');
        },
        edit: (page) => page.getByRole('button', { name: 'Edit SHARED' }).click(),
        remove: (page) => page.getByRole('button', { name: 'Delete SHARED' }).click(),
      },
    );
  });
});
