import { useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { makeKey } from '../harness/keys.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('a fork of a task', () => {
  let model: HeldModel;
  let member: Member;
  /** Has two turns. */
  let taskId: string;
  beforeAll(async () => {
    model = await HeldModel.start();
  });
  afterAll(() => model.server.stop());
  const service = useService(() => bootWithModels(model));
  const browser = useBrowser();
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    taskId = (await createTask(member.client, { model: 'scripted', content: 'One.', title: 'The first way' })).id;
    await turn(taskId, 'One is done.');
    await member.client.post(`/v1/tasks/${taskId}/messages`, { content: 'Two.' });
    await turn(taskId, 'Two is done.');
  });

  async function turn(id: string, text: string): Promise<void> {
    (await model.asked()).answer(bash(`echo ${text} >> said.txt`));
    (await model.asked()).answer({ text });
    await finished(member.client, id);
  }
  const look = async (secret = member.key.secret) =>
    (await browser.signedIn(service.url, secret, `/console/tasks/${taskId}`)).page;
  const forks = async () => {
    const { body } = await member.client.get<{ tasks: { id: string }[] }>('/v1/tasks');
    return body.tasks.filter(({ id }) => id !== taskId);
  };

  it('begins at the end of a turn, goes on with its message, and names what it was made of', async () => {
    const page = await look();
    await page.getByRole('button', { name: 'Fork from here, turn 2' }).waitFor();
    await page.getByRole('button', { name: 'Fork from here, turn 1' }).click();
    await page.getByLabel('Next message').fill('Another way.');
    await page.getByLabel('Title').fill('The second way');
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('heading', { name: 'The second way' }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await readTask(member.client, id)).toMatchObject({ forkedFrom: { taskId, turn: 1 } });
    // The last turn is not over: only the one before it has a button.
    const asked = await model.asked();
    await page.getByText('One is done.', { exact: true }).waitFor();
    await page.getByText('Another way.', { exact: true }).waitFor();
    expect(await page.getByText('Two is done.', { exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Fork from here, turn 1' }).waitFor();
    const ofLast = page.getByRole('button', { name: 'Fork from here, turn 2' });
    expect(await ofLast.count()).toBe(0);
    asked.answer({ text: 'Done otherwise.' });
    await ofLast.waitFor();
    await page.getByRole('link', { name: 'turn 1 of another task' }).click();
    await page.getByRole('heading', { name: 'The first way' }).waitFor();
    await page.getByText('Two is done.', { exact: true }).waitFor();
  });

  it('is made once, also when the answer is lost', async () => {
    const before = await forks();
    const page = await look();
    browser.allow(/ERR_/);
    const keys: (string | undefined)[] = [];
    await page.route('**/fork', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Fork from here, turn 2' }).click();
    const fork = page.getByRole('dialog').getByRole('button', { name: 'Fork' });
    await fork.click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    const sent = keys.length;
    await page.unroute('**/fork');
    await page.route('**/fork', async (route) => {
      keys.push(route.request().headers()['idempotency-key']);
      await route.continue();
    });
    await fork.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until('the page of the fork', () => !page.url().endsWith(taskId));
    expect(keys.length).toBeGreaterThan(sent);
    expect(new Set(keys).size).toBe(1);
    expect(await forks()).toHaveLength(before.length + 1);
    // It waits for a message, with the last answer as its own.
    await page.getByRole('heading', { name: 'The first way' }).waitFor();
    await page.getByRole('link', { name: 'turn 2 of another task' }).waitFor();
  });

  it('says so when the folder of the turn is kept no more, and leads on when the original is gone', async () => {
    const { id } = await createTask(member.client, { model: 'scripted', content: 'Begin.', title: 'Short-lived' });
    await turn(id, 'Begun.');
    const page = await look();
    await page.goto(`/console/tasks/${id}`);
    const button = page.getByRole('button', { name: 'Fork from here, turn 1' });
    await button.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('link', { name: 'turn 1 of another task' }).waitFor();
    await service.db.query('DELETE FROM snapshots WHERE task_id = $1', [id]);
    await page.goto(`/console/tasks/${id}`);
    browser.allow(/status of 409/, /status of 404/);
    await button.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click();
    await page.getByRole('alert').getByText('The folder of this turn is not kept any more').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.goBack();
    await page.getByRole('link', { name: 'turn 1 of another task' }).waitFor();
    await member.client.delete(`/v1/tasks/${id}`);
    await page.getByRole('link', { name: 'turn 1 of another task' }).click();
    await page.getByText('There is no such task').waitFor();
  });

  it.each([[['tasks:read', 'files:read']], [['tasks:read', 'tasks:write']]] as const)(
    'is not offered with the scopes %s alone',
    async (scopes) => {
      const key = await makeKey(member.client, { scopes: [...scopes] });
      const page = await look(key.secret);
      await page.getByText('Two is done.', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Fork from here' }).count()).toBe(0);
    },
  );

  it('has a dialog that looks well', () =>
    looksWell(
      browser,
      { url: service.url, secret: member.key.secret, path: `/console/tasks/${taskId}` },
      {
        dialog: async (page) => {
          await page.getByRole('button', { name: 'Fork from here, turn 1' }).click();
          await page.getByLabel('Next message').waitFor();
        },
      },
    ));
});
