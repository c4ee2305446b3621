import { bootApp, useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { rawRequest } from '../harness/raw.js';
import { done, makeNotes, NotesModule } from './notes.module.js';
import { slowIt } from '../harness/slow.js';

describe('Idempotency (reference §8)', () => {
  let member: Member;
  let count = 0;

  const service = useService(() => bootApp({ imports: [NotesModule] }));
  beforeAll(async () => {
    await makeNotes(service.db);
    member = await makeMember(service);
  });

  const newText = () => `note ${++count}`;
  const post = (key: string, json: unknown, { client } = member, path = '/v1/notes') =>
    client.post<ErrorBody & { note: { id: string } }>(path, json, { headers: { 'Idempotency-Key': key } });
  const stored = async (text: string) =>
    (await service.db.query<{ n: number }>('SELECT count(*)::int AS n FROM notes WHERE text = $1', [text]))[0]?.n;
  const sameAnswer = (a: Answer<unknown>, b: Answer<unknown>) => {
    expect(b.status).toBe(a.status);
    expect(b.text).toBe(a.text);
    expect(b.headers.get('location')).toBe(a.headers.get('location'));
    expect(b.headers.get('content-type')).toBe(a.headers.get('content-type'));
  };

  it('a missing key is 400 where it is needed, and not needed where it is optional', async () => {
    const answer = await member.client.request<ErrorBody>('POST', '/v1/notes', { json: { text: newText() } });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe('missing_idempotency_key');
    const optional = await member.client.request('POST', '/v1/notes/optional', { json: { text: newText() } });
    expect(optional.status).toBe(201);
  });
  it.each(['', '""', '" "', 'a b', 'a'.repeat(256), `"${'a'.repeat(256)}"`, 'é', 'a\tb'])(
    'the key %j is 400 invalid_idempotency_key',
    async (key) => {
      const { status, body } = await post(key, { text: newText() });
      expect(status).toBe(400);
      expect(body.error.code).toBe('invalid_idempotency_key');
    },
  );
  it('two headers are 400', async () => {
    const body = JSON.stringify({ text: newText() });
    const answer = await rawRequest(
      service.url,
      [
        'POST /v1/notes HTTP/1.1',
        `Authorization: Bearer ${member.key.secret}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Idempotency-Key: one',
        'idempotency-key: one',
      ],
      body,
    );
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('invalid_idempotency_key');
  });
  it('255 characters are accepted, and one pair of quotes makes no difference', async () => {
    const text = newText();
    const key = '!~'.padEnd(255, 'k');
    sameAnswer(await post(key, { text }), await post(`"${key}"`, { text }));
    expect(await stored(text)).toBe(1);
  });

  it('the same again gets the same bytes, status and Location, with a request id of its own', async () => {
    const text = newText();
    const first = await post('again', { text, links: [{ url: 'https://a' }] });
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toBe(`/v1/notes/${first.body.note.id}`);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const second = await post('again', { text, links: [{ url: 'https://a' }] });
    sameAnswer(first, second);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await stored(text)).toBe(1);
    expect(done.committed.filter((committed) => committed === text)).toHaveLength(1);
  });
  it('key order and white space of the body do not matter', async () => {
    const text = newText();
    const send = (raw: string) =>
      member.client.request('POST', '/v1/notes', {
        raw,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'order' },
      });
    const first = await send(`{"text":"${text}","style":{"weight":"bold"},"links":[]}`);
    sameAnswer(first, await send(`{ "links": [ ], "style": {"weight" : "bold"}, "text": "${text}" }`));
  });
  it('another body under a used key is 409, a body that is not valid too', async () => {
    await post('used', { text: newText() });
    for (const json of [{ text: newText() }, { text: 1 }, {}]) {
      const { status, body } = await post('used', json);
      expect(status).toBe(409);
      expect(body.error).toMatchObject({ type: 'conflict', code: 'idempotency_key_reused', retryable: false });
    }
  });
  it('a key belongs to workspace, user, method and concrete path', async () => {
    const text = newText();
    const key = 'scope';
    expect((await post(key, { text })).status).toBe(201);
    const colleague = await makeMember(service, { workspace: member.workspace });
    expect((await post(key, { text: newText() }, colleague)).status).toBe(201);
    expect((await post(key, { text: newText() }, await makeMember(service))).status).toBe(201);
    expect((await post(key, { text: newText() }, member, '/v1/notes/optional')).status).toBe(201);
  });
  it('a key goes with the user, not with the credential', async () => {
    const { app } = service;
    const text = newText();
    const first = await post('rotated', { text });
    const { KeysService } = await import('../../src/access/auth/keys.service.js');
    const other = await app.get(KeysService, { strict: false }).create({
      workspaceId: member.workspace.id,
      userId: member.user.id,
      name: 'second',
      scopes: ['tasks:write'],
      lifetimeSeconds: null,
    });
    sameAnswer(first, await post('rotated', { text }, { ...member, client: member.client.as(other.secret) }));
  });

  it('what failed did nothing and leaves the key free', async () => {
    const text = newText();
    expect((await post('free', { text: 1 })).body.error.code).toBe('invalid_field');
    expect((await post('free', { text: 'unknown' })).body.error.code).toBe('not_found');
    expect((await post('free', { text: 'broken' })).body.error.code).toBe('internal_error');
    const good = await post('free', { text });
    expect(good.status).toBe(201);
    expect(good.headers.get('idempotent-replayed')).toBeNull();
    const keys = await service.db.query(`SELECT status, body FROM idempotency_keys WHERE key = 'free'`);
    expect(keys).toEqual([{ status: 201, body: good.text }]);
  });
  it('twenty at once make one effect and get one answer', async () => {
    const text = `slow ${newText()}`;
    const handled = done.handled;
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('parallel', { text })));
    const first = answers[0] as (typeof answers)[number];
    for (const answer of answers) sameAnswer(first, answer);
    expect(first.status).toBe(201);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect(await stored(text)).toBe(1);
    expect(done.handled).toBe(handled + 1);
  });
  it('one that is still running after two seconds is 409 idempotency_in_progress with Retry-After', async () => {
    const [a, b] = await Promise.all([post('slow', { text: 'slower' }), post('slow', { text: 'slower' })]);
    const [first, second] = a.status === 201 ? [a, b] : [b, a];
    expect(first.status).toBe(201);
    expect(second.status).toBe(409);
    expect(second.body.error).toMatchObject({ type: 'conflict', code: 'idempotency_in_progress', retryable: true });
    expect(second.headers.get('retry-after')).toBe('1');
    sameAnswer(first, await post('slow', { text: 'slower' }));
  });
  slowIt('one that waits for the removal of its member is 503, for no request with its key is running', async () => {
    const other = await makeMember(service);
    const removal = await holding(service.db, 'SELECT 1 FROM memberships WHERE user_id = $1 FOR UPDATE', [
      other.user.id,
    ]);
    const { status, body } = await post('removed', { text: newText() }, other);
    await removal.release();
    expect([status, body.error.code]).toEqual([503, 'unavailable']);
  });
  it('when the first one fails, the one that waited runs', async () => {
    const text = `slow ${newText()}`;
    const first = await holding(
      service.db,
      `INSERT INTO idempotency_keys (workspace_id, user_id, method, path, key, fingerprint, expires_at)
       VALUES ($1, $2, 'POST', '/v1/notes', 'waits', '', now() + interval '1 day')`,
      [member.workspace.id, member.user.id],
    );
    const waiting = post('waits', { text });
    await untilWaiting(service.db, 'INSERT INTO idempotency_keys');
    await first.query('ROLLBACK');
    await first.release();
    const answer = await waiting;
    expect(answer.status).toBe(201);
    expect(await stored(text)).toBe(1);
  });
  it('a record holds for 24 hours by the clock of the database, then counts as absent', async () => {
    const texts = [newText(), newText()];
    await post('day', { text: texts[0] });
    const [{ left } = { left: 0 }] = await service.db.query<{ left: number }>(
      `SELECT extract(epoch FROM expires_at - now())::int AS left FROM idempotency_keys WHERE key = 'day'`,
    );
    expect(left).toBeGreaterThan(86_300);
    expect(left).toBeLessThanOrEqual(86_400);
    await service.db.query(`UPDATE idempotency_keys SET expires_at = now() WHERE key = 'day'`);
    const second = await post('day', { text: texts[1] });
    expect(second.status).toBe(201);
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    sameAnswer(second, await post('day', { text: texts[1] }));
  });
  it('a record without an answer is no record: nobody is told that something was done', async () => {
    const texts = [newText(), newText()];
    await post('orphan', { text: texts[0] });
    await service.db.query(
      `UPDATE idempotency_keys SET status = NULL, body = NULL, location = NULL WHERE key = 'orphan'`,
    );
    const again = await post('orphan', { text: texts[1] });
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
    sameAnswer(again, await post('orphan', { text: texts[1] }));
  });

  it('a revoked key replays nothing', async () => {
    const own = await makeMember(service);
    const text = newText();
    await post('revoked', { text }, own);
    await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [own.key.id]);
    expect((await post('revoked', { text }, own)).status).toBe(401);
  });
  it('where a key is not used it is ignored', async () => {
    const note = await post('touched', { text: newText() });
    const touch = () =>
      member.client.post<{ rows: { text: string }[] }>(`/v1/notes/${note.body.note.id}/touch`, undefined, {
        headers: { 'Idempotency-Key': 'same' },
      });
    const texts = [await touch(), await touch()].map(({ body }) => body.rows[0]?.text);
    expect(texts[1]).toBe(`${texts[0]}!`);
  });
  it('sixty writes at once on a pool of ten all end', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => post(`many ${i}`.replace(' ', '-'), { text: newText() })),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
  });
});
