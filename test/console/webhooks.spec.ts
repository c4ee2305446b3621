import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';
import { createWebhook, deliveriesOf, HERE, isSignedWith, Receiver } from '../harness/webhooks.js';

describeInBrowser('webhooks in the console', () => {
  const service = useService(() => bootWorker({ env: HERE }));
  const browser = useBrowser();
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await Receiver.listen();
  });
  afterAll(() => receiver.close());

  it('are made with a secret that is shown once, tested, and what failed is delivered again', async () => {
    const { key, client } = await makeMember(service, { role: 'owner' });
    const { page } = await browser.signedIn(service.url, key.secret, '/console/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    const address = page.getByLabel('Address');
    const make = page.getByRole('button', { name: 'Create the webhook' });
    browser.allow(/status of 400/);
    await address.fill('https://10.0.0.1/hook');
    await make.click();
    await page.getByRole('alert').filter({ hasText: 'Address leads to an address that is not public' }).waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    await address.fill(receiver.url('/walk'));
    await page.getByLabel('All events of automations').check();
    expect(await page.getByLabel(/A run was left out/).isDisabled()).toBe(true);
    await make.click();
    const shown = page.getByRole('region', { name: 'The secret of this webhook' });
    const secret = (await shown.locator('output').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    await shown.getByRole('button', { name: 'I have it' }).click();
    await reachesPath(page, /^\/console\/webhooks\/[0-9a-f-]{36}$/);
    const id = page.url().split('/').at(-1) ?? '';
    expect((await client.get(`/v1/webhooks/${id}`)).body['webhook']).toMatchObject({
      types: ['task.completed', 'task.failed', 'task.awaiting_input', 'automation.*'],
    });

    const rows = page.getByRole('region', { name: 'Deliveries' }).getByRole('button', { expanded: false });
    await page.getByRole('button', { name: 'Send a test' }).click();
    await rows.filter({ hasText: 'Delivered' }).waitFor();
    await page.getByText('last success').waitFor();
    const [tested] = await receiver.gets('/walk');
    expect(tested && isSignedWith(secret, tested)).toBe(true);

    receiver.answer('/walk', 500);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await rows.filter({ hasText: 'Failed' }).click();
    const delivery = page.getByRole('listitem').filter({ has: page.getByRole('button', { expanded: true }) });
    await delivery.getByText('HTTP 500').last().waitFor();
    await delivery.getByRole('group', { name: 'Body' }).getByText('webhook.test').waitFor();
    receiver.answer('/walk', 200);
    await delivery.getByRole('button', { name: 'Redeliver' }).click();
    await rows.filter({ hasText: 'Delivered' }).filter({ hasText: 'sent again' }).waitFor();
    const [, failed, again] = await receiver.gets('/walk', 3);
    expect(again?.headers['webhook-id']).toBe(failed?.headers['webhook-id']);

    // What is shown is a link.
    await page.getByLabel('By status').selectOption('Failed');
    await reachesPath(page, /\?.*status=failed/);
    await page.reload();
    await page.getByRole('region', { name: 'Deliveries' }).getByText('Failed', { exact: true }).nth(1).waitFor();
    expect(await page.getByText('sent again').count()).toBe(0);
    const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, history.state]) + document.body.innerText'); // prettier-ignore
    expect(kept).not.toContain(secret);
  });

  it('get another secret, are disabled, recovered, changed and deleted', async () => {
    const { key, client } = await makeMember(service, { role: 'admin' });
    const { webhook, secret } = await createWebhook(client, { url: receiver.url('/second') });
    const { page } = await browser.signedIn(service.url, key.secret, `/console/webhooks/${webhook.id}`);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('New secret').click();
    await page.getByLabel('The former secret signs too for').selectOption('an hour');
    await button('Make it').click();
    const shown = page.getByRole('region', { name: 'The secret of this webhook' });
    const next = (await shown.locator('output').textContent()) ?? '';
    await button('I have it').click();
    await page.getByText('The former secret signs too until').waitFor();
    expect(await page.getByText(next).count()).toBe(0);
    await button('Send a test').click();
    const [both] = await receiver.gets('/second');
    expect(both && [secret, next].map((one) => isSignedWith(one, both))).toEqual([true, true]);

    await button('Disable').click();
    await page.getByText('Disabled on request.').waitFor();
    // The service sends nothing to it.
    expect(await button('Recover').isDisabled()).toBe(true);
    await client.post('/v1/tasks', { content: '```bash\ntrue\n```\n' });
    await button('Enable').click();
    await page.getByText('Disabled on request.').waitFor({ state: 'detached' });
    await button('Recover').click();
    await button('Send again').click();
    await page.getByText(/events? (is|are) sent again/).waitFor();
    await until('what was missed to be sent', async () =>
      (await deliveriesOf(client, webhook.id)).some(({ eventType, redelivery }) => redelivery && eventType === 'task.created'),
    ); // prettier-ignore

    await button('Edit').click();
    await page.getByLabel('Everything, also what comes with later versions').uncheck();
    await page.getByLabel(/It failed/).check();
    await page.getByLabel('Description').fill('Tells the chat.');
    await button('Save').click();
    await page.getByText('The webhook is changed.').waitFor();
    expect((await client.get(`/v1/webhooks/${webhook.id}`)).body['webhook']).toMatchObject({
      ...{ types: ['task.failed'], description: 'Tells the chat.', url: webhook.url },
    });
    await button('Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No webhook yet').waitFor();
  });

  it('are for owners and admins, and are shown alone to a key that only reads', async () => {
    const owner = await makeMember(service, { role: 'owner', scopes: ['automations:read', 'automations:write'] });
    const { workspace } = owner;
    const { webhook } = await createWebhook(owner.client, { url: receiver.url('/third') });
    const member = await makeMember(service, { workspace });
    const reader = await makeMember(service, { workspace, role: 'admin', scopes: ['automations:read'] });
    const path = `/console/webhooks/${webhook.id}`;
    const { page } = await browser.signedIn(service.url, member.key.secret, path);
    await page.getByText('Webhooks are for owners and admins').waitFor();
    await page.getByText('You are a member of it').waitFor();
    const { page: other } = await browser.signedIn(service.url, reader.key.secret, path, { width: 390, height: 844 });
    await other.getByText('This session only reads webhooks').waitFor();
    expect(await other.getByRole('button', { name: /^(Send a test|Edit|Disable|New secret|Recover|Delete)$/ }).count()).toBe(0); // prettier-ignore
  });
});
