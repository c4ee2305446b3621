// The installation under attack: one process of the API and one worker, as an operator would run them, with PostgreSQL, Redis
// and sandboxes. Each attack has a workspace of its own, so that none begins with used-up limits.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connected } from '../../src/resources/integrations/connections.service.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { findProgram } from '../../src/engine/sandbox/host.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';
import { bootApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { temporaryDataDir } from '../harness/embedded.js';
import { RedisServer } from '../harness/redis.js';
import { MAIN, ServiceProcess } from '../harness/service.js';
import { longestSpan, watchedSpans } from '../harness/spans.js';
import { automationOn, connect } from '../harness/hooks.js';
import { until } from '../harness/until.js';
import { Bystander } from './bystander.js';
import { CONFIG, LIMITS } from './bounds.js';
import type { Attack } from './attack.js';
import { Planned } from './planned.js';
import { TenantA } from './tenant-a.js';
import { UsageWatch } from './usage.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
const ROLES = ['api', 'worker'] as const;
type Role = (typeof ROLES)[number];

interface Attacker {
  member: Member;
  tidier: string;
  planned: Planned;
  followers: string[];
}

/** Runs of the automations of a workspace, with their tasks. */
const FIRED_FROM = `FROM automation_runs r JOIN automations a ON a.id = r.automation_id
  LEFT JOIN hook_deliveries d ON d.id = r.delivery_id LEFT JOIN tasks t ON t.id = r.task_id WHERE a.workspace_id = $1`;
/** Of tasks that began since {@link World.fired} looked: the other tenant goes on. */
const UNDER_WAY = `'queued', 'running'`;
const FIRED = `SELECT r.status, r.reason ${FIRED_FROM}`;

export class World {
  readonly processes = new Map<Role, ServiceProcess>();
  readonly watch: UsageWatch;
  bystander: Bystander;
  private port = '';
  private victim: Member;
  private hook: Connected;
  private readonly attackers = new Map<string, Attacker>();

  private constructor(
    private readonly db: TestDatabase,
    private readonly redis: RedisServer,
    private readonly folder: ReturnType<typeof temporaryDataDir>,
  ) {
    const pids = () => [...this.processes.values()].flatMap(({ child: { pid } }) => (pid === undefined ? [] : [pid]));
    this.watch = new UsageWatch(folder.path, pids);
  }

  static async start(attacks: Attack[]): Promise<World> {
    const [db, redis] = await Promise.all([createDatabase(), RedisServer.start()]);
    const world = new World(db, redis, temporaryDataDir());
    try {
      writeFileSync(join(world.folder.path, 'millwright.json'), JSON.stringify(CONFIG));
      await world.makeMembers(attacks);
      await world.revive();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** Starts what has ended, the first time everything. */
  async revive(): Promise<void> {
    const ended = ROLES.filter((role) => this.processes.get(role)?.ended !== false);
    const begin = async (role: Role) => {
      const process = await this.spawn(role);
      this.processes.set(role, process);
      await process.ready();
    };
    await Promise.all(ended.map(begin));
    const url = this.processes.get('api')?.url ?? '';
    this.bystander ??= await Bystander.start(url, this.victim.key.secret, this.hook);
  }

  attacker(name: string): TenantA {
    const attacker = this.attackers.get(name);
    if (attacker === undefined) throw new Error(`No workspace was made for ${name}.`);
    const { member, tidier, planned, followers } = attacker;
    return new TenantA(this.processes.get('api')?.url ?? '', member, tidier, planned, followers);
  }

  /** Ends the processes of the service, for {@link revive}, and forgets the attack: the next one finds a sound service. */
  async replace(): Promise<void> {
    await Promise.all([...this.processes.values()].map((process) => process.end('SIGKILL')));
    await this.db.query('DELETE FROM automations WHERE workspace_id <> $1', [this.victim.workspace.id]);
    await this.db.query('DELETE FROM tasks WHERE workspace_id <> $1', [this.victim.workspace.id]);
  }

  /** What went wrong for the other tenant since a time: its own view, processes that ended, runs that were taken over. */
  async wrongs(since: number): Promise<string[]> {
    const ended = ROLES.filter((role) => this.processes.get(role)?.ended !== false);
    const [row] = await this.db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM runs WHERE workspace_id = $1 AND epoch > 1 AND created_at >= $2',
      [this.victim.workspace.id, new Date(since)],
    );
    const faults = await this.db.query<{ status: string; reason: { message: string } | null }>(
      `${FIRED} AND r.created_at >= $2 AND (r.status <> 'started' OR coalesce(t.status, 'deleted') NOT IN ('completed', ${UNDER_WAY}))`,
      [this.victim.workspace.id, new Date(since)],
    );
    return [
      ...ended.map((role) => `the process ${role} ended:\n${this.processes.get(role)?.log.slice(-2000)}`),
      ...((row?.n ?? 0) > 0 ? [`${row?.n} of its runs were taken over`] : []),
      ...faults.map(
        ({ status, reason }) =>
          `a run of its automations: ${status}, ${reason?.message ?? 'its task is not completed'}`,
      ),
      ...this.bystander.wrongs(since),
    ];
  }

  /** Resolves when all of the other tenant's automations that are due have fired, and their tasks are over. */
  async fired(): Promise<void> {
    const none = async () => {
      const [row] = await this.db.query<{ left: number }>(
        `SELECT (SELECT count(*) FROM automations a WHERE a.workspace_id = $1 AND a.next_run_at < now())::int
         + (SELECT count(*) FROM hook_deliveries d WHERE d.connection_id = $2 AND d.payload IS NOT NULL)::int
         + (SELECT count(*) FROM tasks WHERE workspace_id = $1 AND automation_id IS NOT NULL AND status IN (${UNDER_WAY}))::int AS left`,
        [this.victim.workspace.id, this.hook.id],
      );
      return row?.left === 0;
    };
    await until('the automations to have fired', none, { within: 150_000, every: 50 });
  }

  /** How late the other tenant's automations have fired since a time, at the worst. Milliseconds. */
  async late(since: number): Promise<{ planned: number; onEvent: number }> {
    const [row] = await this.db.query<{ planned: number; onEvent: number }>(
      `SELECT coalesce(max(late) FILTER (WHERE trigger_type = 'schedule'), 0)::float8 AS planned,
         coalesce(max(late) FILTER (WHERE trigger_type = 'event'), 0)::float8 AS "onEvent"
       FROM (SELECT r.trigger_type, 1000 * extract(epoch FROM t.created_at - coalesce(r.scheduled_at, d.created_at)) AS late ${FIRED_FROM}
         AND r.created_at >= $2) fired`,
      [this.victim.workspace.id, new Date(since)],
    );
    return row ?? { planned: 0, onEvent: 0 };
  }

  /** The longest span of computing of each main thread since this was last asked, milliseconds; 0 of a process that ended. */
  async standstill(): Promise<Record<Role, number>> {
    const longest = (role: Role) => longestSpan(this.spans(role)).catch(() => 0);
    return { api: await longest('api'), worker: await longest('worker') };
  }

  /** Whether the worker bounds a sandbox by a control group, as its boot has said. */
  get groups(): boolean {
    return /Control groups in/.test(this.processes.get('worker')?.log ?? '');
  }

  async close(): Promise<void> {
    await this.bystander?.stop();
    await this.watch.stop();
    await Promise.all([...this.processes.values()].map((process) => process.end()));
    await this.redis.stop();
    await this.db.drop();
    this.folder.remove();
  }

  private async spawn(role: Role): Promise<ServiceProcess> {
    const env = {
      ROLE: role,
      DATABASE_URL: this.db.url,
      REDIS_URL: this.redis.url,
      DATA_DIR: this.folder.path,
      SECRET_KEY,
      // As they come: the walls are under attack with the limits that they have.
      HOOKS_PER_MINUTE: '600',
      AUTH_FAILURES_PER_MINUTE: '300',
      CONFIG_FILE: join(this.folder.path, 'millwright.json'),
      MAX_UPLOAD_BYTES: String(LIMITS.uploadBytes),
      WORKER_CONCURRENCY: String(LIMITS.places),
      ...watchedSpans(this.spans(role)),
    };
    // The same port again, where the other tenant asks.
    const port = role === 'api' && this.port !== '' ? { PORT: this.port } : {};
    // As many descriptors as a service has that nobody gave more. A worker's sandboxes may have 4,096 each.
    const limit = role === 'api' ? [findProgram('prlimit') ?? 'prlimit', `--nofile=${LIMITS.descriptors}`] : [];
    const process = await ServiceProcess.spawn({ ...env, ...port }, MAIN, limit);
    if (role === 'api') this.port = new URL(process.url).port;
    return process;
  }

  /** Tasks that are over, with words by which they are found. */
  private async makeTasks({ workspace, user }: Member, count: number): Promise<void> {
    await this.db.query(
      `INSERT INTO tasks (id, workspace_id, created_by, title, opening, status, model, created_at, updated_at, finished_at)
       SELECT gen_random_uuid(), $1, $2, 'Task ' || n, 'common words of task ' || n || ' rare' || n % 1000 || repeat(' more words', 20),
         'completed', 'runbook', at, at, at
       FROM (SELECT n, now() - n * interval '1 second' AS at FROM generate_series(1, $3::int) n) made`,
      [workspace.id, user.id, count],
    );
  }

  /** The socket at which a process is asked for its longest span. */
  private spans(role: Role): string {
    return join(this.folder.path, `${role}.spans`);
  }

  private async makeMembers(attacks: Attack[]): Promise<void> {
    const service = await bootApp({ db: this.db, env: { SECRET_KEY } });
    try {
      this.victim = await makeMember(service);
      this.hook = await connect(service, this.victim);
      await automationOn(service, this.victim, this.hook.id);
      for (const { name, keys = 0, tasks = 0 } of attacks) {
        const member = await makeMember(service);
        const { workspace, user } = member;
        const newKey = async () => {
          const keys = service.app.get(KeysService, { strict: false });
          const { scopes } = service.app.get(ExtensionSet);
          const about = { workspaceId: workspace.id, userId: user.id, name: `a key ${randomUUID()}`, scopes };
          return (await keys.create({ ...about, lifetimeSeconds: null })).secret;
        };
        const tidier = await newKey();
        const followers = await Promise.all(Array.from({ length: keys }, newKey));
        if (tasks > 0) await this.makeTasks(member, tasks);
        const connections = {
          github: await connect(service, member),
          webhook: await connect(service, member, { slug: 'webhook' }),
        };
        const planned = new Planned(this.db, member, connections);
        this.attackers.set(name, { member, tidier, planned, followers });
      }
    } finally {
      await service.close();
    }
  }
}
