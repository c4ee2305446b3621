import { bootApp, useService } from '../../../test/harness/app.js';
import { type ErrorBody, makeMember } from '../../../test/harness/client.js';
import { createTask } from '../../../test/harness/tasks.js';
import { REVIEWS } from './reviews.extension.js';

interface ReviewBody {
  review: { id: string };
}

describe('Reviews of a task', () => {
  const config = { extensions: { reviews: { perTask: 1 } } };
  const service = useService(() => bootApp({ extensions: [REVIEWS], config }));

  it('are written and read, no more of them than the configuration says', async () => {
    const { client } = await makeMember(service);
    const { id } = await createTask(client, { content: 'Something.' });
    const path = `/v1/tasks/${id}/reviews`;
    const made = await client.post<ReviewBody>(path, { rating: 5, text: 'Well done.' });
    expect(made.status).toBe(201);
    expect((await client.get(`/v1/reviews/${made.body.review.id}`)).body).toEqual(made.body);
    const { status, body } = await client.post<ErrorBody>(path, { rating: 1, text: 'Once more.' });
    expect([status, body.error.code]).toEqual([409, 'too_many_reviews']);
  });
});
