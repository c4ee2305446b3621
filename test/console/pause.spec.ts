import { useService } from '../harness/app.js';
import { type Client, makeMember } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

describeInBrowser('the page of a task', () => {
  let model: HeldModel;
  beforeAll(async () => {
    model = await HeldModel.start();
  });
  afterAll(() => model.server.stop());
  const service = useService(() => bootWithModels(model));
  const browser = useBrowser();

  it('pauses and resumes it, and says that it is paused and when it goes on', async () => {
    const { client, key } = await makeMember(service, { role: 'owner' });
    const { id } = await createTask(client, { model: 'scripted', content: 'Begin.' });
    const { page } = await browser.signedIn(service.url, key.secret, `/console/tasks/${id}`);
    await model.asked();
    await page.getByRole('button', { name: 'Pause' }).click();
    await until('the task to be paused', async () => (await readTask(client, id)).status === 'queued');
    await page.getByText('Paused', { exact: true }).waitFor();
    await client.post(`/v1/tasks/${id}/pause`, { resumeAt: new Date(Date.now() + 7_200_000).toISOString() });
    await page.getByText(/^Paused, goes on in 2 h/).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    (await model.asked()).answer({ text: 'Done.' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    await page.getByRole('button', { name: 'Pause' }).waitFor({ state: 'detached' });
  });

  it('pauses it until a time that one chooses, and changes that time', async () => {
    const { client, key } = await makeMember(service, { role: 'owner' });
    const { id } = await createTask(client, { model: 'scripted', content: 'Begin.' });
    const { page } = await browser.signedIn(service.url, key.secret, `/console/tasks/${id}`);
    await model.asked();
    const choose = async (at: string) => {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Pause until …' }).click();
      await page.getByLabel('When it goes on').fill(at);
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    };
    // A time that has been is refused.
    browser.allow(/status of 400/);
    await choose('2001-01-01T09:00');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('When it goes on').fill('2099-01-01T09:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    // By the clock of the browser, which is in Berlin.
    await until('the first time', async () => (await resumesAt(client, id)) === '2099-01-01T08:00:00.000Z');
    await page.getByText(/^Paused, goes on/).waitFor();
    await choose('2099-07-01T09:00');
    await until('the second time', async () => (await resumesAt(client, id)) === '2099-07-01T07:00:00.000Z');
    await client.post(`/v1/tasks/${id}/cancel`);
  });

  it('is told at its making, and later, to wait for what blocks it', async () => {
    const { client, key } = await makeMember(service, { role: 'owner' });
    const { page } = await browser.signedIn(service.url, key.secret, '/console/new');
    await page.getByLabel('What is to be done').fill('Wait if you must.');
    await page.getByLabel('Model').selectOption('scripted');
    await page
      .getByRole('group', { name: 'When a limit or an outage blocks it' })
      .getByRole('button', { name: 'Wait' })
      .click();
    await page.getByRole('button', { name: 'Start the task' }).click();
    const { answer } = await model.asked();
    // The worker may ask the model before the page has shown its task.
    await reachesPath(page, /^\/console\/tasks\/[0-9a-f-]{36}$/);
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const whenBlocked = async () => ((await readTask(client, id)) as { whenBlocked?: string }).whenBlocked;
    expect(await whenBlocked()).toBe('wait');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel('When a limit or an outage blocks it').selectOption('Fail');
    await page.getByRole('button', { name: 'Save' }).click();
    await until('the change', async () => (await whenBlocked()) === 'fail');
    answer({ text: 'Done.' });
    await finished(client, id);
  });
});

const resumesAt = async (client: Client, id: string) =>
  ((await readTask(client, id)) as { resumesAt?: string }).resumesAt;
