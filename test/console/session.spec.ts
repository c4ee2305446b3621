import { useService, bootWorker } from '../harness/app.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';
import { makeMember } from '../harness/client.js';

describeInBrowser('the console, signed in', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();

  it('takes a key and keeps none, signs in until one signs out, in all tabs', async () => {
    const { key } = await makeMember(service);
    const { context, page } = await browser.signedIn(service.url, key.secret);
    await reachesPath(page, /^\/console\/tasks$/);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    // As text: the types of the browser are not those of the tests.
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).not.toContain(key.secret);
    const other = await context.newPage();
    await other.goto('/console/settings');
    await other.getByRole('navigation', { name: 'Console' }).waitFor();
    // What the first tab still asks before it is told.
    browser.allow(/status of 401/);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Millwright' }).waitFor();
    expect(await context.cookies()).toEqual([]);
  });
});
