import type { Page } from 'playwright-core';
import { changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const TASK = { content: '```bash\ntrue\n```', checks: [{ name: 'there', command: 'true' }] };

describeInBrowser('evaluations of an agent in the console', () => {
  const service = useService(() => bootWorker());
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await createAgent(owner.client, { name: 'The reviewer', instructions: 'One.' });
    await changeAgent(owner.client, 'reviewer', { instructions: 'Two.' });
  });
  const browser = useBrowser();

  const look = async (path: string, { key } = owner, screen = {}) =>
    (await browser.signedIn(service.url, key.secret, path, screen)).page;
  const press = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click();
  const isWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  const ended = async (title: string) => {
    const { id } = await createTask(owner.client, { ...TASK, title });
    await finished(owner.client, id);
    return id;
  };

  it('do tasks that have ended anew in versions, and show what each came to', async () => {
    await ended('Mend the mill');
    await ended('Oil the wheel');
    await createTask(owner.client, { content: '```ask\nWhich?\n```', title: 'Not over yet' });
    const page = await look('/console/agents/reviewer', owner, { width: 390, height: 844 });
    await press(page, 'Compare versions');
    await page.getByRole('checkbox', { name: 'Version 2, the newest' }).waitFor();
    expect(await page.getByRole('checkbox', { name: /^Version/ }).evaluateAll((all) => (all as { checked?: boolean }[]).map(({ checked }) => checked))).toEqual([true, true]); // prettier-ignore
    expect(await page.getByRole('button', { name: 'Begin' }).isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: /Mend the mill .*with checks/ }).check();
    expect(await page.getByText('Not over yet').count()).toBe(0);
    await page.getByRole('searchbox').fill('wheel');
    await page.getByRole('checkbox', { name: /Oil the wheel/ }).check();
    expect(await page.getByRole('checkbox', { name: /Mend the mill/ }).isChecked()).toBe(true);
    await page.getByRole('searchbox').fill('no such words');
    await page.getByLabel('How often each').selectOption('2 times');
    await page.getByText('Makes 8 tasks.').waitFor();
    await page.getByRole('checkbox', { name: /Oil the wheel/ }).uncheck();
    await page.getByLabel('How often each').selectOption('once');
    await page.getByText('Makes 2 tasks.').waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    await press(page, 'Begin');
    await reachesPath(page, /^\/console\/agents\/reviewer\/evaluations\/[-0-9a-f]{36}$/);
    await page.getByText('All tasks have ended').waitFor();
    const table = page.getByRole('table', { name: 'What they came to' });
    for (const version of [1, 2])
      await table.getByRole('row', { name: new RegExp(`^${version} 1 1 0 1 / 1 `) }).waitFor();
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    const { pathname } = new URL(page.url());
    await page.getByRole('table', { name: 'Its tasks' }).getByRole('link', { name: 'Task 1' }).first().click();
    await reachesPath(page, /^\/console\/tasks\/[-0-9a-f]{36}$/);
    const made = await readTask(owner.client, new URL(page.url()).pathname.split('/').at(-1) ?? '');
    expect(made).toMatchObject({ title: 'Mend the mill', agent: { slug: 'reviewer' }, metadata: { evaluation: pathname.split('/').at(-1) } }); // prettier-ignore
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: pathname },
      { 'an evaluation': (shown) => shown.getByText('All tasks have ended').waitFor() },
    );
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: '/console/agents/reviewer/evaluate' },
      { 'the form': (shown) => shown.getByRole('checkbox', { name: /Oil the wheel/ }).waitFor() },
    );
  });

  it('are refused by the service in its words, and begun by nobody who begins no tasks', async () => {
    const taskId = await ended('Mend the mill');
    const page = await look('/console/agents/reviewer/evaluate');
    await page.getByRole('checkbox', { name: /Mend the mill/ }).check();
    expect((await owner.client.delete(`/v1/tasks/${taskId}`)).status).toBe(200);
    browser.allow(/status of 404/);
    await press(page, 'Begin');
    await page.getByRole('form').getByRole('alert').getByText('There is no such task').waitFor();
    const viewer = await makeMember(service, { workspace: owner.workspace, role: 'viewer' });
    const other = await look('/console/agents/reviewer/evaluate', viewer);
    await other.getByText('you compare no versions').waitFor();
    expect(await other.getByRole('button', { name: 'Begin' }).count()).toBe(0);
  });
});
