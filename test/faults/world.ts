// A small installation as an operator would run it: real processes of the built service on a PostgreSQL and a Redis.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ROOMY } from '../harness/limits.js';
import { ModelServer } from '../harness/model-server.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { MODEL } from './orders.js';

const run = promisify(execFile);
const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

export interface WorldOptions {
  databaseUrl: string;
  workers?: number;
  leaseSeconds?: number;
  /** What the workers are told. */
  redisUrl?: string;
  /** What the API process is told, when it is not the same. */
  ringUrl?: string;
  /** Another build of the service. */
  dist?: string;
}

export class World {
  readonly workers: ServiceProcess[] = [];
  api: ServiceProcess;
  secret = '';
  private readonly folder = temporaryFolder();
  private readonly started: ServiceProcess[] = [];
  private readonly env: Record<string, string>;

  private constructor(
    private readonly options: WorldOptions,
    readonly model: ModelServer,
  ) {
    const config = join(this.folder.path, 'millwright.json');
    const models = [
      { id: 'runbook', provider: 'runbook' },
      { id: MODEL, provider: 'openai-compatible' },
    ];
    writeFileSync(config, JSON.stringify({ ...ROOMY, models }));
    this.env = {
      DATABASE_URL: options.databaseUrl,
      DATA_DIR: this.folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      CONFIG_FILE: config,
      LEASE_SECONDS: String(options.leaseSeconds ?? 2),
      LOG_LEVEL: 'warn',
      OPENAI_COMPATIBLE_URL: model.url,
      ...(options.redisUrl === undefined ? {} : { REDIS_URL: options.redisUrl }),
    };
  }

  static async start(options: WorldOptions): Promise<World> {
    const world = new World(options, await ModelServer.start());
    world.api = await world.spawn({ ROLE: 'api' });
    await world.api.ready();
    for (let n = 0; n < (options.workers ?? 3); n++) await world.startWorker(n);
    await Promise.all(world.workers.map((worker) => worker.ready()));
    world.secret = await world.createKey();
    return world;
  }

  /** Starts the worker of this place, and does not wait until it works. */
  async startWorker(place: number): Promise<void> {
    this.workers[place] = await this.spawn({ ROLE: 'worker' });
  }

  async restartApi(): Promise<void> {
    await this.api.end('SIGKILL');
    this.api = await this.spawn({ ROLE: 'api' });
    await this.api.ready();
  }

  /** What all processes wrote, for a test that fails. */
  get log(): string {
    return this.started.map((process) => process.log).join('');
  }

  async close(): Promise<void> {
    // A stopped process does not hear a SIGTERM.
    for (const process of this.started) process.child.kill('SIGCONT');
    await Promise.all(this.started.map((process) => process.end()));
    await this.model.stop();
    this.folder.remove();
  }

  private async spawn(env: Record<string, string>): Promise<ServiceProcess> {
    const { dist = DIST, ringUrl } = this.options;
    const ring = env['ROLE'] === 'api' && ringUrl !== undefined ? { REDIS_URL: ringUrl } : {};
    const process = await ServiceProcess.spawn({ ...this.env, ...env, ...ring }, join(dist, 'main.js'));
    this.started.push(process);
    return process;
  }

  private async createKey(): Promise<string> {
    const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
    const cli = join(this.options.dist ?? DIST, 'cli.js');
    const { stdout } = await run(process.execPath, [cli, ...words], {
      cwd: dirname(cli),
      env: { PATH: process.env['PATH'], ...this.env },
    });
    return (JSON.parse(stdout) as { key: { secret: string } }).key.secret;
  }
}
