import { Client } from '../harness/client.js';
import { Machines } from '../harness/machines.js';
import { byMarkers, type ChatMessage, ModelServer } from '../harness/model-server.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { Operator } from '../harness/operator.js';
import { PostgresServer } from '../harness/postgres.js';
import { S3Stand } from '../harness/s3-stand.js';
import { call, createTask, finished, readMessages, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { Cuts, ENDS, OUTAGES, planned } from './cuts.js';
import { append, beginning, historyOf, isUnbroken, LINES, logOf, nextCall, numberOf, toldLost } from './steps.js';

const TASKS = LONG ? 500 : 18;

describe('Tasks that are cut at any moment (reference §22, §23)', () => {
  let model: ModelServer;
  let stand: S3Stand;
  let db: PostgresServer;
  let machines: Machines;
  let clients: [Client, Client];
  let cuts: Cuts;
  /** What the model was asked last, by the number of the task. */
  const asked = new Map<number, ChatMessage[]>();

  beforeAll(async () => {
    model = await ModelServer.start(async (request, attempt) => {
      const n = numberOf(request);
      if (n === null) return byMarkers(request, attempt);
      asked.set(n, request.messages);
      const k = nextCall(request);
      if (k === null) return { text: 'Done.' };
      await cuts.before(n, k);
      return append(n, k);
    });
    stand = await S3Stand.start();
    db = await PostgresServer.start();
    machines = new Machines({
      ...stand.processEnv,
      DATABASE_URL: db.url,
      OPENAI_COMPATIBLE_URL: model.url,
      SNAPSHOT_SECONDS: '1',
      LEASE_SECONDS: '3',
      WORKER_CONCURRENCY: '8',
    });
    const first = await machines.first();
    const second = await machines.api();
    const operator = new Operator({ db });
    const words = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { secret } = (await operator.json<{ key: { secret: string } }>('key', 'create', ...words)).key;
    clients = [new Client(first.url, secret), new Client(second.url, secret)];
    const random = numbers(SEED);
    cuts = new Cuts({ machines, db, storage: stand, operator, client: clients[1] }, planned(TASKS, random), random);
  });
  afterAll(async () => {
    await machines.end();
    await model.stop();
    await stand.close();
    await db.stop();
  });

  it('are told what a lost machine took with it when no snapshot has it, and go on without', async () => {
    const [client] = clients;
    const bash = (command: string) => call('bash', { command });
    await machines.another({ SNAPSHOT_SECONDS: '86400' });
    const lost = machines.newest;
    const { id } = await createTask(client, { content: script(bash('echo one > a'), { text: 'Done.' }) });
    expect((await finished(client, id)).status).toBe('completed');
    const content = (first: string) => script(bash(first), bash('echo three > c; sleep 600'));
    await client.post(`/v1/tasks/${id}/messages`, { content: content('echo two > b') });
    // One that has never had a snapshot.
    const { id: first } = await createTask(client, { content: content('echo 2 > b') });
    await until('both third commands to run', async () => {
      const text = `SELECT 1 FROM tool_invocations WHERE state = 'running' AND input ->> 'command' LIKE 'echo three%'`;
      return (await db.query(text)).length === 2;
    });
    await machines.kill(lost, 'SIGKILL');
    machines.lose(lost);
    await cuts.worker();
    const told = () => JSON.stringify(model.requests.map(({ body }) => body.messages));
    for (const [one, gone, statuses, paths] of [
      [id, 'echo two > b', ['success', 'success', 'error'], ['a']],
      [first, 'echo 2 > b', ['success', 'error'], []],
    ] as const) {
      expect((await finished(client, one)).status).toBe('completed');
      const parts = (await readMessages(client, one)).flatMap((message) => message.parts);
      expect(parts.filter(({ type, name }) => type === 'data' && name === 'workdir')).toMatchObject([
        { data: { restoredToStep: 0, lostSteps: 1 } },
      ]);
      expect(parts.flatMap((part) => part.status ?? [])).toEqual(statuses);
      expect(told()).toContain(String.raw`- bash: \"${gone}\"`);
      const listed = await client.get<{ entries?: { path: string }[] }>(`/v1/tasks/${one}/workdir`);
      expect((listed.body.entries ?? []).map(({ path }) => path)).toEqual(paths);
    }
  });

  it('are handed over whole by a machine that drains, also while the storage is away', async () => {
    const [client] = clients;
    const bash = (command: string) => call('bash', { command });
    // The only one that works.
    const [first = 0] = cuts.workers.splice(0);
    const content = script(bash('until [ -e go ]; do sleep 0.1; done; echo one > a'), bash('cat a'), { text: 'Done.' });
    const { id } = await createTask(client, { content });
    await until('its command to run', async () => {
      const text = `SELECT 1 FROM tool_invocations v JOIN messages m ON m.id = v.message_id WHERE m.task_id = $1 AND v.state = 'running'`;
      return (await db.query(text, [id])).length > 0;
    });
    await cuts.worker();
    let refused = 0;
    stand.fault = () => {
      refused++;
      return { answer: 503, code: 'SlowDown' };
    };
    await new Operator({ db }).run('machine', 'drain', machines.id(first));
    machines.touch(first, id, 'go');
    // A request is given up after six attempts.
    await until('a request to be given up', () => refused > 6, { within: 150_000 });
    expect(machines.ended(first)).toBe(false);
    stand.fault = () => null;
    await until('the machine to end', () => machines.ended(first), { within: 150_000 });
    expect((await finished(client, id)).status).toBe('completed');
    const parts = (await readMessages(client, id)).flatMap((message) => message.parts);
    expect(parts.filter(({ name }) => name === 'workdir')).toEqual([]);
    const outputs = parts.filter(({ type }) => type === 'tool_result').map(({ output }) => (output as { stdout: string }).stdout); // prettier-ignore
    expect(outputs).toEqual(['', 'one\n']);
  });

  it(
    'have in the end exactly what their history says, each call once',
    async () => {
      const [, client] = clients;
      for (let n = 0; n < 2; n++) await cuts.worker();
      const begin = async (n: number) => {
        const { id } = await createTask(clients[n % 2 === 0 ? 0 : 1], { content: beginning(n), title: `Log ${n}` });
        cuts.ids.set(n, id);
        return id;
      };
      // No cut is planned for this one.
      const uncut = await begin(0);
      expect((await finished(client, uncut)).status).toBe('completed');
      const whole = await logOf(client, uncut);
      expect(whole).toHaveLength(LINES);
      for (let n = 1; n <= TASKS; n++) await begin(n);
      cuts.allBegun();
      const ends = async () => (await cuts.rows('SELECT 1 FROM tasks WHERE finished_at IS NULL', [])).length === 0;
      await until('all tasks to end', ends, { within: LONG ? 3_600_000 : 300_000, every: 500 });
      await cuts.over();

      let [losses, gone, interrupted] = [0, 0, 0];
      for (const [n, id] of cuts.ids) {
        const about = `task ${n}, seed ${SEED}`;
        const [task, { calls, told }, log] = [await readTask(client, id), await historyOf(client, id), await logOf(client, id)]; // prettier-ignore
        expect([about, task.status, task.statusReason]).toEqual([about, 'completed', null]);
        expect([about, ...calls.map(({ k }) => k)]).toEqual([about, ...calls.map((_, at) => at + 1)]);
        const lost = toldLost(asked.get(n) ?? []);
        expect([about, ...told.map(({ lostSteps }) => lostSteps)]).toEqual([about, ...lost.map((ks) => ks.length)]);
        // What was interrupted may have come to its line or not; all else is as the history says.
        const open = new Set(calls.flatMap(({ k, line }) => (line === null ? [String(k)] : [])));
        const settled = log.filter((line) => !open.has(line.split(' ')[0] ?? ''));
        const said = calls.flatMap(({ k, line }) => (line === null || lost.flat().includes(k) ? [] : [line]));
        expect([about, ...settled]).toEqual([about, ...said]);
        expect([about, isUnbroken(log)]).toEqual([about, true]);
        if (told.length === 0 && open.size === 0) expect([about, ...log]).toEqual([about, ...whole]);
        losses += told.length;
        gone += lost.flat().length;
        interrupted += open.size;
      }
      expect(await db.query('SELECT task_id FROM runs GROUP BY task_id HAVING count(*) > 1')).toHaveLength(1);
      // A task may end before its only pause comes.
      expect(cuts.made.size).toBeGreaterThan(TASKS * 0.8);
      const made = [...cuts.made.values()].flat();
      const kinds = (['pause', ...ENDS, ...OUTAGES] as const).map((kind) => [kind, made.filter((one) => one === kind).length] as const); // prettier-ignore
      expect([...cuts.ended.keys()].toSorted()).toEqual([...ENDS, ...OUTAGES].toSorted());
      const words = `${TASKS} tasks, cut by ${kinds.map(([kind, times]) => `${kind} ${times}`).join(', ')}`;
      process.stdout.write(`Seed ${SEED}: ${words}; ${interrupted} calls interrupted, ${losses} losses told, of ${gone} calls.\n`); // prettier-ignore
    },
    LONG ? 3_700_000 : 400_000,
  );
});
