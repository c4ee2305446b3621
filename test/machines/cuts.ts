// How tasks are cut while they work.
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '../harness/client.js';
import type { Machines } from '../harness/machines.js';
import { LONG } from '../harness/numbers.js';
import type { Operator } from '../harness/operator.js';
import type { PostgresServer } from '../harness/postgres.js';
import type { S3Stand } from '../harness/s3-stand.js';
import { until } from '../harness/until.js';
import { LINES } from './steps.js';

/** What ends a machine, and with a loss its disk too. */
export const ENDS = ['drain', 'SIGTERM', 'SIGKILL', 'loss'] as const;
/** What all machines need, and is away for some seconds. */
export const OUTAGES = ['database', 'storage'] as const;
const FOR_ALL = [...ENDS, ...OUTAGES];
export type Kind = 'pause' | (typeof FOR_ALL)[number];
/** Milliseconds in which the storage refuses everything. */
const AWAY_MS = LONG ? 30_000 : 5_000;
/** While the model is asked for a call, as soon as the call is on record, or as soon as its result is. */
const MOMENTS = ['asked', 'begun', 'over'] as const;

interface Cut {
  kind: Kind;
  moment: (typeof MOMENTS)[number];
}

/** By the number of a task and of its call: one to three cuts of each task. One of three tasks is cut with others. */
export function planned(tasks: number, random: () => number): Map<string, Cut> {
  const below = (n: number) => Math.floor(random() * n);
  const plan = new Map<string, Cut>();
  for (let n = 1; n <= tasks; n++) {
    const cuts = 1 + below(3);
    for (let i = 0; i < cuts; i++) {
      const kind = i === 0 && n % 3 === 0 ? (FOR_ALL[(n / 3) % FOR_ALL.length] ?? 'loss') : 'pause';
      const key = `${n} ${1 + below(LINES)}`;
      // That one comes first, and is not replaced by a pause.
      if (!plan.has(key)) plan.set(key, { kind, moment: MOMENTS[below(MOMENTS.length)] ?? 'over' });
    }
  }
  return plan;
}

interface Stand {
  machines: Machines;
  db: PostgresServer;
  storage: S3Stand;
  operator: Operator;
  client: Client;
}

/** Carries out a plan. A call for which a cut is planned is given by the model when the cut has its turn. */
export class Cuts {
  /** By the id of a task. */
  readonly made = new Map<string, Kind[]>();
  /** How often a machine has ended in which way, and the rest of what machines need was away. */
  readonly ended = new Map<Kind, number>();
  /** All tasks are there: from then on the database may be away. */
  allBegun: () => void = () => undefined;
  private readonly whole = new Promise<void>((resolve) => (this.allBegun = resolve));
  /** Of the tasks, by their numbers. */
  readonly ids = new Map<number, string>();
  /** Numbers of the machines that work. */
  readonly workers: number[] = [];
  private readonly begun = new Map<string, Promise<void>>();
  private readonly all: Promise<void>[] = [];
  /** One machine ends at a time, or is without what it needs. */
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly stand: Stand,
    private readonly plan: Map<string, Cut>,
    private readonly random: () => number,
  ) {}

  async worker(): Promise<void> {
    await this.stand.machines.another();
    this.workers.push(this.stand.machines.newest);
  }

  /** Resolves when the model may give this call. */
  async before(n: number, k: number): Promise<void> {
    const key = `${n} ${k}`;
    const cut = this.plan.get(key);
    if (cut === undefined) return;
    const begun = this.begun.get(key) ?? this.begin(n, k, cut);
    this.begun.set(key, begun);
    await begun;
  }

  /** Resolves when each cut that has begun is over, and what ended is replaced. */
  async over(): Promise<void> {
    await Promise.all(this.all);
  }

  private begin(n: number, k: number, cut: Cut): Promise<void> {
    let resolve = () => {};
    const promise = new Promise<void>((done) => (resolve = done));
    const made =
      cut.kind === 'pause' ? this.make(n, k, cut, resolve) : this.last.then(() => this.make(n, k, cut, resolve));
    if (cut.kind !== 'pause') this.last = made.catch(() => undefined);
    this.all.push(made.finally(resolve));
    return promise;
  }

  private async make(n: number, k: number, { kind, moment }: Cut, release: () => void): Promise<void> {
    const id = await until('the task to be known', () => this.ids.get(n));
    if (moment !== 'asked') release();
    await until(`call ${k} of task ${n} to be ${moment}`, () => moment === 'asked' || this.reached(id, k, moment), {
      within: 90_000,
    });
    if (kind === 'pause') return this.pause(id, release);
    this.ended.set(kind, (this.ended.get(kind) ?? 0) + 1);
    if (kind !== 'database' && kind !== 'storage') return this.end(kind, id, release);
    this.count(id, kind);
    await this.whole;
    release();
    await (kind === 'database' ? this.restartDatabase() : this.refuseStorage());
  }

  private async restartDatabase(): Promise<void> {
    const { db } = this.stand;
    await db.kill();
    await db.run();
  }

  private async refuseStorage(): Promise<void> {
    const { storage } = this.stand;
    await storage.refuse();
    await wait(AWAY_MS);
    await storage.listen();
  }

  /** The rows of a statement, asked again while the database is away. */
  async rows<Row extends Record<string, unknown>>(text: string, values: unknown[]): Promise<Row[]> {
    return until('the database to answer', () => this.stand.db.query<Row>(text, values).catch(() => null), {
      within: 150_000,
    });
  }

  /** The status of the answer to a request without a body, sent again while the service is unavailable. */
  private async post(path: string): Promise<number> {
    const sent = async () => (await this.stand.client.post(path)).status;
    return until(
      'the service to answer',
      async () => {
        const status = await sent();
        return status !== 503 && status;
      },
      { within: 150_000, every: 200 },
    );
  }

  private async reached(id: string, k: number, moment: 'begun' | 'over'): Promise<boolean> {
    const text = `SELECT 1 FROM tool_invocations v JOIN messages m ON m.id = v.message_id
      WHERE m.task_id = $1 AND v.input ->> 'command' LIKE $2 AND (v.state <> 'running' OR $3)`;
    return (await this.rows(text, [id, `k=${k};%`, moment === 'begun'])).length > 0;
  }

  private async pause(id: string, release: () => void): Promise<void> {
    const status = await this.post(`/v1/tasks/${id}/pause`);
    release();
    // It was faster.
    if (status === 409) return;
    expect(status).toBe(200);
    this.count(id, 'pause');
    const runs = `SELECT 1 FROM runs WHERE task_id = $1 AND status = 'running'`;
    await until('the task to stop', async () => (await this.rows(runs, [id])).length === 0, { within: 150_000 });
    expect([200, 409]).toContain(await this.post(`/v1/tasks/${id}/resume`));
  }

  /** Ends the machine that has the task, or any; another one or the same takes its place. */
  private async end(kind: (typeof ENDS)[number], id: string, release: () => void): Promise<void> {
    const { machines, operator } = this.stand;
    const [task] = await this.rows<{ at: string }>('SELECT machine_id AS at FROM tasks WHERE id = $1', [id]);
    const any = Math.floor(this.random() * this.workers.length);
    const found = this.workers.findIndex((nth) => machines.id(nth) === task?.at);
    const [nth = 0] = this.workers.splice(found < 0 ? any : found, 1);
    const running = `SELECT t.id FROM tasks t JOIN runs r ON r.task_id = t.id WHERE r.status = 'running' AND t.machine_id = $1`;
    for (const one of await this.rows<{ id: string }>(running, [machines.id(nth)])) this.count(one.id, kind);
    if (kind === 'drain') await operator.run('machine', 'drain', machines.id(nth));
    const ended =
      kind === 'drain'
        ? until('the machine to end', () => machines.ended(nth), { within: 150_000 })
        : machines.kill(nth, kind === 'loss' ? 'SIGKILL' : kind);
    release();
    await ended;
    if (kind === 'loss') machines.lose(nth);
    if (kind === 'loss' || this.random() < 0.5) return this.worker();
    await machines.again(nth);
    this.workers.push(nth);
  }

  private count(id: string, kind: Kind): void {
    this.made.set(id, [...(this.made.get(id) ?? []), kind]);
  }
}
