import { Streams } from '../../src/resources/events/streams.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN } from '../harness/events.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { type StreamReader, useStreams } from '../harness/streams.js';
import { createTask, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A stream of a task while it is open (reference §17)', () => {
  let model: HeldModel;
  let member: Member;
  const open = useStreams();

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { transparency: ALL_SHOWN },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  const stream = (id: string, query = '', headers: Record<string, string> = {}, who = member, reads = true) =>
    open(`${service.url}/v1/tasks/${id}/events${query}`, who.key.secret, headers, reads);

  describe('`deltas=true` adds what is still being made', () => {
    interface Delta {
      type: string;
      messageId: string;
      index: number;
      offset: number;
      delta: string;
      part?: string;
      stream?: string;
    }
    const deltas = (reader: StreamReader, type = 'message.delta') =>
      reader.frames.map(({ data }) => data as unknown as Delta).filter((one) => one.type === type);
    const joined = (all: Delta[]) => {
      let text = '';
      for (const { offset, delta } of all) {
        expect(offset).toBe(text.length);
        text += delta;
      }
      return text;
    };

    it('words, which are the beginning of what is recorded under the same id and index', async () => {
      const { id } = await createTask(member.client, { content: 'Begin.' });
      const asked = await model.asked();
      const [reader, without] = [await stream(id, '?deltas=true&until=final'), await stream(id, '?until=final')];
      await Promise.all([reader.frame('stream.caught_up'), without.frame('stream.caught_up')]);
      asked.answer({
        reasoning: 'Let me think of it.',
        text: 'One 👍 two three, and so on until the end.',
        chunkMs: 60,
      });
      await Promise.all([reader.end(), without.end()]);
      const message = reader.events.find(({ type }) => type === 'message.completed' && deltas(reader).length > 0);
      const told = reader.frames.findLastIndex(({ data }) => data.type === 'message.delta');
      expect(reader.frames.findIndex(({ data }) => data.type === 'task.completed')).toBeGreaterThan(told);
      const last = reader.events.findLast(({ type }) => type === 'message.completed')?.['data'] as {
        message: { id: string; parts: { type: string; text: string }[] };
      };
      expect(message).toBeDefined();
      for (const part of ['reasoning', 'text']) {
        const own = deltas(reader).filter((one) => one.part === part);
        const recorded = last.message.parts[own[0]?.index ?? -1];
        expect(recorded?.type).toBe(part);
        expect(own.every(({ messageId }) => messageId === last.message.id)).toBe(true);
        const text = joined(own);
        expect(text.length).toBeGreaterThan(0);
        expect(recorded?.text.startsWith(text)).toBe(true);
      }
      expect(deltas(without)).toEqual([]);
    });

    it('who joins in between gets them from the beginning; an attempt that is given up is discarded', async () => {
      const { id } = await createTask(member.client, { content: 'Begin.' });
      const asked = await model.asked();
      const first = await stream(id, '?deltas=true');
      await first.frame('stream.caught_up');
      asked.answer({ text: 'A long answer of which no more than half is ever sent to anybody at all.', stall: true });
      await first.frame('message.delta');
      const second = await stream(id, '?deltas=true&after=latest');
      await second.frame('message.delta');
      await until('both to have the same', () => joined(deltas(first)) === joined(deltas(second)));
      await member.client.post(`/v1/tasks/${id}/cancel`);
      const [one, other] = [await first.frame('message.discarded'), await second.frame('message.discarded')];
      expect([one.data['messageId'], one]).toEqual([deltas(first)[0]?.messageId, other]);
      expect(one.id).toBeUndefined();
    });

    it('output of a command while it runs', async () => {
      const { id } = await createTask(member.client, { content: 'Begin.' });
      (await model.asked()).answer(bash('echo one; echo two >&2; sleep 1000'));
      const reader = await stream(id, '?deltas=true');
      await until('both streams of it', () => deltas(reader, 'tool.progress').length === 2);
      const late = await stream(id, '?deltas=true&after=latest');
      await until('both streams of it, later', () => deltas(late, 'tool.progress').length === 2);
      for (const one of [reader, late]) {
        const said = deltas(one, 'tool.progress').map(({ stream, offset, delta }) => [stream, offset, delta]);
        expect(said.sort()).toEqual([['stderr', 0, 'two\n'], ['stdout', 0, 'one\n']]); // prettier-ignore
      }
      await member.client.post(`/v1/tasks/${id}/cancel`);
      await reader.frame('task.cancelled');
    });

    it('under the policy: what is hidden is not passed on, and does not count for the index', async () => {
      const hidden = await makeMember(service);
      await service.db.query(`UPDATE workspaces SET transparency = '{text}' WHERE id = $1`, [hidden.workspace.id]);
      const { id } = await createTask(hidden.client, { content: 'Begin.' });
      const asked = await model.asked();
      const reader = await stream(id, '?deltas=true&until=final', {}, hidden);
      await reader.frame('stream.caught_up');
      asked.answer({ reasoning: 'Secret.', text: 'Words that are shown while they come.', chunkMs: 40 });
      await reader.end();
      expect(JSON.stringify(reader.frames)).not.toContain('Secret');
      expect(new Set(deltas(reader).map(({ index, part }) => `${index} ${part}`))).toEqual(new Set(['0 text']));
    });
  });

  it('at most 20 streams a key are open, a waiting request is one; the next is 429', async () => {
    const busy = await makeMember(service);
    const { id } = await createTask(busy.client, { content: 'Begin.' });
    const held = await model.asked();
    const readers = await Promise.all(Array.from({ length: 19 }, () => stream(id, '', {}, busy)));
    const waits = busy.client.get(`/v1/tasks/${id}/events?after=latest&wait=30`);
    await until('the request to wait', () => service.app.get(Streams).size === 20);
    const refused = await stream(id, '', {}, busy);
    expect(refused.status).toBe(429);
    expect([refused.headers['retry-after'], readers.every(({ status }) => status === 200)]).toEqual(['5', true]);
    expect((await busy.client.get(`/v1/tasks/${id}/events`)).status).toBe(200);
    held.answer({ text: 'Done.' });
    expect((await waits).status).toBe(200);
    for (const reader of readers) reader.close();
    await until('a place to be free', async () => (await stream(id, '', {}, busy)).status === 200);
  });

  it('at most 200 streams of a workspace are open, over all keys; the next is 429, and another workspace has its own', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const held = await model.asked();
    const workspace = member.workspace;
    const admins = await Promise.all(
      Array.from({ length: 11 }, () => makeMember(service, { workspace, role: 'admin' })),
    );
    const [last, ...full] = admins;
    const readers = await Promise.all(full.flatMap((who) => Array.from({ length: 20 }, () => stream(id, '', {}, who))));
    expect(readers.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 200));
    const refused = await stream(id, '', {}, last);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    const { status, body } = await member.client.get<ErrorBody>(`/v1/tasks/${id}/events?wait=1`);
    expect([status, body.error.code]).toEqual([429, 'too_many_streams']);
    const other = await makeMember(service);
    expect((await open(`${service.url}/v1/events`, other.key.secret)).status).toBe(200);
    held.answer({ text: 'Done.' });
    // Each has all of it.
    await until('all to be told', () => readers.every(({ types }) => types.includes('task.completed')));
    for (const reader of readers) reader.close();
    await until('a place to be free', async () => (await stream(id, '', {}, last)).status === 200);
  });

  it('a client that takes nothing for 60 s is ended, and costs a batch until then', async () => {
    const { id } = await createTask(member.client, { content: 'x'.repeat(200_000) });
    const held = await model.asked();
    for (let n = 0; n < 40; n++) {
      await service.db.query(
        `INSERT INTO task_events (task_id, seq, type, ref) SELECT $1, last_event + 1, 'message.completed', (SELECT id FROM messages WHERE task_id = $1 LIMIT 1) FROM tasks WHERE id = $1`,
        [id],
      );
      await service.db.query('UPDATE tasks SET last_event = last_event + 1 WHERE id = $1', [id]);
    }
    const reader = await stream(id, '', {}, member, false);
    const streams = service.app.get(Streams);
    await until('something to wait for the client', () => streams.waitingBytes > 0);
    expect(streams.waitingBytes).toBeLessThan(2 * 512 * 1024);
    const from = performance.now();
    await streams.tick(from);
    await streams.tick(from + 60_001);
    reader.resume();
    expect((await reader.end())?.data).toMatchObject({ type: 'stream.end', reason: 'slow' });
    const last = Number(reader.frames.at(-1)?.id);
    expect(reader.events.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, n) => n + 1));
    await service.db.query('DELETE FROM task_events WHERE task_id = $1 AND seq > 4', [id]);
    await service.db.query('UPDATE tasks SET last_event = 4 WHERE id = $1', [id]);
    held.answer({ text: 'Done.' });
    await reaches(member.client, id, 'completed');
  });
});
