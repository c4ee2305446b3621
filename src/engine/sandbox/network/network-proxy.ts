import { randomBytes, X509Certificate } from 'node:crypto';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../../../platform/config/env.js';
import { ruleOf } from '../../../platform/config/network.js';
import { Egress, EgressError } from '../../../platform/egress/egress.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { javaTrustStore, trustBundle } from '../drivers/etc.js';
import { isLeftOver, ownName } from '../host.js';
import { type SandboxSecrets, SandboxError, type TaskSecret } from '../sandbox.js';
import { type Door, openDoor } from './door-socket.js';
import type { NetworkUse } from './network-use.js';
import type { NetworkRefusal } from './refusals.js';
import { networkMetrics, SessionTally } from './session-tally.js';
import type { VaultSecret } from './vault.mjs';

/** The way out of one session. */
export interface WayOut {
  /** The socket, as the host names it. */
  path: string;
  /** The files that programs inside trust in place of the ones that all sandboxes share; null: it has no authority of its own. */
  trusted: TrustedFiles | null;
  /** Values of the next requests. */
  change(secrets: readonly TaskSecret[]): void;
  /** Resolves with true when it has gone by a defect, with false when it was closed. */
  lost: Promise<boolean>;
  /** Ends its connections, and logs them. Idempotent. */
  close(): Promise<void>;
}

/** As the host names them. */
export interface TrustedFiles {
  authorities: string;
  javaAuthorities: string;
}

export interface WayOptions {
  taskId: string;
  /** Who may connect to it; null: the user of this process. */
  user: { uid: number } | null;
  /** What may be reached, of {@link NetworkProxy.hosts}; what is not among them is not reached either. Empty: it leads to the door alone. */
  hosts: readonly string[];
  /** Whether it leads to those of them alone that a secret of the moment is bound to. */
  bound: boolean;
  /** Whose values it puts into requests; undefined: none, and it looks into no connection. */
  secrets: SandboxSecrets | undefined;
  /** Told of each refusal of its kind for the first time, before the sandbox is: some of them. */
  onRefusal: (refusal: NetworkRefusal) => void;
  /** Told each second what has come, and of the rest before it is closed. */
  onUse: (uses: readonly NetworkUse[]) => void;
  /** What programs inside trust, beside the authority of the way out. */
  authorities: readonly X509Certificate[];
  /** Takes a connection for each request that names no host ({@link SandboxOpenOptions.door}); undefined: there are none. */
  door: ((connection: Duplex) => void) | undefined;
}

type Said =
  | { type: 'opened'; id: string; error: string | null; certificate: string | null }
  | { type: 'secret'; id: string; secret: string; host: string; what: 'used' | 'refused' | 'masked' }
  | { type: 'counted'; id: string; uses: CountedUse[] }
  | { type: 'refused'; id: string; refusal: NetworkRefusal }
  /** `dropped`: connections beyond those that a session may have at once. */
  | { type: 'closed'; id: string; dropped: number }
  | { type: 'find'; id: number; host: string };

/** Times in milliseconds since 1970. */
type CountedUse = Omit<NetworkUse, 'firstAt' | 'lastAt'> & { firstAt: number; lastAt: number };

interface Way {
  path: string;
  options: WayOptions;
  tally: SessionTally;
  opened: (said: { error: string | null; certificate: string | null }) => void;
  /** @param dropped null: by a defect. */
  closed: (dropped: number | null) => void;
}

/** Hosts that a refusal names of those that may be reached. */
const NAMED_HOSTS = 20;
/** At the end of the name of a socket: that of the service, for the same session. */
const DOOR = '.door';
/** Of the folders that hold the sockets. */
const PREFIX = 'network.';
/** Between two look-ups of one process: a wildcard lets a sandbox ask for any number of names. Milliseconds. */
const LOOKUP_PAUSE_MS = 20;

/**
 * The way out of sandboxes (docs/decisions/0055): a proxy for HTTP, for each session that asks for it on a socket of its own, in one
 * thread of this process. It reaches `allowHosts` alone, and of them addresses that `platform/egress` has checked.
 */
@Injectable()
export class NetworkProxy implements OnApplicationShutdown {
  /** What may be reached, as the operator wrote it. Empty: nothing, and no session has a way out. */
  readonly hosts: readonly string[];
  /** A test has its own. */
  egress: Egress;
  private readonly logger = new Logger(NetworkProxy.name);
  private readonly ways = new Map<string, Way>();
  private readonly metrics;
  private thread: Worker | undefined;
  /** Where the sockets lie, and a descriptor of it: the path of a socket may have 107 bytes, that of a data folder has more. */
  private folder: { path: string; fd: number } | undefined;

  constructor(env: Env, metrics: Metrics) {
    const { network, allowHosts = [], allowNetworks = [] } = env.file.sandbox ?? {};
    this.hosts = network === 'allow' ? allowHosts : [];
    this.egress = new Egress(allowNetworks);
    this.metrics = networkMetrics(metrics);
  }

  /** @param base the folder of the sandboxes. */
  async open(base: string, options: WayOptions): Promise<WayOut> {
    const { taskId, user, hosts, bound, secrets, authorities, door } = options;
    const { path: folder, fd } = (this.folder ??= makeFolder(base, user !== null));
    const id = randomBytes(8).toString('hex');
    const [path, listens] = [join(folder, id), `/proc/self/fd/${fd}/${id}`];
    const ours = door === undefined ? null : await doorAt(path, listens, door);
    let ended = Promise.resolve<number | null>(null);
    const tally = new SessionTally(this.metrics);
    const opened = new Promise<{ error: string | null; certificate: string | null }>((resolve) => {
      ended = new Promise((closed) => this.ways.set(id, { path, options, tally, opened: resolve, closed }));
      this.thread ??= this.start(authorities);
      // Only what is open keeps the process.
      this.thread.ref();
      const all = secrets === undefined ? null : secrets.all.map(forThread);
      const rules = hosts.map(ruleOf);
      const about = { id, path: listens, rules, allowed: named(hosts), bound, secrets: all };
      this.thread.postMessage({ type: 'open', ...about, door: ours === null ? null : listens + DOOR });
    });
    // Also where the thread is lost.
    void ended.then(() => ours?.close());
    const close = async () => {
      this.thread?.postMessage({ type: 'close', id });
      const dropped = await ended;
      removeFiles(path);
      if (this.ways.delete(id)) tally.log(this.logger, taskId, dropped ?? 0);
      if (this.ways.size === 0) this.thread?.unref();
    };
    const change = (all: readonly TaskSecret[]) =>
      this.thread?.postMessage({ type: 'secrets', id, secrets: all.map(forThread) });
    const { error, certificate } = await opened;
    if (error !== null) {
      this.ways.delete(id);
      ours?.close();
      throw notMade(error);
    }
    if (user !== null) chownSync(path, 0, user.uid);
    chmodSync(path, user === null ? 0o600 : 0o660);
    const own = certificate === null ? [] : [new X509Certificate(certificate)];
    const trusted = own.length === 0 ? null : writeTrusted(path, [...authorities, ...own]);
    return { path, trusted, change, lost: ended.then((dropped) => dropped === null), close };
  }

  async onApplicationShutdown(): Promise<void> {
    const { thread, folder } = this;
    this.thread = undefined;
    this.folder = undefined;
    await thread?.terminate();
    for (const { closed } of this.ways.values()) closed(null);
    if (folder === undefined) return;
    closeSync(folder.fd);
    rmSync(folder.path, { recursive: true, force: true });
  }

  private start(authorities: readonly X509Certificate[]): Worker {
    const rules = this.hosts.map(ruleOf);
    const workerData = { rules, authorities: authorities.map(String) };
    const thread = new Worker(new URL('./proxy.worker.mjs', import.meta.url), { execArgv: [], env: {}, workerData });
    thread.on('message', (said: Said) => this.hear(thread, said));
    thread.on('error', (error: Error) => this.lose(thread, error.message));
    thread.on('exit', (code) => this.lose(thread, `exit ${code}`));
    return thread;
  }

  private hear(thread: Worker, said: Said): void {
    if (said.type === 'find') void this.find(said).then((found) => thread.postMessage(found));
    else this.hearOf(this.ways.get(said.id), said);
  }

  private hearOf(way: Way | undefined, said: Exclude<Said, { type: 'find' }>): void {
    if (said.type === 'refused') way?.options.onRefusal(said.refusal);
    else if (said.type === 'opened') way?.opened(said);
    else if (said.type === 'secret') way?.options.secrets?.onUse(said);
    else if (said.type === 'closed') way?.closed(said.dropped);
    else {
      const uses = said.uses.map((use) => ({ ...use, firstAt: new Date(use.firstAt), lastAt: new Date(use.lastAt) }));
      way?.tally.add(uses);
      way?.options.onUse(uses);
    }
  }

  /** The addresses of a host that is on the list. Plain HTTP too goes to public ones: the operator has named the host. */
  private async find({ id, host }: { id: number; host: string }) {
    const none = { type: 'found', id, addresses: [], blocked: false };
    try {
      const [addresses] = await Promise.all([
        this.egress.addresses(new URL(`https://${host}`)),
        after(LOOKUP_PAUSE_MS),
      ]);
      const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      return { ...none, addresses: found, error: null };
    } catch (error) {
      const { message, code = message } = error as NodeJS.ErrnoException;
      const blocked = error instanceof EgressError;
      return { ...none, blocked, error: blocked ? message : code };
    }
  }

  /** A defect: connections that are open end. The next command of each session opens a way out in another thread. */
  private lose(thread: Worker, why: string): void {
    if (this.thread !== thread) return;
    this.thread = undefined;
    this.logger.error(`The proxy of the sandboxes has ended: ${why}. Commands that run have no network any more.`);
    for (const { path, opened, closed } of this.ways.values()) {
      removeFiles(path);
      opened({ error: why, certificate: null });
      closed(null);
    }
    this.ways.clear();
  }
}

function doorAt(path: string, listens: string, take: (connection: Duplex) => void): Promise<Door> {
  return openDoor(path + DOOR, listens + DOOR, take).catch((error: unknown) => {
    throw notMade((error as Error).message);
  });
}

const notMade = (why: string) => new SandboxError(`The socket of the network cannot be made: ${why}`);

/** As many as a sentence holds. */
function named(hosts: readonly string[]): string {
  const more = hosts.length > NAMED_HOSTS ? `, and ${hosts.length - NAMED_HOSTS} more` : '';
  return hosts.slice(0, NAMED_HOSTS).join(', ') + more;
}

/** What the thread is told of a secret: what comes by a message is a copy. */
function forThread({ name, placeholder, value, approved, bindings }: TaskSecret): VaultSecret {
  return { name, placeholder, value, approved, bindings };
}

/** Beside the socket. They hold no secret: the key of the authority is in the thread alone. */
function writeTrusted(path: string, authorities: readonly X509Certificate[]): TrustedFiles {
  const trusted = { authorities: `${path}.crt`, javaAuthorities: `${path}.jks` };
  writeFileSync(trusted.authorities, trustBundle(authorities), { mode: 0o644 });
  writeFileSync(trusted.javaAuthorities, javaTrustStore(authorities), { mode: 0o644 });
  return trusted;
}

function removeFiles(path: string): void {
  for (const end of ['', '.crt', '.jks', DOOR]) rmSync(path + end, { force: true });
}

/** A folder of this process; those of processes that have ended go. */
function makeFolder(base: string, asRoot: boolean): { path: string; fd: number } {
  for (const name of readdirSync(base)) {
    if (name.startsWith(PREFIX) && isLeftOver(name.slice(PREFIX.length))) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
  }
  const path = join(base, PREFIX + ownName());
  const mode = asRoot ? 0o711 : 0o700;
  mkdirSync(path, { mode });
  chmodSync(path, mode);
  return { path, fd: openSync(path, 'r') };
}
