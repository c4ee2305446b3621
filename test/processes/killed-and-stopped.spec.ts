import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import {
  call,
  createTask,
  finished,
  reaches,
  readMessages,
  readResults,
  readTask,
  runTask,
  script,
  texts,
} from '../harness/tasks.js';
import { expectToldTo } from '../harness/told.js';
import { until } from '../harness/until.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const run = promisify(execFile);

describe('The service as a process on the embedded default (reference §16)', () => {
  const folder = temporaryFolder();
  let model: ModelServer;
  let env: Record<string, string>;
  let secret: string;

  const cli = async (...words: string[]) => {
    const { stdout } = await run(process.execPath, [CLI, ...words, '--json'], {
      env: { PATH: process.env['PATH'], ...env },
    });
    return JSON.parse(stdout) as { key: { secret: string } };
  };

  beforeAll(async () => {
    model = await ModelServer.start();
    env = { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url };
    secret = (
      await cli('key', 'create', '--workspace', 'default', '--user', 'owner@localhost').catch(async () => {
        await cli('workspace', 'create', '--name', 'Default', '--slug', 'mine');
        await cli('user', 'create', '--email', 'me@example.test', '--name', 'Me');
        await cli('member', 'add', '--workspace', 'mine', '--user', 'me@example.test', '--role', 'owner');
        return cli('key', 'create', '--workspace', 'mine', '--user', 'me@example.test');
      })
    ).key.secret;
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  it('killed with kill -9 in mid-run it starts again: nothing acknowledged is lost and the task goes on', async () => {
    const mark = newMark();
    const first = await ServiceProcess.start(env);
    const client = new Client(first.url, secret);
    const done = await runTask(client, script({ text: 'Before.' }));
    const commands = ['echo once >> kept.txt', `sleep ${mark}`, 'cat kept.txt'].map((command) =>
      call('bash', { command }),
    );
    const { id } = await createTask(client, { content: script(...commands, { text: 'After all.' }) });
    await sleeps(mark);
    const waiting = await createTask(client, {
      content: script(call('ask', { question: 'Still there?' }), { text: 'Yes.' }),
    });
    const asked = await reaches(client, waiting.id, 'awaiting_input');
    await first.end('SIGKILL');
    await processesGone(`sleep ${mark}`);

    const second = await ServiceProcess.start(env);
    const again = new Client(second.url, secret);
    expect(await reaches(again, done.id, 'completed')).toEqual(done);
    // The question was a row, not a promise.
    const still = await reaches(again, waiting.id, 'awaiting_input');
    expect(still.pendingInteraction).toEqual(asked.pendingInteraction);
    await again.post(`/v1/tasks/${waiting.id}/interaction`, {
      interactionId: still.pendingInteraction?.id,
      content: 'Hello',
    });
    expect(await finished(again, waiting.id)).toMatchObject({ result: { text: 'Yes.' } });
    // The lock of DATA_DIR tells the second one that the first one is dead: it does not wait for the lease of 12 s.
    const over = async () => (await readTask(again, id)).finishedAt !== null;
    await until('the task to go on', over, { within: 150_000 });
    expect(await readTask(again, id)).toMatchObject({ status: 'completed', result: { text: 'After all.' } });
    const results = (await readMessages(again, id)).flatMap(({ parts }) =>
      parts.filter(({ type }) => type === 'tool_result'),
    );
    expect(results.map((part) => part.status)).toEqual(['success', 'error', 'success']);
    expect(results[1]?.error).toMatch(/may have run partly/);
    expect(results[2]?.output).toMatchObject({ stdout: 'once\n' });
    await expectToldTo(again, done.id, waiting.id, id);
    expect(await second.end()).toBe(0);
  });

  it('killed amid commands that may run again it runs them again, whoever asked for them', async () => {
    const mark = newMark();
    // It waits for the kill when it runs for the first time.
    const command = `echo ran >> kept.txt; [ "$(wc -l < kept.txt)" = 2 ] || sleep ${mark}; cat kept.txt`;
    const twice = { status: 'success', output: { exitCode: 0, stdout: 'ran\nran\n' } };
    const story = async (more: Record<string, string>, content: string) => {
      const first = await ServiceProcess.start({ ...env, ...more });
      const { id } = await createTask(new Client(first.url, secret), { content });
      await sleeps(mark);
      await first.end('SIGKILL');
      await processesGone(`sleep ${mark}`);
      const second = await ServiceProcess.start({ ...env, ...more });
      const again = new Client(second.url, secret);
      await until('the task to go on', async () => (await readTask(again, id)).finishedAt !== null, {
        within: 150_000,
      });
      const { status } = await readTask(again, id);
      const results = await readResults(again, id);
      await expectToldTo(again, id);
      expect(await second.end()).toBe(0);
      return { status, results };
    };
    const agents = script(call('bash', { command, repeatable: true }), { text: 'After all.' });
    expect(await story({}, agents)).toMatchObject({ status: 'completed', results: [twice] });
    // Without a provider there is the runbook. Its second block fails, as it may.
    const fence = (info: string, text: string) => `\`\`\`${info}\n${text}\n\`\`\`\n\n`;
    const runbook = fence('bash may-fail repeatable', `${command}; exit 3`) + fence('sh', 'echo last');
    const failed = { ...twice, output: { ...twice.output, exitCode: 3 } };
    const last = { status: 'success', output: { stdout: 'last\n' } };
    expect(await story({ OPENAI_COMPATIBLE_URL: '' }, runbook)).toMatchObject({
      status: 'completed',
      results: [failed, last],
    });
  });

  it('killed while a model is to mend its answer it has asked it once, and the next one fails the task as the record says', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const { script: before } = model;
    let hangs = true;
    model.script = ({ messages }) => {
      return messages.at(-1)?.role === 'user' && messages.length > 2 && hangs
        ? { hang: true }
        : { text: '{"n": "one"}' };
    };
    const asked = () => model.requests.filter(({ sent }) => sent.includes('does not fit')).map(({ sent }) => sent);
    const first = await ServiceProcess.start(env);
    const { id } = await createTask(new Client(first.url, secret), { content: 'Count.', outputSchema });
    await until('the request to mend it', () => asked().length === 1);
    await first.end('SIGKILL');
    hangs = false;

    const second = await ServiceProcess.start(env);
    const again = new Client(second.url, secret);
    const over = async () => (await readTask(again, id)).finishedAt !== null;
    await until('the task to end', over, { within: 150_000 });
    expect(await readTask(again, id)).toMatchObject({ status: 'failed', statusReason: { code: 'output_invalid' } });
    expect(asked()).toEqual([asked()[0], asked()[0]]);
    expect(texts(await readMessages(again, id))).toEqual(['{"n": "one"}', '{"n": "one"}']);
    model.script = before;
    await again.post(`/v1/tasks/${id}/messages`, { content: script({ text: '{"n": 1}' }) });
    expect(await finished(again, id)).toMatchObject({ status: 'completed', result: { output: { n: 1 } } });
    expect(await second.end()).toBe(0);
  });

  it('killed while reads run side by side it reads again what has no result, and each result is there once', async () => {
    const mark = newMark();
    const numbers = [0, 1, 2, 3, 4, 5, 6, 7];
    const first = await ServiceProcess.start(env);
    const client = new Client(first.url, secret);
    const make = numbers.map((n) => `mkdir held-${n}; mkfifo held-${n}/.ignore; echo ${mark} ${n} >held-${n}/note`);
    const folders = call('bash', { command: make.join('\n') });
    const greps = numbers.map((n) => ({ name: 'grep', arguments: { pattern: mark, path: `held-${n}` } }));
    const { id } = await createTask(client, { content: script(folders, { calls: greps }, { text: 'After all.' }) });
    const running = () => numbers.filter((n) => processesWith(`-e\0${mark}\0--\0held-${n}\0`).length > 0);
    // rg reads what a folder ignores first: each search waits at that pipe until somebody writes.
    const write = async (...ns: number[]) => {
      const base = await readFile(join(folder.path, 'sandbox.location'), 'utf8').catch(() => folder.path);
      for (const n of ns) await writeFile(join(base.trim(), 'workdirs', id, `held-${n}/.ignore`), 'none\n');
    };
    await until('all to be read at once', () => running().length === 8);
    await write(1, 0);
    await until('two results', async () => (await readResults(client, id)).filter(({ status }) => status).length === 3);
    await first.end('SIGKILL');
    await processesGone(mark);

    const second = await ServiceProcess.start(env);
    const again = new Client(second.url, secret);
    await until('the others to be read again', () => running().length === 6, { within: 150_000 });
    expect(running()).toEqual([2, 3, 4, 5, 6, 7]);
    await write(7, 6, 5, 4, 3, 2);
    expect(await finished(again, id)).toMatchObject({ status: 'completed', result: { text: 'After all.' } });
    const results = (await readResults(again, id)).slice(1);
    expect(results.map(({ output }) => output)).toEqual(numbers.map((n) => `held-${n}/note:1:${mark} ${n}`));
    await expectToldTo(again, id);
    expect(await second.end()).toBe(0);
  });

  it('a second service on the same DATA_DIR says so and stops; the operator command joins the first', async () => {
    const first = await ServiceProcess.start(env);
    const second = await ServiceProcess.spawn(env);
    await until('the second one to end', () => second.ended, { within: 150_000 });
    expect(second.child.exitCode).toBe(1);
    expect(second.log).toContain(folder.path);
    expect(second.log).toMatch(new RegExp(`\\b${first.child.pid}\\b`));
    expect(
      await run(process.execPath, [CLI, 'workspace', 'list', '--json'], { env: { PATH: process.env['PATH'], ...env } }),
    ).toMatchObject({
      stdout: expect.stringContaining('"workspaces"'),
    });
    expect(await first.end()).toBe(0);
    expect(processesWith(folder.path)).toEqual([]);
  });

  describe('told to stop', () => endsInTime(() => ({})));
  describeWithRedis('told to stop, with Redis', () => {
    let redis: RedisServer;
    beforeAll(async () => (redis = await RedisServer.start()));
    afterAll(() => redis.stop());
    endsInTime(() => ({ REDIS_URL: redis.url }));
  });

  it('told to stop, it lets the commands of a step end that do so soon, and they are not run again', async () => {
    const first = await ServiceProcess.start(env);
    const mark = newMark();
    const commands = [`echo begun >> kept.txt; sleep ${mark}; echo ended >> kept.txt`, 'echo second >> kept.txt'];
    const step = { calls: commands.map((command) => ({ name: 'bash', arguments: { command } })) };
    const { id } = await createTask(new Client(first.url, secret), {
      content: script(step, call('bash', { command: 'cat kept.txt' }), { text: 'Went on.' }),
    });
    await sleeps(mark);
    const ended = first.end('SIGTERM');
    await until('it to be told', () => first.log.includes('Told to stop'));
    for (const pid of processesWith(`sleep\0${mark}`)) process.kill(pid);
    expect(await ended).toBe(0);
    const second = await ServiceProcess.start(env);
    const client = new Client(second.url, secret);
    expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Went on.' } });
    expect(await readResults(client, id)).toMatchObject([
      { status: 'success' },
      { status: 'success' },
      { status: 'success', output: { stdout: 'begun\nended\nsecond\n' } },
    ]);
    await expectToldTo(client, id);
    await second.end();
  });

  it('a wrong value stops the boot with its name and the accepted form', async () => {
    const service = await ServiceProcess.spawn({ ...env, PORT: 'abc', LEASE_SECONDS: '0' });
    await until('it to end', () => service.ended, { within: 150_000 });
    expect(service.child.exitCode).toBe(1);
    expect(service.log).toMatch(/PORT: .*whole number/);
    expect(service.log).toMatch(/LEASE_SECONDS: /);
  });

  it('a worker serves only its health', async () => {
    const worker = await ServiceProcess.start({ ...env, ROLE: 'worker' });
    const status = async (path: string) => (await fetch(worker.url + path)).status;
    expect(await status('/health/live')).toBe(200);
    expect(await status('/v1/auth/context')).toBe(404);
    await worker.end();
  });

  function endsInTime(redis: () => Record<string, string>) {
    it('it hands running work back without counting a recovery, and another process goes on', async () => {
      const first = await ServiceProcess.start({ ...env, ...redis() });
      const mark = newMark();
      const { id } = await createTask(new Client(first.url, secret), {
        content: script(call('bash', { command: `sleep ${mark}` }), { text: 'Went on.' }),
      });
      await sleeps(mark);
      // An upload whose rest never comes.
      const upload = connect(Number(new URL(first.url).port), '127.0.0.1').on('error', () => undefined);
      const head = `POST /v1/uploads HTTP/1.1\nHost: x\nAuthorization: Bearer ${secret}\nContent-Length: 1000`;
      const type = 'Content-Type: multipart/form-data; boundary=b';
      const part = '--b\nContent-Disposition: form-data; name="file"; filename="a.txt"\n\nbegun';
      upload.write(`${head}\n${type}\n\n${part}`.replaceAll('\n', '\r\n'));
      const asked = Date.now();
      expect(await first.end('SIGTERM')).toBe(0);
      expect(Date.now() - asked).toBeLessThan(60_000);
      upload.destroy();
      expect(processesWith(`sleep ${mark}`)).toEqual([]);
      // One that takes no work, to see what it was left as.
      const api = await ServiceProcess.start({ ...env, ROLE: 'api' });
      expect(await readTask(new Client(api.url, secret), id)).toMatchObject({ status: 'queued', statusReason: null });
      expect(await api.end()).toBe(0);
      const second = await ServiceProcess.start(env);
      const client = new Client(second.url, secret);
      expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Went on.' } });
      expect(texts(await readMessages(client, id))).toEqual(['Went on.']);
      await expectToldTo(client, id);
      await second.end();
    });
  }
});
