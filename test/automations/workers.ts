// Worker processes of the built service on one database, killed and started anew.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestDatabase } from '../harness/database.js';
import { temporaryDataDir } from '../harness/embedded.js';
import { ServiceProcess } from '../harness/service.js';
import { until } from '../harness/until.js';

export class Workers {
  readonly processes: ServiceProcess[] = [];
  private readonly started: ServiceProcess[] = [];
  private readonly up = new Set<ServiceProcess>();
  private readonly folder = temporaryDataDir();

  private constructor(
    private readonly db: TestDatabase,
    private readonly more: Record<string, string>,
  ) {
    const config = { plans: { paid: { activeAutomations: 100_000, runningTasks: 1000 } } };
    writeFileSync(this.config, JSON.stringify(config));
  }

  static async start(db: TestDatabase, count: number, more: Record<string, string> = {}): Promise<Workers> {
    const workers = new Workers(db, more);
    try {
      await Promise.all(Array.from({ length: count }, (_, place) => workers.launch(place)));
      await workers.ready(count);
      return workers;
    } catch (error) {
      await workers.close();
      throw error;
    }
  }

  /** Kills one, and starts another in its place without waiting for it. One of the others is at work. */
  async killAndReplace(place: number): Promise<void> {
    await this.processes[place]?.end('SIGKILL');
    await this.launch(place);
    await this.ready(1);
  }

  /** Waits until so many work. */
  async ready(count: number): Promise<void> {
    const working = () => this.processes.filter((one) => this.up.has(one) && !one.ended).length >= count;
    await until(`${count} workers to be up`, working, { within: 120_000 });
  }

  get log(): string {
    return this.started.map(({ log }) => log.slice(-2000)).join('\n');
  }

  async close(): Promise<void> {
    await Promise.all(this.started.map((one) => one.end('SIGKILL')));
    this.folder.remove();
  }

  private get config(): string {
    return join(this.folder.path, 'millwright.json');
  }

  private async launch(place: number): Promise<void> {
    const worker = await ServiceProcess.spawn({
      ROLE: 'worker',
      DATABASE_URL: this.db.url,
      DATA_DIR: this.folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      CONFIG_FILE: this.config,
      SANDBOX: 'none',
      LOG_LEVEL: 'warn',
      ...this.more,
    });
    this.processes[place] = worker;
    this.started.push(worker);
    worker.ready().then(
      () => this.up.add(worker),
      () => undefined,
    );
  }
}
