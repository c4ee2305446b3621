import type { Page } from 'playwright-core';
import { AGENTS, changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { readTask } from '../harness/tasks.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

describeInBrowser('agents in the console', () => {
  const service = useService(() => bootWorker());
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  const browser = useBrowser();

  const look = async (path = '/console/agents', { key } = owner, screen = {}) =>
    (await browser.signedIn(service.url, key.secret, path, screen)).page;
  const form = (page: Page) => page.getByRole('form');
  const field = (page: Page, name: string) => form(page).getByLabel(name, { exact: true });
  const press = (page: Page, name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click();
  const isWide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  const stored = async (slug = 'reviewer') =>
    (await owner.client.get<{ agent: object }>(`${AGENTS}/${slug}`)).body.agent;
  const started = async (page: Page) => {
    await reachesPath(page, /^\/console\/tasks\/[-0-9a-f]{36}$/);
    return readTask(owner.client, new URL(page.url()).pathname.split('/').at(-1) ?? '');
  };

  it('are made on a phone by a stranger, and tried at once; errors stand at their fields', async () => {
    const page = await look(undefined, owner, { width: 390, height: 844 });
    await page.getByText('There is no agent yet').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'New agent' }).first().click();
    await press(page, 'Create');
    await field(page, 'Short name').and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    await field(page, 'Short name').fill('Reviewer');
    await field(page, 'Name').fill('The reviewer');
    await field(page, 'Description').fill('For changes.');
    await field(page, 'Instructions').fill('Review the change.\nChange no file.');
    await form(page)
      .getByRole('checkbox', { name: /^write / })
      .check();
    await field(page, 'Approvals').selectOption({ index: 2 });
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    browser.allow(/status of 400/);
    await press(page, 'Create');
    await form(page).getByRole('alert').filter({ hasText: /^Short name must be 1 to 64 small letters/ }).waitFor(); // prettier-ignore
    await field(page, 'Short name').fill('reviewer');
    await press(page, 'Create');
    await page.getByText('The reviewer is made. Try it on a task.').waitFor();
    expect(await stored()).toMatchObject({
      ...{ slug: 'reviewer', name: 'The reviewer', description: 'For changes.', version: 1, approvals: 'writes' },
      ...{
        instructions: 'Review the change.\nChange no file.',
        tools: { deny: ['write'] },
        budget: null,
        channels: {},
      },
    });
    expect(await isWide(page)).toBeLessThanOrEqual(0);
    await press(page, 'Try it');
    await page
      .getByLabel('Agent')
      .locator('option:checked', { hasText: 'The reviewer' })
      .waitFor({ state: 'attached' });
    await page.getByLabel('What is to be done').fill('```bash\ntrue\n```');
    await press(page, 'Start the task');
    expect(await started(page)).toMatchObject({ agent: { slug: 'reviewer', version: 1 }, approvals: 'writes' });
  });

  it('get a version by a change, which is shown before it is saved, and two of them are compared', async () => {
    await createAgent(owner.client, { name: 'The reviewer', instructions: 'Look.\nThen say.' });
    const page = await look('/console/agents/reviewer');
    await press(page, 'Edit');
    await press(page, 'Save');
    await page.getByText('The reviewer is saved. It has no new version.').waitFor();
    await press(page, 'Edit');
    await field(page, 'Instructions').fill('Look twice.\nThen say.');
    await page.getByText('What is another than before').click();
    await form(page).getByRole('row', { name: /Look twice\./ }).waitFor(); // prettier-ignore
    await press(page, 'Add a channel');
    await field(page, 'Name of channel 1').fill('stable');
    await field(page, 'Version of channel 1').fill('one');
    await press(page, 'Save');
    await form(page).getByRole('alert').filter({ hasText: 'A version is a whole number above 0.' }).waitFor();
    await field(page, 'Version of channel 1').fill('1');
    await press(page, 'Save');
    await page.getByText('The reviewer is version 2 now.').waitFor();
    expect(await stored()).toMatchObject({ version: 2, channels: { stable: 1 } });
    await page.getByText('stable: version 1').waitFor();
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    await page.getByText('From version 1 to version 2').waitFor();
    const main = page.getByRole('main');
    await main.getByRole('row', { name: /Look twice\./ }).waitFor();
    await main.getByRole('row', { name: /Look\.$/ }).waitFor();
    await page.getByLabel('Version', { exact: true }).selectOption({ index: 1 });
    await page.getByText('This is version 1. The newest is version 2.').waitFor();
    const to = { url: service.url, secret: owner.key.secret };
    const whole = (shown: Page) => shown.getByText('Compare with').waitFor();
    await looksWell(
      browser,
      { ...to, path: '/console/agents/reviewer?against=1' },
      { 'a version beside another': whole },
    );
    await looksWell(
      browser,
      { ...to, path: '/console/agents/reviewer/edit' },
      { 'the form': (shown) => shown.getByRole('form').waitFor() },
    );
  });

  it('that somebody else has changed meanwhile are not overwritten: the form says so', async () => {
    await createAgent(owner.client, { name: 'The reviewer', instructions: 'One.' });
    const page = await look('/console/agents/reviewer/edit');
    await field(page, 'Instructions').fill('Mine.');
    await changeAgent(owner.client, 'reviewer', { instructions: 'Theirs.' });
    browser.allow(/status of 409/);
    await press(page, 'Save');
    await page.getByRole('alert').getByText('The agent is at version 2 by now').waitFor();
    expect(await stored()).toMatchObject({ version: 2, instructions: 'Theirs.' });
  });

  it('are taken by tasks and automations, with a channel or without, and stand in their details', async () => {
    await createAgent(owner.client, { name: 'The reviewer', channels: { stable: 1 } });
    await createAgent(owner.client, { slug: 'usual', name: 'The usual one', default: true });
    await changeAgent(owner.client, 'reviewer', { instructions: 'Two.' });
    const page = await look('/console/new');
    const begin = async (agent: string) => {
      await page.goto('/console/new');
      await page.getByLabel('What is to be done').fill('```bash\ntrue\n```');
      await page.getByLabel('Agent').selectOption(agent);
      await press(page, 'Start the task');
      return (await started(page)) as unknown as { agent: unknown };
    };
    expect((await begin('The usual one: The usual one')).agent).toEqual({ slug: 'usual', version: 1 });
    expect((await begin('None')).agent).toBeNull();
    expect((await begin('The reviewer · stable: version 1')).agent).toEqual({ slug: 'reviewer', version: 1 });
    expect((await begin('The reviewer')).agent).toEqual({ slug: 'reviewer', version: 2 });
    await page.getByRole('link', { name: 'reviewer, version 2' }).click();
    await reachesPath(page, /^\/console\/agents\/reviewer\?version=2$/);
    await page.goto('/console/automations/new');
    await page.getByLabel('Name', { exact: true }).fill('Nightly');
    await page.getByLabel('What each task is to do').fill('Review.');
    await page.getByLabel('Agent').selectOption('The reviewer · stable: version 1');
    await page.getByRole('main').getByRole('button', { name: /^Create/ }).click(); // prettier-ignore
    await page.getByRole('link', { name: 'reviewer@stable' }).waitFor();
    const { body } = await owner.client.get<{ automations: { agent: string }[] }>(AUTOMATIONS);
    expect(body.automations.map(({ agent }) => agent)).toEqual(['reviewer@stable']);
    await page.goto('/console/agents/reviewer');
    await page.getByRole('table', { name: 'How its versions do' }).getByRole('row', { name: /^2 1 / }).waitFor();
    browser.allow(/status of 409/);
    await press(page, 'Archive');
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText('An active automation names this agent').waitFor();
  });

  it('are archived and brought back, and only looked at by who did not make them', async () => {
    await createAgent(owner.client, { name: 'The reviewer' });
    const member = await makeMember(service, { workspace: owner.workspace });
    const other = await look('/console/agents/reviewer', member);
    await other.getByText('You may look at agents').waitFor();
    expect(await other.getByRole('button', { name: /^(Edit|Archive)$/ }).count()).toBe(0);
    await other.getByRole('button', { name: 'Try it' }).waitFor();
    const page = await look('/console/agents/reviewer');
    await press(page, 'Archive');
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByText('The reviewer is archived.').waitFor();
    expect(await page.getByRole('button', { name: 'Try it' }).count()).toBe(0);
    await press(page, 'Bring it back');
    await page.getByText('The reviewer takes tasks again.').waitFor();
    expect(await stored()).toMatchObject({ version: 1, archived: false });
  });
});
