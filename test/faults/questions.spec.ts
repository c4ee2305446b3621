import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { createTask, finished, reaches, readMessages } from '../harness/tasks.js';
import { readTold } from './history.js';
import { World } from './world.js';

const QUESTION = 'Which?\n\n```ask\nWhich one?\n```\n\n```sh\nprintf %s "$ANSWER"\n```\n';

describe('A question when every process dies (reference §4)', () => {
  let db: TestDatabase;
  let world: World;
  beforeAll(async () => {
    db = await createDatabase();
    world = await World.start({ databaseUrl: db.url, workers: 1, leaseSeconds: 2 });
  });
  afterAll(async () => {
    await world.close();
    await db.drop();
  });

  it('is still asked afterwards; of two answers at two processes one is taken, and later ones are stale', async () => {
    const { id } = await createTask(clientOf(world.api.url), { content: QUESTION, model: 'runbook' });
    const asked = await reaches(clientOf(world.api.url), id, 'awaiting_input');
    await world.killAll();
    world.api = await world.startApi();
    const apis = [world.api, await world.startApi()].map(({ url }) => clientOf(url));
    const [first] = apis as [Client];
    expect(await reaches(first, id, 'awaiting_input')).toEqual(asked);

    const answer = (client: Client, content: string) =>
      client.post(`/v1/tasks/${id}/interaction`, { interactionId: asked.pendingInteraction?.id, content });
    const answers = await Promise.all(apis.map((client, n) => answer(client, `answer-${n}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    expect(await answer(first, 'too late')).toMatchObject({
      status: 409,
      body: { error: { code: 'interaction_not_pending' } },
    });

    await world.startWorker(0);
    await world.workersAreUp();
    expect(await finished(first, id)).toMatchObject({ status: 'completed' });
    const results = (await readMessages(first, id)).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === 'tool_result'),
    );
    const taken = `answer-${answers.findIndex(({ status }) => status === 202)}`;
    expect(results.map(({ output }) => output)).toMatchObject([{ content: taken }, { stdout: taken }]);
    const { numbers, messages } = await readTold(db, world.api.url, id);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(messages).toEqual(await readMessages(first, id));
  });

  function clientOf(url: string): Client {
    return new Client(url, world.secret);
  }
});
