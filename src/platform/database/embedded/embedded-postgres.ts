// The database server for a service without DATABASE_URL: PostgreSQL in DATA_DIR, started and ended by this process.
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { nativeFolder, platformPackage } from './embedded-binaries.js';
import { DATABASE, locateCluster, prepareCluster, readPassword } from './embedded-cluster.js';
import { lockService, readRuntime, removeRuntime, type Runtime, tryLock, writeRuntime } from './embedded-lock.js';
import { EmbeddedServer, type ServerLogger } from './embedded-server.js';

/** Long enough for the server of a killed process to end, and for an operator command. */
const PATIENCE_MS = 30_000;
const POLL_MS = 100;
/** Between two attempts to start a server again that has ended by itself. */
const AGAIN_MS = 1_000;

export interface EmbeddedOptions {
  /** `DATA_DIR`, absolute; it exists. */
  dataDir: string;
  logger: ServerLogger;
  /** Default true. False is for tests: faster, and a power cut may break the database. */
  durable?: boolean;
  /** Called before a server is started, at first and whenever it has ended by itself. */
  beforeStart?: () => void;
  /** Folder of the platform package, when it is not the installed one. */
  packageFolder?: string;
  /** How long to wait for a server on `dataDir` that is ending or that an operator command started. Default 30,000 ms. */
  patienceMs?: number;
}

/** An embedded PostgreSQL server, own or joined. */
export class EmbeddedPostgres {
  private stopped: Promise<void> | undefined;

  private constructor(
    /** `postgres://postgres:<password>@127.0.0.1:<port>/millwright` */
    readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  /**
   * For the service: starts the server of `dataDir`, which no other service may use: throws `DataDirInUse`. Waits for an
   * operator command's server to end.
   */
  static async start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
    options.beforeStart?.();
    const service = await lockService(options.dataDir);
    try {
      const lock = await waitFor(options, () => tryLock(serverLock(options.dataDir)));
      const own = await EmbeddedPostgres.run(options, lock, 'service');
      return new EmbeddedPostgres(own.url, () => own.stop().finally(() => closeSync(service)));
    } catch (error) {
      closeSync(service);
      throw error;
    }
  }

  /**
   * For an operator command: joins the service's server (`stop` then does nothing), or else starts one, which ends with
   * `stop`. Two commands take turns.
   */
  static async joinOrStart(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
    const found = await waitFor(
      options,
      // Its server first: the lock needs a process of its own, which takes 20 ms.
      async () => (await runningService(options.dataDir)) ?? (await tryLock(serverLock(options.dataDir))),
    );
    if (typeof found !== 'number') return new EmbeddedPostgres(found, () => Promise.resolve());
    options.beforeStart?.();
    return EmbeddedPostgres.run(options, found, 'command');
  }

  /** Ends the server, if it is this process's, and waits for that. Can be called again. */
  stop(): Promise<void> {
    this.stopped ??= this.end();
    return this.stopped;
  }

  private static async run(options: EmbeddedOptions, lock: number, role: Runtime['role']): Promise<EmbeddedPostgres> {
    const { dataDir, logger, durable = true } = options;
    try {
      removeRuntime(dataDir);
      const cluster = locateCluster(dataDir);
      const packageFolder = options.packageFolder ?? platformPackage();
      const native = nativeFolder(packageFolder, cluster.reachable, cluster.account);
      const { password, created, setAside } = await prepareCluster(cluster, { dataDir, native, lock, durable });
      if (setAside !== null) {
        logger.log(`DATA_DIR is new, so the database that an earlier one of this name left was set aside: ${setAside}`);
      }
      const start = async (held: number, pickPort?: () => Promise<number>) => {
        const server = await EmbeddedServer.start(cluster, { native, lock: held, durable, logger }, pickPort);
        await announce(dataDir, { pid: process.pid, port: server.port, role }, server);
        return server;
      };
      const server = await start(lock);
      const user = cluster.account ? `, as user "${cluster.account.name}"` : '';
      logger.log(`PostgreSQL ${created ? 'created' : 'started'} in ${cluster.folder}${user}, port ${server.port}`);
      const { port } = server;
      // The connections of this process know the port.
      const again = (held: number) => {
        options.beforeStart?.();
        return start(held, () => Promise.resolve(port));
      };
      const stopping = new AbortController();
      const kept = keep(server, again, options, stopping.signal);
      return new EmbeddedPostgres(urlOf(password, port), async () => {
        stopping.abort();
        await kept;
      });
    } finally {
      // From here on the server alone holds it.
      closeSync(lock);
    }
  }
}

/** Starts the server again whenever it ends by itself, until `stopping`; then stops it. */
async function keep(
  first: EmbeddedServer,
  again: (lock: number) => Promise<EmbeddedServer>,
  { dataDir, logger }: EmbeddedOptions,
  stopping: AbortSignal,
): Promise<void> {
  const stop = once(stopping, 'abort');
  let server: EmbeddedServer | null = first;
  for (;;) {
    await Promise.race([server?.ended ?? delay(AGAIN_MS), stop]);
    if (stopping.aborted) break;
    server = await started(dataDir, again).catch((error: unknown) => {
      logger.error(String(error));
      return null;
    });
    if (server !== null) logger.log('The embedded PostgreSQL is there again.');
  }
  if (server === null) return;
  removeRuntime(dataDir);
  await server.stop();
}

/** Null while the lock is held: by what is left of the old server, or by an operator command that found none. */
async function started(
  dataDir: string,
  start: (lock: number) => Promise<EmbeddedServer>,
): Promise<EmbeddedServer | null> {
  const lock = await tryLock(serverLock(dataDir));
  return lock === null ? null : start(lock).finally(() => closeSync(lock));
}

async function announce(dataDir: string, runtime: Runtime, server: EmbeddedServer): Promise<void> {
  try {
    writeRuntime(dataDir, runtime);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function serverLock(dataDir: string): string {
  return `${dataDir}/postgres.lock`;
}

function urlOf(password: string, port: number): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}`;
}

/** The URL of the service's server once it answers; only ours knows the password. */
async function runningService(dataDir: string): Promise<string | null> {
  const runtime = readRuntime(dataDir);
  if (runtime?.role !== 'service') return null;
  const url = urlOf(readPassword(dataDir, false), runtime.port);
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return url;
  } catch {
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function waitFor<T>(options: EmbeddedOptions, attempt: () => Promise<T | null>): Promise<T> {
  const { dataDir, patienceMs = PATIENCE_MS } = options;
  for (const deadline = Date.now() + patienceMs; ; await delay(POLL_MS)) {
    const result = await attempt();
    if (result !== null) return result;
    if (Date.now() < deadline) continue;
    const holder = readRuntime(dataDir);
    const who = holder ? `started by process ${holder.pid} (${holder.role})` : 'starting or ending';
    throw new Error(
      `The embedded PostgreSQL of DATA_DIR ${dataDir} is still in use after ${Math.round(patienceMs / 1000)} s: ${who}.`,
    );
  }
}
