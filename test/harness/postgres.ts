// A PostgreSQL of one's own as an operator would run it, durable and on a fixed port, to be killed and started again.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { spawnAs } from '../../src/platform/database/embedded/embedded-account.js';
import { nativeFolder, platformPackage } from '../../src/platform/database/embedded/embedded-binaries.js';
import {
  type Cluster,
  DATABASE,
  locateCluster,
  prepareCluster,
} from '../../src/platform/database/embedded/embedded-cluster.js';
import { tryLock } from '../../src/platform/database/embedded/embedded-lock.js';
import { query, temporaryDataDir } from './embedded.js';
import { freePort } from './ports.js';
import { until } from './until.js';

export class PostgresServer {
  private child: ChildProcess | null = null;
  private said = '';

  private constructor(
    readonly url: string,
    private readonly cluster: Cluster,
    private readonly native: string,
    private readonly folder: ReturnType<typeof temporaryDataDir>,
    private readonly settings: string[],
  ) {}

  /** @param settings of its own, such as `fsync=off`; they come last. */
  static async start(settings: string[] = []): Promise<PostgresServer> {
    const folder = temporaryDataDir();
    const cluster = locateCluster(folder.path);
    const native = nativeFolder(platformPackage(), cluster.reachable, cluster.account);
    const lock = await tryLock(join(folder.path, 'postgres.lock'));
    if (lock === null) throw new Error('A new folder is in use.');
    const { password } = await prepareCluster(cluster, { dataDir: folder.path, native, lock, durable: true });
    closeSync(lock);
    const url = `postgres://postgres:${password}@127.0.0.1:${await freePort()}/${DATABASE}`;
    const server = new PostgresServer(url, cluster, native, folder, settings);
    await server.run();
    return server;
  }

  /** Starts it, again after {@link kill}; the processes of the one before may need a moment to end. */
  async run(): Promise<void> {
    await until(
      'PostgreSQL to answer',
      async () => {
        if (this.child === null || this.child.exitCode !== null) this.spawn();
        return (await query(this.url, 'SELECT 1').catch(() => [])).length > 0;
      },
      { within: 150_000, every: 100 },
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.said.slice(-2000)}`);
    });
  }

  /** The postmaster alone, with no time to say anything: its processes end when they see that it is gone. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async query<T extends Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<T[]> {
    return query<T>(this.url, sql, parameters);
  }

  async stop(): Promise<void> {
    await this.end('SIGINT');
    this.folder.remove();
  }

  private spawn(): void {
    const { port } = new URL(this.url);
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=200'];
    const all = [...settings, ...this.settings].flatMap((setting) => ['-c', setting]);
    const words = ['-D', join(this.cluster.folder, 'data'), ...all];
    this.child = spawnAs(
      this.cluster.account,
      [join(this.native, 'bin', 'postgres'), ...words],
      ['ignore', 'ignore', 'pipe'],
    );
    this.child.stderr?.on('data', (chunk) => (this.said += String(chunk)));
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
