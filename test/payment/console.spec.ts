import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';
import { FakeStripe } from './fake-stripe.js';

const BUTTONS = /^(Upgrade|Top up|Manage)$/;

describeInBrowser('the console: payment', () => {
  const folder = temporaryFolder();
  let stripe: FakeStripe;
  const paid = useService(async () => {
    stripe = await FakeStripe.start();
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify(stripe.config()));
    return bootApp({ env: { CONFIG_FILE: file, ...stripe.env } });
  });
  const unpaid = useService();
  const browser = useBrowser();
  afterAll(async () => {
    await stripe.stop();
    folder.remove();
  });

  it('leads an owner to pages of Stripe: to upgrade, to top up by an amount, and to manage it all', async () => {
    const { key } = await makeMember(paid, { plan: 'free', role: 'owner' });
    const { page, context } = await browser.signedIn(paid.url, key.secret, '/console/usage');
    const visited: string[] = [];
    await context.route(/stripe\.test/, (route) => {
      visited.push(route.request().url());
      return route.fulfill({ contentType: 'text/html', body: '<title>A page of Stripe</title>' });
    });
    browser.allow(/^foreign: https:\/\/\w+\.stripe\.test\//);
    const leave = async (name: string, choose?: string) => {
      await page.goto('/console/usage');
      if (choose !== undefined) await page.getByLabel('Amount of the top-up').selectOption(choose);
      await page.getByRole('button', { name, exact: true }).click();
      await until('the page of Stripe', async () => (await page.title()) === 'A page of Stripe');
    };
    await leave('Upgrade');
    await leave('Top up', '$50.00');
    await leave('Manage');
    expect(visited.map((url) => new URL(url).hostname)).toEqual(['checkout.stripe.test', 'checkout.stripe.test', 'billing.stripe.test']);
    const [plan, topUp] = [...stripe.sessions.values()];
    expect([plan?.mode, topUp?.asked['line_items[0][price_data][unit_amount]']]).toEqual(['subscription', '5000']);
    expect(plan?.asked['success_url']).toBe(`${paid.url}/console/usage`);
  }); // prettier-ignore

  it('offers an owner who has subscribed no second subscription, and says that a payment is late', async () => {
    const { key, workspace } = await makeMember(paid, { role: 'owner' });
    await paid.db.query(`UPDATE workspaces SET subscription_status = 'past_due' WHERE id = $1`, [workspace.id]);
    const { page } = await browser.signedIn(paid.url, key.secret, '/console/usage');
    await page.getByRole('button', { name: 'Manage', exact: true }).waitFor();
    await page.getByText('A payment is late.').waitFor();
    expect(await page.getByRole('button', { name: 'Upgrade' }).count()).toBe(0);
  });

  it('shows none of it to members, and nobody where nothing is sold', async () => {
    const member = await makeMember(paid, { role: 'member' });
    const owner = await makeMember(unpaid, { role: 'owner' });
    for (const [url, secret] of [
      [paid.url, member.key.secret],
      [unpaid.url, owner.key.secret],
    ] as const) {
      const { page } = await browser.signedIn(url, secret, '/console/usage');
      await page.getByRole('region', { name: 'Plan' }).getByText('Storage', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: BUTTONS }).count()).toBe(0);
    }
  });
});
