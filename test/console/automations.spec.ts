import type { Locator, Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, type RunBody } from '../harness/automation-requests.js';
import { type Client, makeMember } from '../harness/client.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const HELLO = '```bash\necho hello\n```\n';

const WORDS: Record<string, string> = {
  '* * * * *': 'Every minute.',
  '*/15 * * * *': 'Every 15 minutes.',
  '0 * * * *': 'Every hour.',
  '5,35 * * * *': 'At the minutes 5 and 35 of every hour.',
  '*/10 8-17 * * 1-5': 'Every 10 minutes from 08:00 to 17:59, Monday to Friday.',
  '30 8-18 * * *': 'Every hour from 08:30 to 18:30, every day.',
  '0 */6 * * *': 'Every 6 hours from midnight.',
  '0 9,17 * * *': 'At 09:00 and 17:00, every day.',
  '0 9 1,15 * *': 'At 09:00, on the 1st and 15th of the month.',
  '0 0 1 1,7 *': 'At 00:00, on the 1st of the month, in January and July.',
  '0 12 * * 6,0': 'At 12:00, on Saturday and Sunday.',
  '0 8 * * fri-sun': 'At 08:00, Friday to Sunday.',
  '0 0 13 * 5': 'At 00:00, on the 13th of the month, and also on Friday.',
  '0 9 * FEB mon': 'At 09:00, on Monday, in February.',
  '0 0 30 2 *': 'This date does not exist, so it never comes.',
  'at nine': 'This is no schedule yet: five fields are expected.',
};

async function theOnly(client: Client): Promise<AutomationBody> {
  const { automations } = (await client.get<{ automations: AutomationBody[] }>(AUTOMATIONS)).body;
  const [automation] = automations;
  if (automation === undefined || automations.length > 1) throw new Error(`There are ${automations.length}.`);
  return automation;
}

/** By the tab key alone. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('The tab key does not lead there.');
}

describeInBrowser('automations in the console', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();

  it('are made, fired, followed to their task, and paused by keyboard', async () => {
    const { key, client } = await makeMember(service);
    const { page } = await browser.signedIn(service.url, key.secret);
    const press = async (name: string) => {
      await tabTo(page, page.getByRole('button', { name, exact: true }).first());
      await page.keyboard.press('Enter');
    };
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByText('No automation yet').waitFor();
    await press('New automation');
    await reachesPath(page, /^\/console\/automations\/new$/);
    await page.keyboard.type('Nightly');
    const cron = page.getByLabel('Schedule', { exact: true });
    await tabTo(page, cron);
    const said = page.getByRole('region', { name: 'When', exact: true }).getByRole('status');
    for (const [expression, words] of Object.entries(WORDS)) {
      await cron.fill(expression);
      await until(`${expression} to be “${words}”`, async () => (await said.textContent()) === words);
    }
    // What is wrong is said by the service, at its field, with the name that the page has for it.
    await cron.fill('61 9 * * 1-5');
    await tabTo(page, page.getByLabel('What each task is to do'));
    await page.keyboard.insertText(HELLO);
    browser.allow(/status of 400/);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('alert').getByText('Schedule: the minute takes *, numbers (0 to 59)').waitFor();
    await cron.and(page.locator(':focus')).waitFor();
    expect(await cron.getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('Control+A');
    // In both halves of the year, whose clocks differ.
    await page.keyboard.type('30 9 1 1,7 *');
    const shown = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[aria-label="The next five times"] li > time')].map((one) => one.dateTime)`,
    );
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'Nightly', level: 1 }).waitFor();
    const made = await theOnly(client);
    expect(made).toMatchObject({ cron: '30 9 1 1,7 *', timezone: 'Europe/Berlin', overlap: 'skip' });
    expect(made.upcomingRunsAt).toHaveLength(5);
    expect(shown).toEqual(made.upcomingRunsAt);
    await page.getByText('At 09:30, on the 1st of the month, in January and July (Europe/Berlin)').waitFor();

    await press('Run now');
    const link = page.getByRole('link', { name: 'Open the task' }).first();
    await tabTo(page, link);
    await page.keyboard.press('Enter');
    await reachesPath(page, /^\/console\/tasks\/[0-9a-f-]{36}$/);
    const taskId = page.url().split('/').at(-1);
    expect((await client.get(`/v1/tasks/${taskId}`)).body['task']).toMatchObject({ source: { automationId: made.id } });
    await page.goBack();
    const runs = page.getByRole('region', { name: 'Runs' }).getByRole('listitem');
    await runs.filter({ hasText: 'by hand' }).waitFor();
    // Events tell of what happens elsewhere.
    await client.post(`${AUTOMATIONS}/${made.id}/run`);
    await until('two runs to be listed', async () => (await runs.count()) === 2);
    await press('Pause');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect((await theOnly(client)).status).toBe('paused');
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('link', { name: /Nightly.*Paused/ }).waitFor();
  });

  it('are made by mouse on an event, with a filter that is tried; the delivery leads to its task', async () => {
    const member = await makeMember(service);
    const { client, key } = member;
    const connection = await connect(service, member);
    const { page } = await browser.signedIn(service.url, key.secret, '/console/integrations');
    await page.getByRole('link', { name: /^GitHub.*Connected/ }).click();
    await page.getByText('Nothing has arrived yet.').waitFor();
    await page.getByRole('searchbox', { name: 'Find an event' }).fill('github.push');
    await page.getByRole('link', { name: 'Automate github.push' }).click();
    await page.getByLabel('Name').fill('On a push');
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('github.push');
    await page.getByLabel('What each task is to do').fill(HELLO);
    const filter = page.getByLabel('Filter', { exact: true });
    await filter.fill('ref ==');
    browser.allow(/status of 400/);
    await page.getByRole('button', { name: 'Create the automation' }).click();
    await page.getByRole('alert').filter({ hasText: 'filter:' }).waitFor();
    await filter.fill("ref == 'refs/heads/main'");
    await page.getByText('Try the filter').click();
    const sample = page.getByLabel('Payload of an event, as JSON');
    for (const [branch, verdict] of [['side', 'No run would start.'], ['main', 'A run would start.']] as const) {
      await sample.fill(JSON.stringify({ ref: `refs/heads/${branch}` }));
      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByText(verdict).waitFor();
    } // prettier-ignore
    // The verdict is of what was tried.
    await filter.fill("ref == 'refs/heads/main' ");
    await page.getByText('A run would start.').waitFor({ state: 'detached' });
    await page.getByText('Budget', { exact: true }).click();
    const steps = page.getByLabel('Steps', { exact: true });
    await steps.fill('1,000');
    await page.getByRole('button', { name: 'Create the automation' }).click();
    await until('the budget to be refused', async () => (await steps.getAttribute('aria-invalid')) === 'true');
    await steps.fill('1000');
    await page.getByRole('button', { name: 'Create the automation' }).click();
    await page.getByText('On github.push, if the filter holds').waitFor();

    await deliver(service, `/hooks/${connection.id}`, github(connection.secret ?? ''));
    await deliver(service, `/hooks/${connection.id}`, github('another secret'));
    // Its event brings the run.
    const run = page.getByRole('region', { name: 'Runs' }).getByRole('listitem').filter({ hasText: 'github.push' });
    await run.filter({ hasText: 'Started' }).waitFor();
    await page.goto('/console/integrations/github');
    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    await deliveries.getByText('Bad signature').waitFor();
    const accepted = deliveries.getByRole('listitem').filter({ hasText: 'Accepted' });
    await accepted.getByText('1 run').click();
    await accepted.getByRole('link', { name: 'open its task' }).click();
    const { body } = await client.get<{ runs: RunBody[] }>(`${AUTOMATIONS}/${(await theOnly(client)).id}/runs`);
    await reachesPath(page, new RegExp(`/tasks/${body.runs[0]?.taskId}$`));

    await page.goto('/console/automations');
    await page.getByRole('link', { name: /On a push/ }).click();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('button', { name: 'Once' }).click();
    await page.getByLabel('Day and time').fill('2090-05-06T07:08');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The automation is changed.').waitFor();
    // The browser's clock is Berlin's.
    expect(await theOnly(client)).toMatchObject({
      runAt: '2090-05-06T05:08:00.000Z',
      triggerEvent: null,
      filter: null,
    });
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No automation yet').waitFor();
    expect((await client.get(AUTOMATIONS)).body['automations']).toEqual([]);
  });

  it('are shown without what one may not do, and say why; nothing is asked that would be refused', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const project = await owner.client.post<{ project: { id: string } }>('/v1/projects', { name: 'Mill', visibility: 'workspace' }); // prettier-ignore
    const made = await owner.client.post<{ automation: { id: string } }>(AUTOMATIONS, {
      ...{ name: 'Of the owner', content: HELLO, cron: '0 9 * * *', projectId: project.body.project.id },
    });
    const path = `/console/automations/${made.body.automation.id}`;
    const workspace = owner.workspace;
    const member = await makeMember(service, { workspace });
    const reader = await makeMember(service, { workspace, scopes: ['automations:read'] });
    const outsider = await makeMember(service, { workspace, scopes: ['tasks:read'] });
    const cases = [
      [member, /owns it: .* may change it/],
      [reader, /This session only reads automations/],
      [outsider, /It needs the scope automations:read/],
    ] as const;
    for (const [{ key }, sentence] of cases) {
      const { page } = await browser.signedIn(service.url, key.secret, path);
      await page.getByText(sentence).waitFor();
      expect(await page.getByRole('button', { name: /^(Run now|Pause|Edit|Delete)$/ }).count()).toBe(0);
    }
    browser.allow(/status of 404/);
    const gone = '/console/automations/01a2047b-2baf-772d-b7a8-6b80d6175e36';
    const { page } = await browser.signedIn(service.url, member.key.secret, gone);
    await page.getByText('There is nothing here').waitFor();
    await page.getByRole('button', { name: 'Back to Automations' }).click();
    await page.getByRole('link', { name: /Of the owner/ }).waitFor();
  });
});
