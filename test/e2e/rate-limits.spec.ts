import type { ConfigFile } from '../../src/platform/config/config-file.js';
import { bootApp, useService } from '../harness/app.js';
import { type Answer, Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeNotes, NotesModule } from './notes.module.js';

const NAMES = [
  'x-ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'x-ratelimit-global-limit',
  'x-ratelimit-global-remaining',
  'x-ratelimit-global-reset',
  'ratelimit-policy',
  'ratelimit',
];
const rate = (capacity: number, windowSeconds = 60) => ({ capacity, windowSeconds });
/** Small enough to be used up, and so slow to refill that a test does not see it. */
const HOUR = 3600;
const SMALL: NonNullable<ConfigFile['rateLimits']> = {
  free: { global: rate(8, HOUR), policies: { metadata_read: rate(3, HOUR), resource_write: rate(5, HOUR) } },
};

/** The nine headers as sent; null for one that is not there. */
const headersOf = (answer: Answer<unknown>) => NAMES.map((name) => answer.headers.get(name));
const remaining = (answer: Answer<unknown>) =>
  ['x-ratelimit-remaining', 'x-ratelimit-global-remaining'].map((name) => Number(answer.headers.get(name)));

/** When the running test began, Unix time. */
let begun = 0;
beforeEach(() => {
  begun = Math.floor(Date.now() / 1000);
});

/** Every header is there, and in itself and with the others it makes sense. */
function expectHeaders(answer: Answer<unknown>, policy: string): void {
  const get = (name: string) => answer.headers.get(name) ?? '';
  const number = (name: string) => {
    expect([name, get(name)]).toEqual([name, expect.stringMatching(/^\d+$/)]);
    return Number(get(name));
  };
  expect(get('x-ratelimit-policy')).toBe(policy);
  const [limit, global] = [number('x-ratelimit-limit'), number('x-ratelimit-global-limit')];
  const policies = `"global";q=${global};w=(60|${HOUR}), "${policy}";q=${limit};w=(60|${HOUR})`;
  expect(get('ratelimit-policy')).toMatch(new RegExp(`^${policies}$`));
  const left = { [policy]: number('x-ratelimit-remaining'), global: number('x-ratelimit-global-remaining') };
  const [, name = '', r, t] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(get('ratelimit')) ?? [];
  expect(Number(r)).toBe(left[name]);
  expect(Number(t)).toBeGreaterThanOrEqual(1);
  const now = Date.now() / 1000;
  // An answer may be looked at when its bucket is full again.
  for (const reset of [number('x-ratelimit-reset'), number('x-ratelimit-global-reset')]) {
    expect(reset).toBeGreaterThanOrEqual(begun);
    expect(reset).toBeLessThanOrEqual(Math.ceil(now) + HOUR + 1);
  }
  if (answer.status < 400) expect(answer.headers.get('retry-after')).toBeNull();
}

const NOTE = '/v1/notes/01a1fdc8-9de6-70d0-a884-574b696941ef';

describe('Rate limits (reference §9)', () => {
  let member: Member;

  const service = useService(() => bootApp({ imports: [NotesModule], config: { rateLimits: SMALL } }));
  beforeAll(async () => {
    await makeNotes(service.db);
    member = await makeMember(service);
  });

  /** Of a free workspace, whose limits are small. */
  const free = async () => {
    const made = await makeMember(service);
    await service.db.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [made.workspace.id]);
    return made;
  };

  describe('every answer to an authenticated request to a route carries all of the headers:', () => {
    const json = { 'Content-Type': 'application/json' };
    const big = `{"text":"${'x'.repeat(1024 * 1024)}"}`;

    it.each<[string, number, string, string, string, object?]>([
      ['a read', 200, 'GET', '/v1/notes', 'resource_read'],
      ['HEAD', 200, 'HEAD', '/v1/auth/context', 'metadata_read'],
      ['a write', 201, 'POST', '/v1/notes', 'task_execution', { json: { text: 'one' } }],
      ['an upload', 201, 'POST', '/v1/notes/upload', 'file_upload', { raw: 'bytes' }],
      ['a wrong query', 400, 'GET', '/v1/notes?x=1', 'resource_read'],
      ['a wrong cursor', 400, 'GET', '/v1/notes?cursor=x', 'resource_read'],
      ['a wrong field', 400, 'POST', '/v1/notes', 'task_execution', { json: { text: 1 } }],
      ['broken JSON', 400, 'POST', '/v1/notes', 'task_execution', { raw: '{', headers: json }],
      ['what does not exist', 404, 'GET', '/v1/tasks/none', 'resource_read'],
      ['a body that is too large', 413, 'POST', '/v1/notes', 'task_execution', { raw: big, headers: json }],
      ['a body that is no JSON', 415, 'POST', '/v1/notes', 'task_execution', { raw: 'x' }],
      ['what nobody foresaw', 500, 'GET', '/v1/notes/fail/error', 'metadata_read'],
      ['an error of ours that passes', 503, 'GET', '/v1/notes/fail/later', 'metadata_read'],
    ])('%s (%d)', async (_what, status, method, path, policy, options = {}) => {
      const headers = { 'Idempotency-Key': crypto.randomUUID(), ...(options as { headers?: object }).headers };
      const answer = await member.client.request(method, path, { ...options, headers });
      expect(answer.status).toBe(status);
      expectHeaders(answer, policy);
    });

    it('a missing scope and a role that may not (403)', async () => {
      const reader = await makeMember(service, { scopes: ['files:read'] });
      const viewer = await makeMember(service, { role: 'viewer' });
      for (const { client } of [reader, viewer]) {
        const answer = await client.post('/v1/notes', { text: 'x' });
        expect(answer.status).toBe(403);
        expectHeaders(answer, 'task_execution');
        expect(remaining(answer)).toEqual([119, 1199]);
      }
    });

    it('a replay (201), a conflict (409) and two at once (503): each with headers of its own', async () => {
      const { client } = await free();
      const headers = { 'Idempotency-Key': 'limits' };
      const first = await client.post('/v1/notes', { text: 'replayed' }, { headers });
      const again = await client.post('/v1/notes', { text: 'replayed' }, { headers });
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect([remaining(first)[1], remaining(again)[1]]).toEqual([7, 6]);
      const other = await client.post('/v1/notes', { text: 'another' }, { headers });
      const unique = await client.post('/v1/notes', { text: 'replayed' });
      expect([other.status, unique.status]).toEqual([409, 503]);
      for (const answer of [again, other, unique]) expectHeaders(answer, 'task_execution');
      expect(other.headers.get('retry-after')).toBeNull();
      expect(unique.headers.get('retry-after')).toBe('1');
    });

    it('the bytes of a file: whole, a part, none, and a range that it does not have', async () => {
      const form = new FormData();
      form.set('file', new Blob(['0123456789']), 'digits.txt');
      const authorization = { Authorization: `Bearer ${member.key.secret}` };
      const sent = await fetch(`${service.url}/v1/uploads`, { method: 'POST', body: form, headers: authorization });
      const { upload } = (await sent.json()) as { upload: { id: string } };
      const attachments = [{ uploadId: upload.id }];
      const { body } = await member.client.post<{ task: { id: string } }>('/v1/tasks', { content: 'x', attachments });
      const list = await member.client.get<{ files: { id: string }[] }>(`/v1/tasks/${body.task.id}/files`);
      const path = `/v1/files/${list.body.files[0]?.id}/content`;
      const whole = await member.client.get(path);
      const part = await member.client.get(path, { headers: { Range: 'bytes=1-2' } });
      const none = await member.client.get(path, { headers: { 'If-None-Match': whole.headers.get('etag') ?? '' } });
      const beyond = await member.client.get(path, { headers: { Range: 'bytes=99-' } });
      expect([whole, part, none, beyond].map(({ status }) => status)).toEqual([200, 206, 304, 416]);
      for (const answer of [whole, part, none, beyond]) expectHeaders(answer, 'resource_read');
    });
  });

  it.each([
    ['no credential', 'GET', '/v1/auth/context', 401],
    ['no such path', 'GET', '/v1/nothing', 404],
    ['no such method', 'PUT', '/v1/notes', 405],
    ['a public route', 'GET', '/open', 200],
    ['health', 'GET', '/health/live', 200],
  ])('%s: none of the headers, and nothing is taken', async (_what, method, path, status) => {
    const { client } = await free();
    const anonymous = status === 401 ? client.as(null) : client;
    const answer = await anonymous.request(method, path);
    expect(answer.status).toBe(status);
    expect(headersOf(answer)).toEqual(NAMES.map(() => null));
    expect(remaining(await client.get('/v1/auth/context'))).toEqual([2, 7]);
  });

  it('every request is taken once, whatever becomes of it; a refusal takes from neither bucket', async () => {
    const { client } = await free();
    const seen: [number, ...number[]][] = [];
    const ask = async (method: string, path: string) => {
      const answer = await client.request(method, path, { headers: { 'Idempotency-Key': crypto.randomUUID() } });
      seen.push([answer.status, ...remaining(answer)]);
      return answer;
    };
    await ask('GET', '/v1/auth/context');
    await ask('GET', '/v1/auth/context?x=1');
    await ask('GET', '/v1/notes/fail/error');
    for (let n = 0; n < 4; n++) await ask('GET', '/v1/auth/context');
    await ask('DELETE', NOTE);
    for (let n = 0; n < 4; n++) await ask('DELETE', NOTE);
    const last = await ask('DELETE', NOTE);
    await ask('GET', '/v1/tasks');
    expect(seen).toEqual([
      [200, 2, 7],
      [400, 1, 6],
      [500, 0, 5],
      ...Array<number[]>(4).fill([429, 0, 5]),
      ...[4, 3, 2, 1, 0].map((left) => [200, left, left]),
      [429, 0, 0],
      [429, 120, 0],
    ]);
    expectHeaders(last, 'resource_write');
  });

  it('a refusal says what happened and when to come again', async () => {
    const { client } = await free();
    for (let n = 0; n < 3; n++) await client.get('/v1/auth/context');
    const answer = await client.get<ErrorBody>('/v1/auth/context');
    expect(answer.status).toBe(429);
    expectHeaders(answer, 'metadata_read');
    const { error } = answer.body;
    expect(error).toMatchObject({ type: 'rate_limited', code: 'rate_limit_exceeded', param: null, retryable: true });
    expect(error.requestId).toBe(answer.headers.get('x-request-id'));
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(HOUR / 3 - 60);
    expect(seconds).toBeLessThanOrEqual(HOUR / 3);
    expect(answer.headers.get('ratelimit')).toBe(`"metadata_read";r=0;t=${seconds}`);
    expect(error.message).toBe(
      `Too many requests with this credential: "metadata_read" takes 3 in 3600 seconds; try again in ${seconds} seconds.`,
    );
  });

  it('the limit comes before scope, role and body: a refused request is not looked at further', async () => {
    const { client } = await makeMember(service, { scopes: ['files:read'], role: 'viewer' });
    await service.db.query(`UPDATE workspaces SET plan = 'free'`);
    for (let n = 0; n < 5; n++) expect((await client.delete(NOTE)).status).toBe(403);
    expect((await client.delete(NOTE, { raw: '{' })).status).toBe(429);
    await service.db.query(`UPDATE workspaces SET plan = 'paid'`);
  });

  it('each key has buckets of its own, also two of one user', async () => {
    const one = await free();
    const two = await makeMember(service, { workspace: one.workspace });
    for (let n = 0; n < 4; n++) await one.client.get('/v1/auth/context');
    expect((await one.client.get('/v1/auth/context')).status).toBe(429);
    expect((await two.client.get('/v1/auth/context')).status).toBe(200);
  });

  it('the plan of the workspace counts from the next request on, and is not part of the auth context', async () => {
    const { client, workspace } = await free();
    const limits = async () => {
      const { headers, body } = await client.get<{ workspace: object }>('/v1/auth/context');
      expect(Object.keys(body.workspace)).toEqual(['id', 'name', 'slug', 'role']);
      return [headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-global-limit')];
    };
    expect(await limits()).toEqual(['3', '8']);
    await service.db.query(`UPDATE workspaces SET plan = 'paid' WHERE id = $1`, [workspace.id]);
    expect(await limits()).toEqual(['300', '1200']);
  });

  describe('GET /developer-api/rate-limits', () => {
    it('is what is configured, for everybody', async () => {
      const { status, body } = await new Client(service.url).get('/developer-api/rate-limits');
      expect(status).toBe(200);
      expect(body).toEqual({
        free: {
          global: rate(8, HOUR),
          policies: {
            metadata_read: rate(3, HOUR),
            resource_read: rate(120),
            resource_write: rate(5, HOUR),
            task_execution: rate(10),
            file_upload: rate(20),
          },
        },
        paid: {
          global: rate(1200),
          policies: {
            metadata_read: rate(300),
            resource_read: rate(1200),
            resource_write: rate(300),
            task_execution: rate(120),
            file_upload: rate(120),
          },
        },
      });
    });

    it('says what the headers say', async () => {
      type Served = Record<string, { global: { capacity: number }; policies: Record<string, { capacity: number }> }>;
      const { body } = await member.client.get<Served>('/developer-api/rate-limits');
      const members = { free: await free(), paid: member };
      for (const [plan, { client }] of Object.entries(members)) {
        for (const [method, path] of [
          ['GET', '/v1/auth/context'],
          ['GET', '/v1/tasks'],
          ['DELETE', NOTE],
          ['POST', '/v1/tasks'],
          ['POST', '/v1/uploads'],
        ] as const) {
          const { headers } = await client.request(method, path);
          const policy = headers.get('x-ratelimit-policy') ?? '';
          expect([plan, policy, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-global-limit')]).toEqual([
            plan,
            policy,
            String(body[plan]?.policies[policy]?.capacity),
            String(body[plan]?.global.capacity),
          ]);
        }
      }
    });
  });
});
