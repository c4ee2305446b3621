import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { createAutomation, DAILY } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

interface Listed {
  id: string;
  name: string;
  role: string;
  kind: string;
  email: string | null;
}

const MEMBERS = '/console/settings?part=members';
const SERVICES = '/console/settings?part=services';

async function listed({ client }: Member): Promise<Listed[]> {
  return (await client.get<{ members: Listed[] }>('/v1/members')).body.members;
}

/** The row of a list that has this text. */
const row = (page: Page, text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text });

describeInBrowser('members and service accounts in the console', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();

  it('are added, changed and removed with a hand-over by an owner, by keyboard', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { page } = await browser.signedIn(service.url, owner.key.secret, MEMBERS);
    await row(page, 'you').getByText(owner.user.email).waitFor();
    await row(page, 'you').getByText('The last owner stays.').waitFor();
    expect(await row(page, 'you').getByRole('button').count()).toBe(0);

    await page.getByRole('button', { name: 'Add a member' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a member' });
    await page.keyboard.press('Enter');
    await dialog.getByText('Say whom: an address').waitFor();
    // What the service refuses stands below its field.
    browser.allow(/status of 400/, /status of 409/);
    await page.keyboard.type('ann');
    await page.keyboard.press('Enter');
    await dialog.getByText('E-mail address must be an address such as').waitFor();
    await dialog.getByLabel('E-mail address').fill(owner.user.email);
    await page.keyboard.press('Enter');
    await dialog.getByText(`${owner.user.email} is a member of this workspace already.`).waitFor();
    await dialog.getByLabel('E-mail address').fill('$(ann)@example.test');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Ann');
    await dialog.getByLabel('Role').selectOption('Viewer');
    await dialog.getByText('Viewer: only reads').waitFor();
    await dialog.getByLabel('Name').press('Enter');
    const link = page.getByRole('dialog', { name: 'How Ann gets in' });
    await link.getByText('Send this to $(ann)@example.test').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await row(page, 'Ann').getByText('$(ann)@example.test').waitFor();
    await row(page, 'Ann').getByText('has a link to sign in').waitFor();
    await row(page, 'Ann').getByText('added by hand').waitFor();
    expect(await listed(owner)).toContainEqual(
      expect.objectContaining({ name: 'Ann', role: 'viewer', email: '$(ann)@example.test' }),
    );

    await page.getByRole('button', { name: 'Change role of Ann' }).press('Enter');
    const change = page.getByRole('dialog', { name: 'Change role of Ann' });
    expect(await change.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await change.getByLabel('Role').selectOption('Member');
    await change.getByRole('button', { name: 'Save' }).press('Enter');
    await row(page, 'Ann').getByText('Member', { exact: true }).waitFor();
    expect(await listed(owner)).toContainEqual(expect.objectContaining({ name: 'Ann', role: 'member' }));

    const leaving = await makeMember(service, { workspace: owner.workspace });
    const project = await createProject(leaving, { name: 'Mill' });
    const automation = await createAutomation(leaving, { ...DAILY, name: 'Sweep', content: 'Sweep.' });
    await page.reload();
    const mail = leaving.user.email;
    await row(page, mail)
      .getByRole('button', { name: /^Remove/ })
      .press('Enter');
    const removal = page.getByRole('dialog', { name: /^Remove/ });
    await removal.getByText('Tasks under way are cancelled, and automations pause.').waitFor();
    await removal.getByLabel('Projects, tasks, files and automations').selectOption('Hand over to Ann');
    await removal.getByText('go on, as those of Ann.').waitFor();
    await removal.getByRole('button', { name: 'Remove' }).press('Enter');
    await row(page, mail).waitFor({ state: 'detached' });
    expect((await leaving.client.get('/v1/auth/context')).status).toBe(401);
    const ann = (await listed(owner)).find(({ name }) => name === 'Ann');
    const owned = (await owner.client.get(`/v1/projects/${project.id}`)).body['project'];
    expect(owned).toMatchObject({ owner: { id: ann?.id } });
    const kept = (await owner.client.get(`/v1/automations/${automation.id}`)).body['automation'];
    expect(kept).toMatchObject({ status: 'active', owner: { id: ann?.id } });

    // Without a hand-over, too.
    await page.getByRole('button', { name: 'Remove Ann' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).press('Enter');
    await row(page, 'Ann').waitFor({ state: 'detached' });
    const paused = (await owner.client.get(`/v1/automations/${automation.id}`)).body['automation'];
    expect(paused).toMatchObject({ status: 'paused' });
  });

  it('get in by a link that an admin sends them, and make a key of their own, on a phone by keyboard', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const admin = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
    const screen = { width: 390, height: 844 };
    const { page, context } = await browser.signedIn(service.url, admin.key.secret, MEMBERS, screen);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'Add a member' }).press('Enter');
    await page.keyboard.type('bo@acme.example');
    await page.keyboard.press('Enter');
    const link = page.getByRole('dialog', { name: 'How bo gets in' });
    await link.getByText('Send this to bo@acme.example').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Copied').waitFor();
    const first = await copied();
    expect(first).toMatch(/\/console\/settings\?part=keys#code=[\w-]{43}$/);
    await page.keyboard.press('Escape');
    await link.waitFor({ state: 'detached' });
    // What was in the dialog goes with the next drawing.
    await until('the link to be in no part of the page', async () => !(await page.content()).includes(first));

    // Another one, for the first was lost.
    await page.getByRole('button', { name: 'Invite bo' }).press('Enter');
    await page.getByText('The link of before does not work any more then.').waitFor();
    await page.getByRole('button', { name: 'Make the link' }).press('Enter');
    const address = (await link.locator('output').textContent()) ?? '';
    expect(address).not.toBe(first);
    await link.getByRole('button', { name: 'Done' }).press('Enter');

    const bo = await browser.open(service.url, screen);
    browser.allow(/status of 401/);
    await bo.page.goto(first);
    await bo.page.getByText('This code is mistyped, was used, or has ended.').waitFor();
    await bo.page.goto(address);
    await reachesPath(bo.page, /settings\?part=keys$/);
    await bo.page.getByText('Make a key now, and keep it').waitFor();
    await bo.page.getByRole('button', { name: 'New key' }).press('Enter');
    await bo.page.keyboard.type('Phone');
    await bo.page.keyboard.press('Enter');
    const made = bo.page.getByRole('region', { name: 'The key “Phone” is made' });
    const secret = (await made.locator('output').textContent()) ?? '';
    expect((await owner.client.as(secret).get('/v1/auth/context')).body).toMatchObject({ user: { name: 'bo' } });
    await bo.page.getByRole('link', { name: 'Session' }).click();
    await bo.page.getByText('Make a key of your own before this session ends').waitFor();

    await page.reload();
    await row(page, 'bo@acme.example').waitFor();
    expect(await page.getByRole('button', { name: 'Invite bo' }).count()).toBe(0);
  });

  it('have keys whose secret works and is shown once', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { client } = owner;
    const { page } = await browser.signedIn(service.url, owner.key.secret, SERVICES);
    await page.getByText('There is none yet.').waitFor();
    await page.getByRole('button', { name: 'New service account' }).click();
    const dialog = page.getByRole('dialog', { name: 'New service account' });
    await dialog.getByLabel('Name').fill('ci');
    await page.keyboard.press('Enter');
    await row(page, 'ci').getByText('Member', { exact: true }).waitFor();

    // A second one of the name.
    browser.allow(/status of 409/);
    await page.getByRole('button', { name: 'New service account' }).click();
    await dialog.getByLabel('Name').fill('CI');
    await page.keyboard.press('Enter');
    await dialog.getByText("There is a service account 'CI' in this workspace already.").waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByLabel('Keys of ci').click();
    await page.getByText('It has no key.').waitFor();
    await page.getByRole('button', { name: 'New key of ci' }).click();
    const making = page.getByRole('dialog', { name: 'New key of ci' });
    await making.getByLabel('Name').fill('Nightly');
    await making.getByRole('button', { name: 'Only reading' }).click();
    await making.getByLabel('Name').press('Enter');
    const made = page.getByRole('region', { name: 'The key “Nightly” is made' });
    const secret = (await made.locator('output').textContent()) ?? '';
    expect(secret).toMatch(/^mw_sk_/);
    const key = row(page, 'Nightly').last();
    await key.getByText('expires in 30 days').waitFor();
    expect((await client.as(secret).get('/v1/auth/context')).body).toMatchObject({ user: { name: 'ci', email: null } });
    expect((await client.as(secret).post('/v1/projects', { name: 'No' })).status).toBe(403);

    await page.reload();
    await page.getByLabel('Keys of ci').click();
    await key.getByText('mw_sk_').waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Revoke Nightly' }).click();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('It has no key.').waitFor();
    expect((await client.as(secret).get('/v1/auth/context')).status).toBe(401);

    await page.getByRole('button', { name: 'Delete ci' }).click();
    const removal = page.getByRole('dialog', { name: 'Delete ci?' });
    await removal.getByText('programs that use them are refused').waitFor();
    await removal.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is none yet.').waitFor();
    expect((await client.get('/v1/service-accounts')).body).toEqual({ serviceAccounts: [] });
  });

  it('are looked at by who may not change them; an admin leaves owners alone', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { workspace } = owner;
    await owner.client.post('/v1/service-accounts', { name: 'ci' });
    for (const role of ['viewer', 'member'] as const) {
      const { key } = await makeMember(service, { workspace, role });
      const { page } = await browser.signedIn(service.url, key.secret, MEMBERS);
      await page.getByText('Owners and admins change this.').waitFor();
      await row(page, 'you').waitFor();
      expect(await page.getByText('@example.test').count()).toBe(0);
      await page.getByRole('link', { name: 'Service accounts' }).click();
      await reachesPath(page, /part=services$/);
      await row(page, 'ci').waitFor();
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    }
    const narrow = await makeMember(service, { workspace, role: 'owner', scopes: ['tasks:read'] });
    const { page: other } = await browser.signedIn(service.url, narrow.key.secret, MEMBERS);
    await other.getByText('its key is no personal key with all scopes').waitFor();
    expect(await other.getByRole('main').getByRole('button').count()).toBe(0);

    const admin = await makeMember(service, { workspace, role: 'admin' });
    const { page } = await browser.signedIn(service.url, admin.key.secret, MEMBERS);
    await row(page, owner.user.email).getByText('Only an owner changes owners.').waitFor();
    expect(await row(page, owner.user.email).getByRole('button').count()).toBe(0);
    await page.getByRole('button', { name: 'Add a member' }).click();
    const roles = await page.getByRole('dialog').getByLabel('Role').locator('option').allTextContents();
    expect(roles).toEqual(['Member', 'Admin', 'Viewer']);
    await page.keyboard.press('Escape');
    // Of itself too; the buttons are gone with the role.
    await row(page, 'you')
      .getByRole('button', { name: /^Change/ })
      .click();
    await page.getByText('It is you').waitFor();
    await page.getByRole('dialog').getByLabel('Role').selectOption('Viewer');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Owners and admins change this.').waitFor();
  });

  it('look well in every state, in both themes, on a desk and on a phone', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { workspace } = owner;
    await makeMember(service, { workspace, role: 'admin' });
    await owner.client.post('/v1/members', { email: 'bo@acme.example', name: 'Bo', role: 'member' });
    const made = await owner.client.post<{ serviceAccount: { id: string } }>('/v1/service-accounts', { name: 'ci' });
    const { id } = made.body.serviceAccount;
    await owner.client.post(`/v1/service-accounts/${id}/keys`, { name: 'Nightly', scopes: ['tasks:read'] });
    const press = (page: Page, name: RegExp) => page.getByRole('main').getByRole('button', { name }).first().click();
    const signedIn = { url: service.url, secret: owner.key.secret };
    await looksWell(
      browser,
      { ...signedIn, path: MEMBERS },
      {
        members: (page) => page.getByRole('button', { name: 'Invite Bo' }).waitFor(),
        inviting: (page) => page.getByRole('button', { name: 'Invite Bo' }).click(),
        'a link': async (page) => {
          await page.getByRole('button', { name: 'Invite Bo' }).click();
          await page.getByRole('button', { name: 'Make the link' }).click();
          await page.getByRole('dialog', { name: 'How Bo gets in' }).waitFor();
        },
        adding: async (page) => {
          await press(page, /^Add/);
          await page.keyboard.press('Enter');
        },
        'changing a role': (page) => press(page, /^Change/),
        removing: (page) => press(page, /^Remove/),
      },
    );
    await looksWell(
      browser,
      { ...signedIn, path: SERVICES },
      {
        accounts: async (page) => {
          await page.getByLabel('Keys of ci').click();
          await row(page, 'Nightly').last().waitFor();
          await press(page, /^New key/);
          const dialog = page.getByRole('dialog');
          await dialog.getByLabel('Name').fill('Other');
          await page.keyboard.press('Enter');
          await page.getByRole('region', { name: 'The key “Other” is made' }).waitFor();
        },
        'a new key': async (page) => {
          await page.getByLabel('Keys of ci').click();
          await press(page, /^New key/);
        },
      },
    );
    const models = { ...signedIn, path: '/console/settings?part=models' };
    await looksWell(browser, models, {
      models: async (page) => {
        await page.getByText('How the operator adds one').click();
        await page.getByText('ANTHROPIC_API_KEY=').waitFor();
      },
    });
  });
});
