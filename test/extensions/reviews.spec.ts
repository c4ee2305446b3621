import { ChoreRunner } from 'millwright';
import { DataSource } from 'typeorm';
import { bootApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { Operator } from '../harness/operator.js';
import { createTask } from '../harness/tasks.js';
import { REVIEW_UPKEEP, ReviewUpkeep } from './review-upkeep.js';
import { REVIEWS } from './reviews/reviews.extension.js';

interface ReviewBody {
  review: { id: string; taskId: string; rating: number; text: string; createdAt: string };
}
interface Rates {
  capacity: number;
  windowSeconds: number;
}

const config = {
  extensions: { reviews: { perTask: 3 }, 'review-upkeep': { keepDays: 30 } },
  rateLimits: { paid: { policies: { review_write: { capacity: 61 } } } },
};

describe('An extension with a resource of its own (docs/extending.md)', () => {
  const service = useService(() => bootApp({ extensions: [REVIEWS, REVIEW_UPKEEP], config }));
  let member: Member;
  let taskId: string;

  beforeAll(async () => {
    member = await makeMember(service);
  });
  beforeEach(async () => {
    taskId = (await createTask(member.client, { content: 'Something.' })).id;
  });

  const review = (client: Client, rating = 5) =>
    client.post<ReviewBody & ErrorBody>(`/v1/tasks/${taskId}/reviews`, { rating, text: 'Well done.' });

  it('brings a table that stands to the tasks in a relation, by a migration with a record of its own', async () => {
    expect(await service.db.query('SELECT name FROM migrations_reviews')).toEqual([{ name: 'Reviews1795564800001' }]);
    const recorded = 'SELECT 1 FROM migrations WHERE name LIKE $1';
    expect(await service.db.query(recorded, ['Reviews%'])).toEqual([]);
    const { upQueries } = await service.app.get(DataSource).driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('runs its migrations once: a second process finds them done', async () => {
    const second = await bootApp({ extensions: [REVIEWS], db: service.db });
    await second.close();
    expect(await service.db.query('SELECT name FROM migrations_reviews')).toHaveLength(1);
  });

  it('brings routes: written once for its Idempotency-Key, read one by one and in pages', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const path = `/v1/tasks/${taskId}/reviews`;
    const made = await member.client.post<ReviewBody>(path, { rating: 4, text: 'Good.' }, { headers });
    const again = await member.client.post<ReviewBody>(path, { rating: 4, text: 'Good.' }, { headers });
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/reviews/${made.body.review.id}`]);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([made.text, 'true']);
    expect(made.body.review).toMatchObject({ taskId, rating: 4, text: 'Good.' });
    expect((await member.client.get(`/v1/reviews/${made.body.review.id}`)).body).toEqual(made.body);
    const second = await review(member.client);
    const first = await member.client.get<{ reviews: object[]; nextCursor: string }>(`${path}?limit=1`);
    expect(first.body.reviews).toEqual([second.body.review]);
    const next = await member.client.get(`${path}?limit=1&cursor=${first.body.nextCursor}`);
    expect(next.body).toEqual({ reviews: [made.body.review], nextCursor: null });
    const wrong = await member.client.post<ErrorBody>(path, { rating: 6, text: 'x' });
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'rating']);
  });

  it('shows nothing to those who do not see the task', async () => {
    const { body } = await review(member.client);
    const colleague = await makeMember(service, { workspace: member.workspace });
    for (const { client } of [colleague, await makeMember(service)]) {
      expect((await review(client)).status).toBe(404);
      expect((await client.get(`/v1/reviews/${body.review.id}`)).status).toBe(404);
      expect((await client.get(`/v1/tasks/${taskId}/reviews`)).status).toBe(404);
    }
  });

  it('brings a filter, to which a cursor is bound, and a DELETE for who wrote it', async () => {
    const path = `/v1/tasks/${taskId}/reviews`;
    const [two, , other] = [
      await review(member.client, 2),
      await review(member.client, 3),
      await review(member.client, 2),
    ];
    const first = await member.client.get<{ reviews: object[]; nextCursor: string }>(`${path}?rating=2&limit=1`);
    expect(first.body.reviews).toEqual([other.body.review]);
    const next = await member.client.get(`${path}?rating=2&limit=1&cursor=${first.body.nextCursor}`);
    expect(next.body).toEqual({ reviews: [two.body.review], nextCursor: null });
    expect((await member.client.get(`${path}?limit=1&cursor=${first.body.nextCursor}`)).status).toBe(400);
    for (const rating of ['6', 'x', '']) expect((await member.client.get(`${path}?rating=${rating}`)).status).toBe(400);
    const { id } = two.body.review;
    const admin = await makeMember(service, { workspace: member.workspace, role: 'admin' });
    expect((await admin.client.get(`/v1/reviews/${id}`)).status).toBe(200);
    expect((await admin.client.delete(`/v1/reviews/${id}`)).status).toBe(404);
    expect((await member.client.delete(`/v1/reviews/${id}`)).body).toEqual({ deleted: true, id });
    expect((await member.client.delete(`/v1/reviews/${id}`)).status).toBe(404);
  });

  it('brings scopes: named when they are missing, enough where any will do, no more than text when it is gone', async () => {
    const { workspace } = member;
    const reader = await makeMember(service, { workspace, role: 'admin', scopes: ['reviews:read', 'tasks:read'] });
    const refused = await review(reader.client);
    expect([refused.status, refused.body.error.message]).toEqual([
      403,
      'This credential lacks the scope reviews:write.',
    ]);
    expect((await reader.client.get(`/v1/tasks/${taskId}/reviews`)).status).toBe(200);
    const viewer = await makeMember(service, { workspace, role: 'viewer' });
    expect((await review(viewer.client)).body.error.code).toBe('role_not_allowed');
    const only = await makeMember(service, { workspace, scopes: ['reviews:read'] });
    expect((await only.client.get('/v1/auth/context')).body['scopes']).toEqual(['reviews:read']);
    // The same keys in a service without the extension.
    const without = await bootApp({ db: service.db });
    try {
      const client = new Client(without.url, reader.key.secret);
      expect((await client.get('/v1/auth/context')).body['scopes']).toEqual(['tasks:read']);
      expect((await client.get(`/v1/tasks/${taskId}`)).status).toBe(200);
      expect((await client.get(`/v1/tasks/${taskId}/reviews`)).status).toBe(404);
      const none = new Client(without.url, only.key.secret);
      expect((await none.get('/v1/auth/context')).body['scopes']).toEqual([]);
    } finally {
      await without.close();
    }
  });

  it('brings a bucket: taken from, shown, and changed by the configuration', async () => {
    const answer = await review(member.client);
    expect(answer.headers.get('x-ratelimit-policy')).toBe('review_write');
    expect(answer.headers.get('x-ratelimit-limit')).toBe('61');
    const { body } =
      await member.client.get<Record<'free' | 'paid', { policies: Record<string, Rates> }>>(
        '/developer-api/rate-limits',
      );
    expect(body.free.policies['review_write']).toEqual({ capacity: 10, windowSeconds: 60 });
    expect(body.paid.policies['review_write']).toEqual({ capacity: 61, windowSeconds: 60 });
    expect(body.free.policies['file_upload']).toEqual({ capacity: 20, windowSeconds: 60 });
  });

  it('brings an error code, and a limit from its section of the configuration', async () => {
    for (let n = 0; n < 3; n++) expect((await review(member.client)).status).toBe(201);
    const { status, body } = await review(member.client);
    expect(status).toBe(409);
    const error = { type: 'conflict', code: 'too_many_reviews', message: 'A task has at most 3 reviews.' };
    expect(body.error).toMatchObject({ ...error, retryable: false });
  });

  it('stands in the document: routes, scopes, bucket, error code', async () => {
    const document = (await member.client.get('/openapi.json')).body as unknown as Document;
    const post = document.paths['/v1/tasks/{taskId}/reviews']?.['post'];
    expect(post?.security).toEqual([{ personalApiKey: [] }, { serviceId: ['reviews:write'] }]);
    expect(post?.['x-rate-limit-policy']).toBe('review_write');
    const context = document.paths['/v1/auth/context']?.['get'];
    expect(context?.security).toContainEqual({ serviceId: ['reviews:read'] });
    const { schemas = {}, responses = {} } = document.components;
    expect(JSON.stringify(schemas['AuthContext'])).toContain('"reviews:write"');
    expect(schemas['Review']).toBeDefined();
    expect(JSON.stringify(responses['Error409'])).toContain('too_many_reviews');
    expect(JSON.stringify(responses['Error404'])).not.toContain('too_many_reviews');
  });

  it('brings figures', async () => {
    await review(member.client, 1);
    const metrics = (await new Client(service.url).get('/metrics')).text;
    expect(metrics).toMatch(/^millwright_reviews\{rating="1"\} 1$/m);
    expect(metrics).toMatch(/^millwright_reviews_forgotten_total \d+$/m);
  });

  it('brings a chore', async () => {
    const ids = [(await review(member.client)).body.review.id, (await review(member.client)).body.review.id];
    const age = `UPDATE reviews SET created_at = now() - make_interval(days => $2) WHERE id = $1`;
    await service.db.query(age, [ids[0], 31]);
    await service.db.query(age, [ids[1], 29]);
    const forgotten = service.app.get(ChoreRunner).run(service.app.get(ReviewUpkeep, { strict: false }), 'forgetOld');
    expect(await forgotten).toBe(1);
    const paths = ids.map((id) => member.client.get(`/v1/reviews/${id}`));
    expect((await Promise.all(paths)).map(({ status }) => status)).toEqual([404, 200]);
  });

  it('ends with the task: the rows refer to it', async () => {
    const { body } = await review(member.client);
    await member.client.post(`/v1/tasks/${taskId}/cancel`);
    expect((await member.client.delete(`/v1/tasks/${taskId}`)).status).toBe(200);
    expect((await member.client.get(`/v1/reviews/${body.review.id}`)).status).toBe(404);
  });

  it('brings verbs of the operator command, and scopes for the keys that it makes', async () => {
    const operator = new Operator(service, {}, [REVIEWS]);
    const { client, workspace, user } = await makeMember(service);
    const task = await createTask(client, { content: 'Anything.', title: 'Its title' });
    const made = await client.post<ReviewBody>(`/v1/tasks/${task.id}/reviews`, { rating: 2, text: 'Hm.' });
    const { id } = made.body.review;
    const listed = await operator.json('reviews', 'list', '--workspace', workspace.slug);
    expect(listed).toEqual({ reviews: [{ id, task: 'Its title', rating: 2, text: 'Hm.' }] });
    expect(await operator.json('reviews', 'delete', id)).toEqual({ deleted: true, id });
    await expect(operator.run('reviews', 'delete', id)).rejects.toThrow(`There is no review '${id}'`);
    const of = ['--workspace', workspace.slug, '--user', user.email];
    const all = await operator.json<{ key: { scopes: string[] } }>('key', 'create', ...of);
    expect(all.key.scopes).toEqual(expect.arrayContaining(['tasks:read', 'reviews:read', 'reviews:write']));
    const one = await operator.json<{ key: { scopes: string[] } }>('key', 'create', ...of, '--scopes', 'reviews:read');
    expect(one.key.scopes).toEqual(['reviews:read']);
  });
});
