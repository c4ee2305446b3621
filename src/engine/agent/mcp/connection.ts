import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Transport } from '@modelcontextprotocol/client';
import { expanded, type McpServerConfig } from '../../../platform/config/mcp-servers.js';
import { SandboxError, type SandboxSession } from '../../sandbox/sandbox.js';
import { boundedFetch, hiding } from './bounded-fetch.js';
import { EndedError, McpRefusedError, McpUnansweredError, McpUnavailableError, notSent, wordsFor } from './failures.js';
import type { ListedTool } from './input-mcp.js';
import { lenient, rawOf } from './lenient.js';
import { headersOf } from './param-headers.js';
import { ProgramTransport } from './program-transport.js';
import { type ReadList, readList } from './read-list.js';
import { EARLIER, REVISION } from './revisions.js';

const CONNECT_MS = 10_000;
/** For the first question of the newer revision: a program that does not answer it may be of the older one. */
const PROBE_MS = 4_000;
/** How often a program is started in a run. */
const STARTS = 2;
/** For a server to let a session go: nobody waits longer for that. */
const LEAVE_MS = 1_500;

export interface ConnectionDeps {
  /** The values of `${NAME}`. */
  values: ReadonlyMap<string, string>;
  sandbox: () => Promise<SandboxSession>;
  /** For the operator. */
  report: (text: string) => void;
  /** The server says that its list is another one. */
  changed: () => void;
}

export interface CallOptions {
  signal: AbortSignal;
  seconds: number;
  progress: (text: string) => void;
}

interface Open {
  client: Client;
  transport: Transport;
}

/** One server for one run: connected at the first use. */
export class McpConnection {
  private opening: Promise<Open> | null = null;
  private open: Open | null = null;
  /** Aborted when it is closed. */
  private closing = new AbortController();
  /** How often a program has ended, or could not be greeted. */
  private ends = 0;
  /** Why it is given up. */
  private broken: string | null = null;
  /** The calls under way, with what the server has asked for meanwhile. */
  private readonly underWay = new Set<{ asked: string | null }>();

  constructor(
    private readonly server: McpServerConfig,
    private readonly deps: ConnectionDeps,
  ) {}

  /** Its revision, and what is taken of its list. Throws {@link McpUnavailableError}. */
  async list(signal: AbortSignal): Promise<ReadList & { revision: string }> {
    const { client, transport } = await this.connect();
    try {
      const list = await readList(this.server, async (params, timeout) =>
        rawOf(await client.request({ method: 'tools/list', params }, { signal, timeout })),
      );
      return { revision: client.getNegotiatedProtocolVersion() ?? 'unknown', ...list };
    } catch (error) {
      signal.throwIfAborted();
      const why = await wordsFor(endOf(transport) ?? error, CONNECT_MS / 1000);
      throw new McpUnavailableError(`it does not list its tools (${why})`, { cause: error });
    }
  }

  /**
   * What the server answers, as it is. Throws {@link McpUnavailableError} when nothing was sent, {@link McpUnansweredError} when it may have been and no
   * answer came, and {@link McpRefusedError} when it refuses.
   */
  async call({ name, headers = [] }: ListedTool, input: Record<string, unknown>, options: CallOptions) {
    const { signal, seconds, progress } = options;
    const { client, transport } = await this.connect();
    signal.throwIfAborted();
    const of = this.server.kind === 'url' && headers.length > 0 ? { headers: headersOf(headers, input) } : {};
    const underWay = { asked: null };
    this.underWay.add(underWay);
    try {
      const params = { name, arguments: input };
      const answer = await client.request(
        { method: 'tools/call', params },
        {
          ...of,
          signal,
          timeout: seconds * 1000,
          onprogress: ({ progress: at, total, message }) => {
            progress(`${message ?? (total === undefined ? String(at) : `${at}/${total}`)}\n`);
          },
        },
      );
      return { raw: rawOf(answer), ...underWay };
    } catch (error) {
      signal.throwIfAborted();
      throw await this.failed(endOf(transport) ?? error, seconds);
    } finally {
      this.underWay.delete(underWay);
    }
  }

  /** A program is ended; a later call starts it again. A server that does not let its session go is waited for no longer than {@link LEAVE_MS}. */
  async close(): Promise<void> {
    const { opening, closing } = this;
    this.opening = null;
    this.closing = new AbortController();
    closing.abort();
    await opening?.catch(() => undefined);
    const { open } = this;
    this.open = null;
    if (open === null) return;
    const { transport, client } = open;
    if ('terminateSession' in transport && transport.sessionId !== undefined) {
      const left = (transport as { terminateSession(): Promise<void> }).terminateSession().catch(() => undefined);
      await Promise.race([left, pause(LEAVE_MS, undefined, { ref: false })]);
    }
    await client.close().catch(() => undefined);
  }

  private async failed(error: unknown, seconds: number): Promise<Error> {
    const { InsufficientScopeError, ProtocolError, SdkHttpError } = await import('@modelcontextprotocol/client');
    if (error instanceof ProtocolError) return new McpRefusedError(error.message);
    const { status = 0 } =
      error instanceof InsufficientScopeError ? { status: 403 } : error instanceof SdkHttpError ? error : {};
    // It has forgotten the session: the next call makes another one.
    if (status === 404) await this.close();
    if (status >= 400 && status < 500)
      return new McpRefusedError(`The server ${this.server.name} refused the call (${status}).`, { cause: error });
    const why = await wordsFor(error, seconds);
    if (notSent(error)) return new McpUnavailableError(why, { cause: error });
    return new McpUnansweredError(`The server ${this.server.name} gave no answer: ${why}.`, { cause: error });
  }

  private async connect(): Promise<Open> {
    if (this.broken !== null) throw new McpUnavailableError(this.broken);
    const opening = (this.opening ??= this.begin());
    try {
      return await opening;
    } catch (error) {
      if (this.opening === opening) this.opening = null;
      throw error;
    }
  }

  private async begin(): Promise<Open> {
    const { closing } = this;
    const session = this.server.kind === 'program' ? await this.deps.sandbox() : null;
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(CONNECT_MS), closing.signal]);
      return await this.greet(session, 'auto', signal).catch((error: unknown) => {
        // It ended at the question of the newer revision: it is of the older one, perhaps.
        const itself = error instanceof EndedError && error.byItself;
        if (session === null || signal.aborted || !itself) throw error;
        return this.greet(session, 'legacy', signal);
      });
    } catch (error) {
      if (error instanceof SandboxError) throw error;
      const why = closing.signal.aborted ? 'it was closed' : await wordsFor(error, CONNECT_MS / 1000);
      if (session !== null && !closing.signal.aborted) this.hasEnded(why);
      throw new McpUnavailableError(`it cannot be reached (${why})`, { cause: error });
    }
  }

  private async greet(session: SandboxSession | null, mode: 'auto' | 'legacy', signal: AbortSignal): Promise<Open> {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const transport = session === null ? this.http(StreamableHTTPClientTransport) : this.program(session);
    lenient(transport, (method) => {
      for (const call of this.underWay) call.asked = method;
    });
    const client = new Client(
      { name: 'millwright', version: '1' },
      {
        capabilities: {},
        supportedProtocolVersions: [REVISION, ...EARLIER],
        versionNegotiation: { mode, probe: { timeoutMs: PROBE_MS } },
        inputRequired: { autoFulfill: false },
      },
    );
    client.onerror = () => undefined;
    client.setNotificationHandler('notifications/tools/list_changed', () => this.deps.changed());
    const connecting = client.connect(transport, { signal, timeout: CONNECT_MS });
    try {
      await untilAborted(connecting, signal);
    } catch (error) {
      await client.close().catch(() => undefined);
      await transport.close().catch(() => undefined);
      if (!(transport instanceof ProgramTransport)) throw error;
      await this.tell(transport);
      throw transport.lines.fault ?? endOf(transport) ?? error;
    }
    const open = { client, transport };
    this.open = open;
    client.onclose = () => this.lost(open);
    hearOfChanges(client);
    return open;
  }

  private program(session: SandboxSession): ProgramTransport {
    if (this.server.kind !== 'program') throw new Error('A program is started.');
    return new ProgramTransport(session, this.server);
  }

  private http(Http: typeof import('@modelcontextprotocol/client').StreamableHTTPClientTransport): Transport {
    if (this.server.kind !== 'url') throw new Error('An address is called.');
    const { values } = this.deps;
    const given = Object.entries(this.server.headers).map(([name, value]) => [name, expanded(value, values)]);
    const headers = Object.fromEntries(given) as Record<string, string>;
    const hide = hiding(headers);
    return new Http(new URL(expanded(this.server.url, values)), {
      requestInit: { headers, redirect: 'error' },
      fetch: (address, init) => boundedFetch(address, init, hide),
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
  }

  /** The connection is over without us. */
  private lost(open: Open): void {
    if (this.open !== open) return;
    const { transport } = open;
    this.open = null;
    this.opening = null;
    if (!(transport instanceof ProgramTransport)) return;
    this.hasEnded(transport.lines.failure ?? 'it was ended');
    void this.tell(transport);
  }

  private hasEnded(why: string): void {
    this.ends += 1;
    if (this.ends < STARTS) return;
    this.broken = `it has ended ${STARTS} times in this run, the last time so: ${why}`;
  }

  /** When it is gone: what it said last is known by then. */
  private async tell(transport: ProgramTransport): Promise<void> {
    await transport.lines.gone;
    const { failure, lastWords } = transport.lines;
    if (failure !== null) this.deps.report(`The MCP server ${this.server.name}: ${failure} ${lastWords}`.trim());
  }
}

/** In the newer revision a server tells of a change only whom it was asked to. Nothing waits for that, and one that refuses it is used as it is. */
function hearOfChanges(client: Client): void {
  const tells = client.getServerCapabilities()?.tools?.listChanged === true;
  if (!tells || client.getNegotiatedProtocolVersion() !== REVISION) return;
  client.listen({ toolsListChanged: true }, { timeout: CONNECT_MS }).catch(() => undefined);
}

/** Why a program has ended, where it has. */
function endOf(transport: Transport): EndedError | null {
  if (!(transport instanceof ProgramTransport) || transport.lines.failure === null) return null;
  return new EndedError(transport.lines.failure, transport.lines.endedByItself);
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
  });
}
