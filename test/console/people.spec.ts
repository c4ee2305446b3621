import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { createAutomation, DAILY } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
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
    await dialog.waitFor({ state: 'detached' });
    await row(page, 'Ann').getByText('$(ann)@example.test').waitFor();
    // A shell would carry it out.
    const line = `key create --workspace ${owner.workspace.slug} --user '$(ann)@example.test' --scopes all`;
    await page.getByText(`npm run --silent cli -- ${line}`).waitFor();
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
    const made = await owner.client.post<{ serviceAccount: { id: string } }>('/v1/service-accounts', { name: 'ci' });
    const { id } = made.body.serviceAccount;
    await owner.client.post(`/v1/service-accounts/${id}/keys`, { name: 'Nightly', scopes: ['tasks:read'] });
    const press = (page: Page, name: RegExp) => page.getByRole('main').getByRole('button', { name }).first().click();
    const signedIn = { url: service.url, secret: owner.key.secret };
    await looksWell(
      browser,
      { ...signedIn, path: MEMBERS },
      {
        members: (page) => page.getByText('How somebody new gets in').click(),
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
  }, 180_000);
});
