// The pages of people who sign in by a provider, looked at by axe (reference §31).
import type { Page } from 'playwright-core';
import { bootApp, useService } from '../harness/app.js';
import { bringAxe, looksWell, THEMES, violations } from '../harness/axe.js';
import { makeMember } from '../harness/client.js';
import { MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('the pages of sign-in, looked at by axe (WCAG 2.2 AA)', () => {
  let provider: MockProvider;
  const service = useService(async () => {
    provider = await MockProvider.listen();
    return bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider) } });
  });
  const browser = useBrowser();
  afterAll(() => provider.close());

  it("has no violation where the provider's button stands, with a refusal and without", async () => {
    // Nobody is signed in, which the page asks first.
    browser.allow(/status of 401/);
    const found: string[] = [];
    for (const theme of THEMES) {
      const { page } = await browser.open(service.url, { theme });
      for (const [name, hash] of [
        ['sign-in', ''],
        ['sign-in-refused', '#sign-in=cancelled'],
      ] as const) {
        await page.goto('about:blank');
        await page.goto(`/console/${hash}`);
        await page.getByRole('link', { name: /^Continue with/ }).waitFor();
        if (hash !== '') await page.getByText('You were not signed in there').waitFor();
        await bringAxe(page);
        found.push(...(await violations(page, name, theme, [1440, 390])));
      }
    }
    expect(found).toEqual([]);
  });

  it('has none where a command is let in: the code, a wrong one, who asks, and the end', async () => {
    const { key } = await makeMember(service, { role: 'owner' });
    browser.allow(/status of 404/);
    const type = async (page: Page, code: string) => {
      await page.getByLabel('Code').fill(code);
      await page.getByRole('button', { name: 'Look' }).click();
    };
    const asks = async (page: Page) => {
      const answer = await fetch(`${service.url}/console/device`, { method: 'POST' });
      const { userCode } = (await answer.json()) as { userCode: string };
      await type(page, userCode);
      await page.getByRole('button', { name: 'Let it in' }).waitFor();
    };
    await looksWell(browser, { url: service.url, secret: key.secret, path: '/console/device' }, {
      device: (page) => page.getByLabel('Code').waitFor(),
      'device-wrong': async (page) => {
        await type(page, 'BCDF-GHJK');
        await page.getByText('No command waits under this code').waitFor();
      },
      'device-asks': asks,
      'device-done': async (page) => {
        await asks(page);
        await page.getByRole('button', { name: 'Let it in' }).click();
        await page.getByText('It is let in').waitFor();
      },
    });
  }); // prettier-ignore
});
