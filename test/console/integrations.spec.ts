import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember } from '../harness/client.js';
import { automationOn, connect, deliver, github } from '../harness/hooks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

const GITHUB = '/console/integrations/github';

interface Connection {
  id: string;
  scope: string;
  path: string;
}

/** The part of the page for the workspace's connection, or for one's own. */
const part = (page: Page, which: 'Of the workspace' | 'Your own') =>
  page.getByRole('region', { name: 'Connections' }).getByRole('listitem').filter({ hasText: which });

describeInBrowser('connections in the console', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();

  it('are made, tested, given a new secret and ended by an owner; each secret is shown once', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { client } = owner;
    const list = async (slug: string) =>
      (await client.get<{ connections: Connection[] }>(`/v1/integrations/${slug}/connections`)).body.connections;
    const { page } = await browser.signedIn(service.url, owner.key.secret, GITHUB);
    const workspace = part(page, 'Of the workspace');
    const dialog = page.getByRole('dialog');
    await workspace.getByRole('button', { name: /^Connect/ }).press('Enter');
    await dialog.getByText('Payload URL is the address').waitFor();
    browser.allow(/status of 400/);
    await dialog.getByLabel('Secret', { exact: true }).fill('short');
    await page.keyboard.press('Enter');
    await dialog.getByText('8 to 500 visible ASCII characters').waitFor();
    await dialog.getByLabel('Secret', { exact: true }).fill('');
    await page.keyboard.press('Enter');

    const shown = page.getByRole('region', { name: 'The secret for GitHub' });
    const first = (await shown.locator('output').textContent()) ?? '';
    const [made] = await list('github');
    expect(made).toMatchObject({ scope: 'workspace' });
    const path = made?.path ?? '';
    await workspace.getByText(service.url + path).waitFor();
    await workspace.getByRole('button', { name: /^Test/ }).click();
    await page.getByRole('region', { name: 'Deliveries' }).getByText('Handshake').waitFor();
    expect((await deliver(service, path, github(first))).status).toBe(200);
    await shown.getByRole('button', { name: 'I have entered it' }).click();

    await page.getByRole('button', { name: 'New secret of the workspace’s connection' }).click();
    await dialog.getByLabel('The former secret is taken too').selectOption('for an hour');
    await dialog.getByRole('button', { name: 'Give it' }).click();
    await workspace.getByText('The former secret is taken too until').waitFor();
    const second = (await shown.locator('output').textContent()) ?? '';
    expect(second).not.toBe(first);
    for (const secret of [first, second]) expect((await deliver(service, path, github(secret))).status).toBe(200);
    await page.reload();
    await workspace.getByText('The former secret is taken too until').waitFor();
    expect(await page.content()).not.toContain(second);

    await automationOn(service, owner, made?.id ?? '');
    await page.reload();
    await workspace.getByRole('button', { name: 'Disconnect' }).click();
    await dialog.getByText('These wait for its events: A.').waitFor();
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await workspace.getByText('Not connected').waitFor();
    expect(await list('github')).toEqual([]);
    expect((await client.get('/v1/automations')).body).toMatchObject({ automations: [{ status: 'paused' }] });
  });

  it('take the secret of a provider that makes it itself, before the address or after it', async () => {
    const member = await makeMember(service);
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/integrations/linear');
    const own = part(page, 'Your own');
    const dialog = page.getByRole('dialog');
    // The workspace's is for others.
    await part(page, 'Of the workspace').getByText('Owners and admins connect the workspace.').waitFor();
    expect(await part(page, 'Of the workspace').getByRole('button').count()).toBe(0);
    await own.getByRole('button', { name: /^Connect/ }).click();
    await dialog.getByText('the signing secret (lin_wh_…)').waitFor();
    await dialog.getByRole('button', { name: 'Connect' }).click();
    await own.getByText('Now enter the address at Linear').waitFor();
    expect(await page.locator('output').count()).toBe(0);
    await own.getByRole('button', { name: /^New secret/ }).click();
    await dialog.getByRole('button', { name: 'Give it' }).click();
    await dialog.getByText('Enter the one that Linear has made.').waitFor();
    await dialog.getByLabel('Secret', { exact: true }).fill('lin_wh_0123456789');
    await page.keyboard.press('Enter');
    await own.getByText('Now enter the address at Linear').waitFor({ state: 'detached' });
    expect(await page.locator('output').count()).toBe(0);
    await own.getByRole('button', { name: 'Disconnect your own' }).click();
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await own.getByText('Not connected').waitFor();
  });

  it('are looked at by a viewer', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { workspace } = owner;
    await connect(service, owner);
    const viewer = await makeMember(service, { workspace, role: 'viewer' });
    const { page } = await browser.signedIn(service.url, viewer.key.secret, GITHUB);
    await page.getByText('you may look at its connections').waitFor();
    await part(page, 'Of the workspace').getByText('Connected', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Connections' }).getByRole('button').count()).toBe(0);
    expect(await page.getByText('/hooks/').count()).toBe(0);
  });

  it('look well in every state, in both themes, on a desk and on a phone', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    await connect(service, owner);
    const reach = { url: service.url, secret: owner.key.secret, path: GITHUB };
    const press = (page: Page, which: 'Of the workspace' | 'Your own', name: RegExp) =>
      part(page, which).getByRole('button', { name }).click();
    await looksWell(browser, reach, {
      connecting: (page) => press(page, 'Your own', /^Connect/),
      'a new secret': async (page) => {
        await press(page, 'Of the workspace', /^New secret/);
        await page.getByRole('button', { name: 'Give it' }).click();
        await page.getByRole('region', { name: 'The secret for GitHub' }).waitFor();
      },
      disconnecting: (page) => press(page, 'Of the workspace', /^Disconnect/),
    });
  });
});
