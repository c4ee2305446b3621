// A small installation as an operator would run it: real processes of the built service on a PostgreSQL and a Redis.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { FAR_LIMITS } from '../harness/limits.js';
import { ModelServer } from '../harness/model-server.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { MODEL } from './orders.js';

const run = promisify(execFile);
/** The build of this checkout. */
export const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** On a machine that is busy a process takes minutes to boot. */
const READY_MS = 300_000;
/** So many boots of workers may fail. */
const MOST_FAILED = 5;

export interface WorldOptions {
  databaseUrl: string;
  /** What the first worker is told instead. */
  firstWorkerUrl?: string;
  workers?: number;
  /** Default: the service's own. */
  leaseSeconds?: number;
  /** Of each workspace; default: so many that one keeps all workers busy. */
  runningTasks?: number;
  /** What the workers are told. */
  redisUrl?: string;
  /** What the API process is told, when it is not the same. */
  ringUrl?: string;
  /** Another build of the service. */
  dist?: string;
  /** Agent programs, and the models that they drive. */
  engines?: { engines: object; models: object[] };
}

export class World {
  readonly workers: ServiceProcess[] = [];
  /** Requests go to them in turn. */
  apis: ServiceProcess[] = [];
  secret = '';
  private readonly folder = temporaryFolder();
  private readonly started: ServiceProcess[] = [];
  private readonly up = new Set<ServiceProcess>();
  private readonly env: Record<string, string>;
  private turn = 0;
  /** What workers have said that ended by themselves when they booted. */
  private readonly failed: string[] = [];
  private closing = false;

  private constructor(
    private readonly options: WorldOptions,
    readonly model: ModelServer,
  ) {
    const config = join(this.folder.path, 'millwright.json');
    const models = [
      { id: 'runbook', provider: 'runbook' },
      { id: MODEL, provider: 'openai-compatible', prices: { input: 0.333333, cachedInput: 0.1, output: 1.5 } },
    ];
    const plans = { paid: { runningTasks: options.runningTasks ?? 1000 } };
    const { engines, models: driven = [] } = options.engines ?? {};
    writeFileSync(config, JSON.stringify({ ...FAR_LIMITS, engines, models: [...models, ...driven], plans }));
    this.env = {
      DATABASE_URL: options.databaseUrl,
      DATA_DIR: this.folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      CONFIG_FILE: config,
      ...(options.leaseSeconds === undefined ? {} : { LEASE_SECONDS: String(options.leaseSeconds) }),
      LOG_LEVEL: 'warn',
      OPENAI_COMPATIBLE_URL: model.url,
      ...(options.redisUrl === undefined ? {} : { REDIS_URL: options.redisUrl }),
    };
  }

  static async start(options: WorldOptions): Promise<World> {
    const world = new World(options, await ModelServer.start());
    try {
      const workers = Array.from({ length: options.workers ?? 3 }, (_, place) => world.startWorker(place));
      world.api = await world.startApi();
      world.secret = await world.createKey();
      await Promise.all(workers);
      await world.workersAreUp();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** The one whose turn it is. */
  get api(): ServiceProcess {
    const api = this.apis[this.turn++ % this.apis.length];
    if (api === undefined) throw new Error('No process serves the API.');
    return api;
  }
  set api(only: ServiceProcess) {
    this.apis = [only];
  }

  /**
   * Starts the worker of this place, and does not wait until it works.
   * @param dist another build of the service.
   */
  async startWorker(place: number, dist?: string): Promise<void> {
    const { databaseUrl, firstWorkerUrl = databaseUrl } = this.options;
    const DATABASE_URL = place === 0 ? firstWorkerUrl : databaseUrl;
    const worker = await this.spawn({ ROLE: 'worker', DATABASE_URL }, dist);
    this.workers[place] = worker;
    void worker.ready(READY_MS).then(
      () => this.up.add(worker),
      () => this.startAgain(worker, place, dist),
    );
  }

  /** As a supervisor does, where a busy machine has not let it reach its database in time. */
  private startAgain({ child, log }: ServiceProcess, place: number, dist?: string): void {
    // One that is killed while it boots is none that failed.
    if (child.exitCode === null || this.closing) return;
    this.failed.push(log);
    if (this.failed.length <= MOST_FAILED) void this.startWorker(place, dist);
  }

  async workersAreUp(): Promise<void> {
    const up = () => {
      if (this.failed.length > MOST_FAILED) throw new Error(`Workers end when they boot:\n${this.failed.at(-1)}`);
      return this.workers.every((worker) => this.isUp(worker));
    };
    await until('the workers to be up', up, { within: READY_MS });
  }

  /** Whether it has been ready; false again when it has ended. */
  isUp(worker: ServiceProcess): boolean {
    return this.up.has(worker) && !worker.ended;
  }

  /** One more process of the API; resolves when it answers. */
  async startApi(dist?: string): Promise<ServiceProcess> {
    const api = await this.spawn({ ROLE: 'api' }, dist);
    await api.ready(READY_MS).catch((error: unknown) => {
      throw new Error(`The API does not serve:\n${api.log}`, { cause: error });
    });
    return api;
  }

  /** As when the power fails: every process at once. */
  async killAll(): Promise<void> {
    await Promise.all(this.started.map((process) => process.end('SIGKILL')));
  }

  /** What each process wrote last, for a test that fails. */
  get log(): string {
    const last = ({ child, ended, log }: ServiceProcess) =>
      `process ${child.pid}${ended ? `, ended by ${child.signalCode ?? child.exitCode}` : ''}:\n${log.slice(-4000)}`;
    return this.started.map(last).join('\n');
  }

  async close(): Promise<void> {
    this.closing = true;
    // A stopped process does not hear a SIGTERM.
    for (const process of this.started) process.child.kill('SIGCONT');
    await Promise.all(this.started.map((process) => process.end()));
    await this.model.stop();
    this.folder.remove();
  }

  private async spawn(env: Record<string, string>, dist = this.options.dist ?? DIST): Promise<ServiceProcess> {
    const { ringUrl } = this.options;
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
