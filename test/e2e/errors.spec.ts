import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { type Relay, relayTo } from '../harness/proxy.js';
import { until } from '../harness/until.js';
import { done, makeNotes, NotesModule } from './notes.module.js';

describe('Errors (reference §10)', () => {
  let db: TestDatabase;
  let relay: Relay;
  let member: Member;

  const service = useService(async () => {
    db = await createDatabase();
    relay = await relayTo(db.url);
    return bootApp({ db: { ...db, url: relay.url }, imports: [NotesModule] });
  });
  beforeAll(async () => {
    await makeNotes(db);
    member = await makeMember(service);
  });
  afterAll(async () => {
    await relay.close();
    await db.drop();
  });

  it.each(['error', 'text'])('what nobody foresaw (%s) is 500 and says nothing of its cause', async (how) => {
    const { status, body, text } = await member.client.get<ErrorBody>(`/v1/notes/fail/${how}`);
    expect(status).toBe(500);
    expect(body.error).toMatchObject({ type: 'internal_error', code: 'internal_error', retryable: true, param: null });
    expect(text).not.toMatch(/secret|stack|\.ts|node_modules/);
  });
  it('a failure in a write undoes it', async () => {
    const { status, headers } = await member.client.post('/v1/notes', { text: 'broken' });
    expect(status).toBe(500);
    expect(headers.get('location')).toBeNull();
    expect(await db.query(`SELECT 1 FROM notes WHERE text = 'broken'`)).toEqual([]);
    expect(done.committed).not.toContain('broken');
  });
  it('two requests for the same unique thing: the second may come again', async () => {
    await member.client.post('/v1/notes', { text: 'unique' });
    const { status, body, text } = await member.client.post<ErrorBody>('/v1/notes', { text: 'unique' });
    expect(status).toBe(503);
    expect(body.error).toMatchObject({ code: 'unavailable', retryable: true });
    expect(text).not.toMatch(/notes_text_key|duplicate/);
  });
  it('a database out of reach is 503 with Retry-After, never 401; when it is back, so is the service', async () => {
    await relay.cut();
    for (const answer of [
      await member.client.get<ErrorBody>('/v1/auth/context'),
      await member.client.post<ErrorBody>('/v1/notes', { text: 'while away' }),
    ]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.headers.get('www-authenticate')).toBeNull();
      expect(answer.body.error).toMatchObject({ type: 'internal_error', code: 'unavailable', retryable: true });
      expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|postgres/i);
    }
    await relay.mend();
    await until('the service answers', async () => (await member.client.get('/v1/auth/context')).status === 200);
    expect((await member.client.post('/v1/notes', { text: 'back' })).status).toBe(201);
  });
  it('a connection that breaks in the middle of a write is 503, and the key is free', async () => {
    const headers = { 'Idempotency-Key': 'cut' };
    const holder = await holding(db, 'LOCK TABLE notes IN SHARE MODE');
    const answer = member.client.post<ErrorBody>('/v1/notes', { text: 'cut' }, { headers });
    await untilWaiting(db, 'INSERT INTO notes');
    await relay.cut();
    expect((await answer).status).toBe(503);
    await relay.mend();
    await holder.release();
    await until('the write is gone', async () => {
      const open = await db.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO notes%' AND datname = current_database()`);
      return open.length === 0;
    }); // prettier-ignore
    expect((await member.client.post('/v1/notes', { text: 'cut' }, { headers })).status).toBe(201);
    expect(done.committed.filter((text) => text === 'cut')).toHaveLength(1);
  });
  it('a database that dies as it greets a new connection costs the request a 503, not the process', async () => {
    expect((await member.client.get('/v1/auth/context')).status).toBe(200);
    const ofWrites = `FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'millwright'`;
    await db.query(`SELECT pg_terminate_backend(pid) ${ofWrites}`);
    await until(
      'the next write to need a new connection',
      async () => (await db.query(`SELECT 1 ${ofWrites}`)).length === 0,
    );
    relay.dying = true;
    const { status, body } = await member.client.post<ErrorBody>('/v1/notes', { text: 'greeted' });
    relay.dying = false;
    expect([status, body.error.code]).toEqual([503, 'unavailable']);
    expect((await member.client.post('/v1/notes', { text: 'greeted' })).status).toBe(201);
  });
});
