// The installation under attack: one process of the API and one worker, as an operator would run them, with PostgreSQL, Redis
// and sandboxes. Each attack has a workspace of its own, so that none begins with used-up limits.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { Bystander } from './bystander.js';
import { CONFIG, LIMITS } from './bounds.js';
import { TenantA } from './tenant-a.js';
import { UsageWatch } from './usage.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
const ROLES = ['api', 'worker'] as const;
type Role = (typeof ROLES)[number];

interface Attacker {
  member: Member;
  tidier: string;
}

export class World {
  readonly processes = new Map<Role, ServiceProcess>();
  readonly watch: UsageWatch;
  bystander: Bystander;
  private port = '';
  private victim: Member;
  private readonly attackers = new Map<string, Attacker>();

  private constructor(
    private readonly db: TestDatabase,
    private readonly redis: RedisServer,
    private readonly folder: ReturnType<typeof temporaryDataDir>,
  ) {
    const pids = () => [...this.processes.values()].flatMap(({ child: { pid } }) => (pid === undefined ? [] : [pid]));
    this.watch = new UsageWatch(folder.path, pids);
  }

  /** @param names of the attacks. */
  static async start(names: string[]): Promise<World> {
    const [db, redis] = await Promise.all([createDatabase(), RedisServer.start()]);
    const world = new World(db, redis, temporaryDataDir());
    try {
      writeFileSync(join(world.folder.path, 'millwright.json'), JSON.stringify(CONFIG));
      await world.makeMembers(names);
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
    this.bystander ??= await Bystander.start(url, this.victim.key.secret);
  }

  attacker(name: string): TenantA {
    const attacker = this.attackers.get(name);
    if (attacker === undefined) throw new Error(`No workspace was made for ${name}.`);
    return new TenantA(this.processes.get('api')?.url ?? '', attacker.member, attacker.tidier);
  }

  /** Ends the processes of the service, for {@link revive}, and forgets the attack: the next one finds a sound service. */
  async replace(): Promise<void> {
    await Promise.all([...this.processes.values()].map((process) => process.end('SIGKILL')));
    await this.db.query('DELETE FROM tasks WHERE workspace_id <> $1', [this.victim.workspace.id]);
  }

  /** What went wrong for the other tenant since a time: its own view, processes that ended, runs that were taken over. */
  async wrongs(since: number): Promise<string[]> {
    const ended = ROLES.filter((role) => this.processes.get(role)?.ended !== false);
    const [row] = await this.db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM runs WHERE workspace_id = $1 AND epoch > 1 AND created_at >= $2',
      [this.victim.workspace.id, new Date(since)],
    );
    return [
      ...ended.map((role) => `the process ${role} ended:\n${this.processes.get(role)?.log.slice(-2000)}`),
      ...((row?.n ?? 0) > 0 ? [`${row?.n} of its runs were taken over`] : []),
      ...this.bystander.wrongs(since),
    ];
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

  /** The socket at which a process is asked for its longest span. */
  private spans(role: Role): string {
    return join(this.folder.path, `${role}.spans`);
  }

  private async makeMembers(names: string[]): Promise<void> {
    const service = await bootApp({ db: this.db });
    try {
      this.victim = await makeMember(service);
      for (const name of names) {
        const member = await makeMember(service);
        const { workspace, user } = member;
        const tidier = await service.app.get(KeysService, { strict: false }).create({
          workspaceId: workspace.id,
          userId: user.id,
          name: `tidies up ${randomUUID()}`,
          scopes: service.app.get(ExtensionSet).scopes,
          lifetimeSeconds: null,
        });
        this.attackers.set(name, { member, tidier: tidier.secret });
      }
    } finally {
      await service.close();
    }
  }
}
