import { readdirSync, readFileSync } from 'node:fs';
import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { createTask, readMessages, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { happen, mishapsOf } from '../faults/mishaps.js';
import { MODEL } from '../faults/orders.js';
import { World } from '../faults/world.js';
import { type CommandBody, faultsOf, KINDS, nextCall, type Order, PORTS } from './going-commands.js';

const RUNS = LONG ? 500 : 3;
const KILLS = LONG ? 50 : 1;
/** Tasks that are open at a time. */
const AT_ONCE = 12;
/** Milliseconds that all of them may take. */
const WITHIN = LONG ? 3_000_000 : 480_000;
/** Below what the system and the tests give out: who listens on one of these is a command. */
const FIRST_PORT = 10_001;

/** What must hold when all is over: each statement finds what does not. */
const BROKEN = {
  'a task that is not over': `SELECT id, status FROM tasks WHERE status NOT IN ('completed', 'failed', 'cancelled')`,
  'a command that still runs': `SELECT task_id, number FROM task_commands WHERE status = 'running' OR ended_at IS NULL`,
  'a call without its result': `SELECT message_id FROM tool_invocations WHERE state = 'running'`,
  'a command that has not one beginning and one end': `
    SELECT c.task_id, c.number FROM task_commands c LEFT JOIN task_events e ON e.task_id = c.task_id AND e.data ->> 'commandId' = 'b' || c.number
    GROUP BY c.task_id, c.number HAVING array_agg(e.type ORDER BY e.seq) <> '{command.started,command.ended}'`,
  'a call that has two commands': `SELECT task_id FROM task_commands GROUP BY task_id, tool_call_id HAVING count(*) > 1`,
};
const FIGURES = `
  SELECT count(*)::int AS commands, count(*) FILTER (WHERE status = 'lost')::int AS lost, count(*) FILTER (WHERE status = 'stopped')::int AS stopped,
    count(*) FILTER (WHERE status = 'exited')::int AS exited, (SELECT count(*)::int FROM tool_invocations) AS calls,
    (SELECT count(*)::int FROM tasks WHERE status = 'completed') AS completed, (SELECT count(*)::int FROM runs WHERE epoch > 2) AS recovered
  FROM task_commands`;

/** Ids of processes in the sandboxes of these tasks. */
function processesOf(tasks: ReadonlySet<string>): number[] {
  const isOf = (pid: number) => read(pid, 'mountinfo').match(/\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g)?.some((id) => tasks.has(id.slice(1))); // prettier-ignore
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter(isOf); // prettier-ignore
}

/** Ports of orders that somebody listens on, in the network of a process. */
function portsOf(pid: number | 'self'): number[] {
  const listening = [...read(pid, 'net/tcp').matchAll(/^ *\d+: \w+:(\w{4}) \w+:\w+ 0A /gm)];
  const ports = listening.map(([, port = '']) => Number.parseInt(port, 16));
  return ports.filter((port) => port >= FIRST_PORT && port < FIRST_PORT + 10_000);
}

function read(pid: number | 'self', file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

describe(`${RUNS} runs with servers, watchers and prompts under kills (reference §27.2)`, () => {
  let db: TestDatabase;
  let world: World;
  beforeAll(async () => {
    db = await createDatabase();
    world = await World.start({ databaseUrl: db.url, workers: LONG ? 3 : 2, leaseSeconds: 4 });
  });
  afterAll(async () => {
    await world.close();
    await db.drop();
  });

  it(
    'nothing is run twice or outlives its run, nothing that was said is lost, and no process or port is left',
    async () => {
      const random = numbers(SEED);
      const client = new Client(world.api.url, world.secret);
      const over = new AbortController();
      const happened = { kills: 0, freezes: 0, flushes: 0 };
      const list = mishapsOf(random, 3600, world.workers.length);
      const mishaps = happen(list, world, { redis: null, freezeMs: 8_000, signal: over.signal }, happened);
      const orders = new Map<string, Order>();
      const most = { processes: 0, ports: 0 };
      const open = async () =>
        (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM tasks WHERE finished_at IS NULL`))[0]?.n ?? 0;
      const look = () => {
        const pids = processesOf(new Set(orders.keys()));
        const ports = [...new Set(pids.flatMap(portsOf))];
        most.processes = Math.max(most.processes, pids.length);
        most.ports = Math.max(most.ports, ports.length);
        return { pids, ports, outside: portsOf('self') };
      };
      // A server that has answered a moment ago is there when its agent is asked for the next step: one is seen, however slow the machine is.
      world.model.script = (request) => {
        if (most.ports === 0) look();
        return nextCall(request);
      };
      const began = Date.now();
      for (let n = 0; n < RUNS || happened.kills < KILLS; n++) {
        const order: Order = {
          kind: KINDS[n % KINDS.length] ?? 'server',
          port: FIRST_PORT + ((n * PORTS) % 9_000),
          stops: random() < 0.5,
        };
        const { id } = await createTask(client, { content: JSON.stringify(order), model: MODEL, title: `Order ${n}` });
        orders.set(id, order);
        // A look costs more than to ask, so the last ones alone are looked at while others are sent.
        const room = async () => (await open()) < (n + 1 < RUNS ? AT_ONCE : happened.kills < KILLS ? 3 : AT_ONCE);
        await until('most tasks to be over', room, { within: WITHIN, every: 100 });
        look();
        if (LONG && n % 50 === 49) process.stderr.write(`${n + 1} sent after ${Math.round((Date.now() - began) / 1000)} s, ${JSON.stringify(happened)}\n`); // prettier-ignore
      }
      const none = async () => look() && (await open()) === 0;
      await until('all tasks to be over', none, { within: WITHIN, every: 200 });
      const seconds = Math.round((Date.now() - began) / 1000);
      over.abort();
      await mishaps;

      // Woken workers see that they are not asked any more, and the kernel ends what was theirs.
      const left = { pids: [], ports: [], outside: [] };
      await until('processes to be gone', () => look().pids.length === 0).catch(() => undefined);
      expect(look()).toEqual(left);
      for (const [what, query] of Object.entries(BROKEN)) expect([what, await db.query(query)]).toEqual([what, []]);
      let completed = 0;
      const faults: [string, string[]][] = [];
      for (const [id, order] of orders) {
        const { status, statusReason } = await readTask(client, id);
        // One that was interrupted too often is given up.
        if (status !== 'completed') expect([id, statusReason]).toMatchObject([id, { code: 'worker_lost' }]);
        if (status !== 'completed') continue;
        completed++;
        const { body } = await client.get<{ commands: CommandBody[] }>(`/v1/tasks/${id}/commands?limit=100`);
        faults.push([id, faultsOf(order, await readMessages(client, id, '?limit=100'), body.commands)]);
      }
      expect(faults.filter(([, found]) => found.length > 0)).toEqual([]);
      expect(completed).toBeGreaterThan(orders.size * 0.9 - 1);
      // What was looked for in the end would have been found.
      expect(most.ports).toBeGreaterThan(0);
      const [figures] = await db.query(FIGURES);
      console.log(
        `Commands under kills: ${JSON.stringify({ tasks: orders.size, seconds, ...figures, ...happened, most })}`,
      );
    },
    2 * WITHIN,
  );
});
