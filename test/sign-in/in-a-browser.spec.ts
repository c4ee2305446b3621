// People, a real browser, and a real provider with pages of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bootApp, type TestApp } from '../harness/app.js';
import { CLIENT, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { freePort } from '../harness/ports.js';
import { makeWorkspace } from '../harness/sign-in.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const PROVIDER = fileURLToPath(new URL('../harness/oidc-provider.mjs', import.meta.url));

describeInBrowser('Sign-in in a browser (reference §31)', () => {
  const browser = useBrowser();
  let service: TestApp;
  let provider: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const [port, own] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${port}`;
    service = await bootApp({ env: { ...SECRET_ENV, PORT: String(own) }, config: { signIn: signInBy({ url }) } });
    await makeWorkspace(service, 'acme');
    provider = spawn(process.execPath, [PROVIDER, String(port), service.url, CLIENT.secret], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    provider.stdout?.on('data', (chunk) => (said += String(chunk)));
    await until('the provider to listen', () => said.includes('ready'), { within: 60_000 });
  }, 120_000);
  afterAll(async () => {
    provider?.kill();
    await service?.close();
  });

  it('a stranger signs in through the provider and is led to the page that was asked for; the sign-out ends both sessions', async () => {
    // The page of the provider is another origin, and the first question of ours is who it is.
    browser.allow(/./);
    const { context, page } = await browser.open(service.url);
    await page.goto('/console/settings');
    await page.getByRole('heading', { name: 'Sign in to Millwright' }).waitFor();
    await page.getByLabel('Key', { exact: true }).waitFor();
    await page.getByRole('link', { name: `Continue with ${new URL(url).host}` }).click();
    await page.waitForURL(`${url}/**`);
    await page.locator('input[name=login]').fill('grace');
    await page.locator('input[name=password]').fill('x');
    await page.locator('button[type=submit]').click();
    // It asks whether the service may know who it is.
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${service.url}/console/settings`);
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
    await page.getByText('grace').first().waitFor();
    // Where members come from, and who signs them in: admins see that.
    await service.db.query(
      `UPDATE memberships m SET role = 'admin' FROM users u WHERE u.id = m.user_id AND u.email = 'grace@acme.example'`,
    );
    await page.goto('/console/settings?part=members');
    const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'grace' });
    await row.getByText('by a rule of sign-in').waitFor();
    await row.getByText(`signs in with ${new URL(url).host}`).waitFor();
    const cookies = await context.cookies(service.url);
    expect(cookies.filter(({ name }) => name.startsWith('millwright_'))).toMatchObject([
      { httpOnly: true, sameSite: 'Strict' },
    ]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${url}/session/end**`);
    await page.getByRole('button', { name: /yes/i }).click();
    await page.waitForURL(`${service.url}/console/`);
    await page.getByRole('heading', { name: 'Sign in to Millwright' }).waitFor();
    // Nobody is signed in at the provider any more: it asks who it is again.
    await page.getByRole('link', { name: /^Continue with/ }).click();
    await page.locator('input[name=login]').waitFor();
  });

  it('a person who says no at the provider reads that in words, and lets a command in after signing in', async () => {
    browser.allow(/./);
    const { page } = await browser.open(service.url);
    await page.goto('/console/#sign-in=cancelled');
    await page.getByText('You were not signed in there').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    const answer = await fetch(`${service.url}/console/device`, { method: 'POST' });
    const { userCode } = (await answer.json()) as { userCode: string };
    await page.goto('/console/device');
    await page.getByRole('link', { name: /^Continue with/ }).click();
    await page.locator('input[name=login]').fill('joan');
    await page.locator('input[name=password]').fill('x');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await reachesPath(page, /^\/console\/device$/);
    await page.getByLabel('Code').fill(userCode);
    await page.getByRole('button', { name: 'Look' }).click();
    await page.getByText('127.0.0.1').waitFor();
    await page.getByRole('button', { name: 'Let it in' }).click();
    await page.getByText('It is let in').waitFor();
  });
});
