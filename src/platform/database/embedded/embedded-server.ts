// The running server, below a small shell that ends it when this process ends in whatever way.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '@nestjs/common';
import { spawnAs } from './embedded-account.js';
import type { Cluster } from './embedded-cluster.js';

/**
 * fd 3 is a pipe from Node, which the kernel closes even after a kill -9: end of file means a fast shutdown. Signals are
 * ignored here, because a supervisor may send them to all processes of the service at once. SIGINT is sent again and
 * again: one that comes before the server has set its handler is lost, since a background job begins with it ignored.
 * When the server ended by itself, SIGUSR1 ends the wait for the pipe; all children are reaped, for in a container nobody
 * else may do it. Descriptor 4, the lock, goes to the server and stays open for as long as one of its processes runs.
 */
const GUARD = `
trap '' HUP INT TERM
"$@" 3<&- &
server=$!
(
  read -r _ <&3
  trap '' USR1
  while kill -INT $server; do sleep 0.05 3<&-; done
) 4<&- >/dev/null 2>&1 &
watcher=$!
wait $server
code=$?
kill -USR1 $watcher 2>/dev/null
wait $watcher 2>/dev/null
exit $code`;

const TAIL_LINES = 20;
const PORT_ATTEMPTS = 5;

/** Durable by default; without it (tests), a power cut may lose or break the database. */
function settings(port: number, durable: boolean): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statements may hold secrets.
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    jit: 'off',
    // Containers give 64 MB of shared memory, too little for parallel joins, which small queries do not need.
    max_parallel_workers_per_gather: '0',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Of Nest's logger, what is used here. */
export type ServerLogger = Pick<Logger, 'log' | 'debug' | 'error'>;

interface Start {
  native: string;
  /** Descriptor of the lock; the server inherits it. */
  lock: number;
  durable: boolean;
  logger: ServerLogger;
}

/** A PostgreSQL server that accepts connections on `127.0.0.1:port`. */
export class EmbeddedServer {
  private stopping = false;

  private constructor(
    readonly port: number,
    private readonly guard: ChildProcess,
    /** Resolves when the server is gone, for whatever reason. */
    readonly ended: Promise<unknown>,
  ) {}

  /** Throws with the server's last lines when it does not come up. */
  static async start(cluster: Cluster, start: Start, pickPort = freePort): Promise<EmbeddedServer> {
    for (let attempt = 1; ; attempt++) {
      const port = await pickPort();
      try {
        return await EmbeddedServer.startOn(port, cluster, start);
      } catch (error) {
        // Another process may take the port between our look and the server's.
        const taken = /could not bind .*: Address already in use/.test(String(error));
        if (!taken || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** Ends the server (fast shutdown) and waits for it. */
  async stop(): Promise<void> {
    this.stopping = true;
    lifeline(this.guard).end();
    await this.ended;
  }

  private static async startOn(port: number, cluster: Cluster, start: Start): Promise<EmbeddedServer> {
    const { native, lock, durable, logger } = start;
    const command = [join(native, 'bin', 'postgres'), '-D', join(cluster.folder, 'data'), ...settings(port, durable)];
    const shell = ['/bin/sh', '-c', GUARD, 'millwright-postgres', ...command];
    const guard = spawnAs(cluster.account, shell, ['ignore', 'ignore', 'pipe', 'pipe', lock]);
    const lines = createInterface({ input: guard.stderr as Readable });
    // Its last lines may come after its end, and a server whose shell was killed still holds the pipe.
    const ended = Promise.all([once(guard, 'exit'), once(lines, 'close')]).finally(() => lifeline(guard).destroy());
    const tail: string[] = [];
    const ready = readLines(lines, tail, logger);
    const failed = ended.then(() => {
      throw new Error(`The embedded PostgreSQL did not start. Its last lines:\n${tail.join('\n')}`);
    });
    await Promise.race([ready, failed]);
    const server = new EmbeddedServer(port, guard, ended);
    failed.catch(() => {
      if (!server.stopping)
        logger.error(`The embedded PostgreSQL ended by itself. Its last lines:\n${tail.join('\n')}`);
    });
    return server;
  }
}

/** Passes the server's lines on, keeps the last, and resolves at the one that says it is ready. */
function readLines(lines: Interface, tail: string[], logger: ServerLogger): Promise<void> {
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
      if (line.includes('PANIC')) logger.error(line);
      else logger.debug(line);
      if (line.includes('ready to accept connections')) resolve();
    });
  });
}

function lifeline(guard: ChildProcess): Writable {
  const pipe = guard.stdio[3] as Writable;
  // The server may have ended by itself and closed its side.
  return pipe.on('error', () => undefined);
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
