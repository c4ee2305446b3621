import { useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

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
});
