// What every measurement stands on: a PostgreSQL and a Redis of the bench's own, and one seeded world in them.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { freePort } from '../scripts/free-port.mjs';
import { cpuOfTree, parentOf, Program } from './processes.mjs';
import { seed } from './seed.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

// More than is ever sent: every request is counted, none is refused.
const MUCH = { capacity: 1_000_000, windowSeconds: 1 };
const POLICIES = ['metadata_read', 'resource_read', 'resource_write', 'task_execution', 'file_upload'];
const PLAN = { global: MUCH, policies: Object.fromEntries(POLICIES.map((name) => [name, MUCH])) };
const CONFIG = { rateLimits: { free: PLAN, paid: PLAN }, plans: { paid: { runningTasks: 20 } } };

/** Starts both servers, seeds them and makes a key; `close` ends and removes all of it. */
export class World {
  static #made = 0;
  #undo = [];

  /**
   * @param root the checkout whose built service is measured.
   * @param beside the URL of a superuser's database: the world is one more database on that server, with a Redis of its own.
   * @param tasks in its tables: a statement over more than a page, at the least.
   */
  static async open({ root = ROOT, beside = process.env.BENCH_DATABASE_URL, tasks = 100_000 } = {}) {
    const world = Object.assign(new World(), { root, beside, tasks });
    try {
      await world.#open();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  async #open() {
    this.folder = mkdtempSync(join(tmpdir(), 'millwright-bench-'));
    this.#undo.push(() => rmSync(this.folder, { recursive: true, force: true }));
    writeFileSync(join(this.folder, 'config.json'), JSON.stringify(CONFIG));
    this.databaseUrl = await this.#database();
    this.redisUrl = await this.#redis();
    this.db = new pg.Pool({ connectionString: this.databaseUrl, max: 4 });
    this.#undo.push(() => this.db.end());
    await this.#migrate();
    this.key = await this.#makeKey();
    this.ids = await seed(this.db, this.tasks);
  }

  /** The built service, as an operator starts it. `env` over what the bench sets; null takes a variable away. */
  async service(env = {}, flags = []) {
    const port = await freePort();
    const all = {
      NODE_ENV: 'production',
      PORT: String(port),
      DATABASE_URL: this.databaseUrl,
      REDIS_URL: this.redisUrl,
      DATA_DIR: join(this.folder, 'data'),
      SECRET_KEY: 'a secret of the bench, at least 32 bytes long',
      CONFIG_FILE: join(this.folder, 'config.json'),
      ...env,
    };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    const service = await Program.node(join(this.root, 'dist', 'main.js'), {
      env: given,
      flags,
      url: `http://127.0.0.1:${port}/health/ready`,
    });
    service.origin = `http://127.0.0.1:${port}`;
    return service;
  }

  /** One of `floors/`. */
  async floor(name, env = {}, flags = []) {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const all = {
      NODE_ENV: 'production',
      PORT: String(port),
      DATABASE_URL: this.databaseUrl,
      REDIS_URL: this.redisUrl,
    };
    const file = fileURLToPath(new URL(`./floors/${name}.mjs`, import.meta.url));
    const floor = await Program.node(file, { env: { ...all, ...env }, flags, url: `${origin}/ok` });
    return Object.assign(floor, { origin });
  }

  /** CPU seconds so far of the whole PostgreSQL, which must run on this machine. What else uses it counts too. */
  async databaseCpu() {
    const { rows } = await this.db.query('SELECT pg_backend_pid() AS pid');
    return cpuOfTree(parentOf(rows[0].pid));
  }

  async close() {
    for (const undo of this.#undo.splice(0).reverse()) await undo();
  }

  async #database() {
    if (this.beside !== undefined) return this.#databaseOn(this.beside);
    const { EmbeddedPostgres } = await import('../dist/platform/database/embedded/embedded-postgres.js');
    const { removeReachable } = await import('../dist/platform/config/reachable.js');
    const dataDir = mkdtempSync(join(this.folder, 'postgres-'));
    const logger = { log() {}, debug() {}, error: console.error };
    const server = await EmbeddedPostgres.start({ dataDir, logger });
    this.#undo.push(async () => {
      await server.stop();
      removeReachable(dataDir);
    });
    return server.url;
  }

  async #databaseOn(admin) {
    const name = `millwright_bench_${process.pid}_${World.#made++}`;
    const run = async (sql) => {
      const client = new pg.Client({ connectionString: admin });
      await client.connect();
      await client.query(sql).finally(() => client.end());
    };
    await run(`CREATE DATABASE ${name}`);
    this.#undo.push(() => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    const url = new URL(admin);
    url.pathname = `/${name}`;
    return url.href;
  }

  async #redis() {
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder];
    const url = `redis://127.0.0.1:${port}`;
    const redis = await Program.start('redis-server', args, { ready: () => pings(url) });
    this.#undo.push(() => redis.stop());
    return url;
  }

  /** The first boot also makes the workspace `default`. */
  async #migrate() {
    await (await this.service({ ROLE: 'api' })).stop();
  }

  /** Of a member, who does not see everything: the usual caller, and the longer way through the conditions. */
  async #makeKey() {
    await this.cli('user', 'create', '--email', 'bench@localhost', '--name', 'Bench');
    await this.cli('member', 'add', '--workspace', 'default', '--user', 'bench@localhost', '--role', 'member');
    const { key } = await this.cli('key', 'create', '--workspace', 'default', '--user', 'bench@localhost');
    return key.secret;
  }

  /** The operator command; resolves with what it answers. */
  async cli(...words) {
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: this.databaseUrl,
      DATA_DIR: join(this.folder, 'data'),
      SECRET_KEY: 'a secret of the bench, at least 32 bytes long',
    };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(this.root, 'dist', 'cli.js'), ...words, '--json'],
      { env },
    );
    return JSON.parse(stdout);
  }
}

async function pings(url) {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
