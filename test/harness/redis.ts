import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './ports.js';
import { temporaryFolder } from './service.js';
import { until } from './until.js';

/** Null where no `redis-server` is on the PATH. */
export const REDIS_SERVER =
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'redis-server'))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    }) ?? null;

/** `describe` for suites that need a real Redis: elsewhere they are skipped, and the output says why. */
export function describeWithRedis(name: string, suite: () => void): void {
  if (REDIS_SERVER !== null) describe(name, suite);
  else describe.skip(`${name}: skipped, because no redis-server is on the PATH`, suite);
}

/** A real Redis of one's own, without persistence. */
export class RedisServer {
  private child: ChildProcess | null = null;
  private readonly folder = temporaryFolder();
  private constructor(private readonly port: number) {}

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.run();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it, again after {@link kill}, on the same port. */
  async run(): Promise<void> {
    const words = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder.path];
    this.child = spawn(REDIS_SERVER ?? 'redis-server', words, { stdio: 'ignore' });
    await until('Redis to answer', () => this.command('PING').catch(() => null));
  }

  /** One command on a connection of its own. */
  async command(name: string, ...words: string[]): Promise<unknown> {
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null, disconnectTimeout: 20 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.call(name, ...words);
    } finally {
      client.disconnect();
    }
  }

  /** Keeps its connections and answers nothing, until {@link thaw}. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child === null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    this.folder.remove();
  }
}
