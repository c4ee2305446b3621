import { bootWorker, useService } from '../../../test/harness/app.js';
import { type ErrorBody, makeMember } from '../../../test/harness/client.js';
import { ModelServer } from '../../../test/harness/model-server.js';
import { call, finished, readResults, runTask, script } from '../../../test/harness/tasks.js';
import { createWebhook, deliveriesOf, HERE, Receiver } from '../../../test/harness/webhooks.js';
import { REVIEWS } from './reviews.extension.js';

describe('Reviews of a task', () => {
  let model: ModelServer;
  let receiver: Receiver;
  const service = useService(async () => {
    [model, receiver] = await Promise.all([ModelServer.start(), Receiver.listen()]);
    const env = { OPENAI_COMPATIBLE_URL: model.url, ...HERE };
    return bootWorker({ extensions: [REVIEWS], config: { extensions: { reviews: { perTask: 1 } } }, env });
  });
  afterAll(() => Promise.all([model.stop(), receiver.close()]));

  it('are written, told to a webhook, read by the agent, filtered and deleted', async () => {
    const { client } = await makeMember(service, { role: 'owner' });
    const { webhook } = await createWebhook(client, { url: receiver.url('/'), types: ['reviews.created'] });
    // A worker works on the task; the model answers with what its text says: one call, then words.
    const task = await runTask(client, script({ text: 'Done.' }));
    const path = `/v1/tasks/${task.id}/reviews`;
    const made = await client.post<{ review: { id: string } }>(path, { rating: 2, text: 'Too slow.' });
    const { id } = made.body.review;
    const [told] = await receiver.gets('/');
    expect(told?.event).toMatchObject({ type: 'reviews.created', data: { taskId: task.id, reviewId: id, rating: 2 } });
    expect(await deliveriesOf(client, webhook.id, 'type=reviews.created')).toHaveLength(1);

    const content = script(call('read_reviews', {}), { text: 'I see.' });
    await client.post(`/v1/tasks/${task.id}/messages`, { content });
    await finished(client, task.id);
    const [read] = await readResults(client, task.id);
    expect(read?.output).toEqual({ reviews: [{ rating: 2, text: 'Too slow.' }] });

    const second = await client.post<ErrorBody>(path, { rating: 1, text: 'Once more.' });
    expect([second.status, second.body.error.code]).toEqual([409, 'too_many_reviews']);
    expect((await client.get(`${path}?rating=3`)).body).toEqual({ reviews: [], nextCursor: null });
    expect((await client.delete(`/v1/reviews/${id}`)).body).toEqual({ deleted: true, id });
    expect((await client.get(`/v1/reviews/${id}`)).status).toBe(404);
  });
});
