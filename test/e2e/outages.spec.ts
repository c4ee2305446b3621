import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../src/platform/database/database.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { type Asked, HeldModel } from '../harness/held-model.js';
import { type Answer, ModelServer } from '../harness/model-server.js';
import { childrenOf, newMark, processesWith, sleeps } from '../harness/processes.js';
import { relayTo } from '../harness/proxy.js';
import { temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, readMessages, readResults, runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

describe('What may go wrong around a run', () => {
  let model: ModelServer;
  let member: Member;
  let answerNow: ((answer: Answer) => void) | null = null;
  const folder = temporaryFolder();
  const data = join(folder.path, 'real');

  const service = useService(async () => {
    model = await ModelServer.start((request) => {
      const held = /HOLD/.test(JSON.stringify(request.messages));
      return held ? new Promise((resolve) => (answerNow = resolve)) : { text: 'Fine.' };
    });
    mkdirSync(data);
    symlinkSync(data, join(folder.path, 'link'));
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: '600', DATA_DIR: join(folder.path, 'link') },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  /** Answers the request that the model holds back. */
  const letAnswer = (answer: Answer) => {
    const resolve = answerNow;
    answerNow = null;
    resolve?.(answer);
  };

  it('a passing error of the database does not fail a task: another claim goes on', async () => {
    const { id } = await createTask(member.client, { content: 'HOLD' });
    await until('the model to be asked', () => answerNow !== null);
    const blocker = new pg.Client({ connectionString: service.db.url });
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE', [id]);
    letAnswer({ text: 'Lost with its connection.' });
    const ended = await until('the write to wait, and its connection to be ended', async () => {
      const rows = await service.db.query<{ ended: boolean }>(
        `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO messages%'`,
      );
      return rows.length > 0 ? rows : null;
    });
    expect(ended).toEqual([{ ended: true }]);
    await blocker.query('COMMIT');
    await blocker.end();
    await until('the run to be taken over', () => answerNow !== null);
    letAnswer({ text: 'Second try.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Second try.' } });
  });

  it('a connection that is lost in a transaction ends the transaction, not the process', async () => {
    const client = await service.app.get(Database).work.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new Promise((resolve) => client.once('end', resolve));
    await service.db.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await ended;
    await expect(client.query('COMMIT')).rejects.toThrow();
    client.release(true);
    expect(await runTask(member.client, 'After it.')).toMatchObject({ status: 'completed' });
  });

  it('DATA_DIR may be a link: the tools work with files', async () => {
    model.script = (request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { text: 'Done.' }
        : {
            calls: [
              { name: 'write', arguments: { path: 'a.txt', content: 'a' } },
              { name: 'publish', arguments: { path: 'a.txt' } },
            ],
          };
    const task = await runTask(member.client, 'Write and publish.');
    expect(task).toMatchObject({ status: 'completed', result: { fileIds: [expect.any(String)] } });
  });

  it('a file whose bytes are gone fails the turn without a path of the host', async () => {
    model.script = (request) =>
      request.messages.some(({ role }) => role === 'tool') ? { text: 'Done.' } : call('bash', { command: 'ls' });
    const { id: uploadId } = await upload(service, member, 'gone');
    rmSync(join(data, 'files'), { recursive: true });
    const { id } = await createTask(member.client, { content: 'Look.', attachments: [{ uploadId }] });
    const task = await finished(member.client, id);
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'sandbox_unavailable' } });
    expect(JSON.stringify([task, await readMessages(member.client, id)])).not.toContain(folder.path);
  });

  it('a command that is cut off after it has begun is an error for the model, and the turn goes on', async () => {
    const mark = newMark();
    const commands = [`echo half > done; sleep ${mark}`, 'cat done'];
    model.script = (request) => {
      const command = commands[request.messages.filter(({ role }) => role === 'tool').length];
      return command === undefined ? { text: 'Done.' } : call('bash', { command });
    };
    const { id } = await createTask(member.client, { content: 'Go.' });
    await sleeps(mark);
    // As the worker's own freeze would end it, or a machine without memory.
    const boxes = processesWith('\0launch\0');
    for (const pid of childrenOf(process.pid)) if (boxes.includes(pid)) process.kill(pid, 'SIGKILL');
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(await readResults(member.client, id)).toMatchObject([
      { status: 'error', error: expect.stringMatching(/cut off from outside; it may have run partly/) as unknown },
      { status: 'success', output: { exitCode: 0, stdout: 'half\n' } },
    ]);
  });

  it.each([1.5, 1e30, -5])('a model that counts %d tokens does not break the record', async (input) => {
    model.script = () => ({ text: 'Counted.', usage: { input, output: 1 } });
    const task = await runTask(member.client, `Count ${input}.`);
    expect(task.status).toBe('completed');
    expect(task.usage['inputTokens']).toBeGreaterThanOrEqual(0);
  });

  it('a model that repeats the same pair of calls is stopped', async () => {
    model.script = () => ({
      calls: [
        { name: 'bash', arguments: { command: 'true' } },
        { name: 'bash', arguments: { command: 'echo' } },
      ],
    });
    expect(await runTask(member.client, 'Go round.')).toMatchObject({
      status: 'failed',
      statusReason: { code: 'no_progress' },
    });
  });
});

describe('A database that is away for less than two thirds of the lease', () => {
  slowIt('costs no worker a run: what has happened meanwhile is recorded when it is back', async () => {
    const model = await HeldModel.start();
    const db = await createDatabase();
    const relay = await relayTo(db.url);
    const service = await bootWorker({ db, env: { DATABASE_URL: relay.url, OPENAI_COMPATIBLE_URL: model.server.url } });
    const { client } = await makeMember(service);
    const ids: string[] = [];
    const asked: Asked[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push((await createTask(client, { content: 'Begin.' })).id);
      asked.push(await model.asked());
    }
    await relay.cut();
    const { work } = service.app.get(Database);
    await until('the connections to be gone', () => work.pool.totalCount === 0);
    const tried = jest.spyOn(work, 'connect');
    for (const { answer } of asked) answer({ text: 'Done.' });
    await until('each to try again', () => tried.mock.calls.length > 2 * ids.length);
    await relay.mend();
    for (const id of ids) expect(await finished(client, id)).toMatchObject({ result: { text: 'Done.' } });
    expect(await db.query('SELECT DISTINCT epoch, recovery_count FROM runs')).toEqual([
      { epoch: 1, recovery_count: 0 },
    ]);
    await service.close();
    await relay.close();
    await db.drop();
    await model.server.stop();
  });
});
