// An agent program in the sandbox of a task, which speaks the Agent Client Protocol v1 (reference §30).
import type { EngineConfig } from '../../../platform/config/engines.js';
import { untilAborted } from '../../agent/abort.js';
import { shellQuote } from '../../agent/tools/tool-text.js';
import { OWN_SERVER } from '../../models/own-tool.js';
import { ProgramLines } from '../../sandbox/program-lines.js';
import { SandboxError, type SandboxSession } from '../../sandbox/sandbox.js';
import { DOOR_URL, filledIn } from '../filled-in.js';
import { type CallUpdate, callUpdateIn } from './call-update.js';
import { JsonRpcPeer, methodNotFound, PeerRefusedError } from './json-rpc-peer.js';

/** Lines in a row that are no message. */
const MOST_UNHEARD = 20_000;
/** Milliseconds in which it says whether it takes more into its turn. */
const STEER_MS = 10_000;
/** Bytes of answers that the program has not read. */
const MOST_UNREAD = 1024 ** 2;
const PROTOCOL = 1;
const TITLE = 'A task';

/** The program cannot go on. The message is for the operator. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** A block of a prompt. */
export type PromptBlock = { type: 'text'; text: string } | { type: 'image'; mimeType: string; data: string };

export interface ProgramHandlers {
  /** Told of each message of the program. */
  heard(): void;
  call(update: CallUpdate): void;
  /** It is gone, and nobody wanted that. */
  lost(error: ProgramError): void;
}

interface Capabilities {
  loadSession?: boolean;
  sessionCapabilities?: { resume?: unknown; title?: unknown };
  promptCapabilities?: { image?: boolean };
  mcpCapabilities?: { http?: boolean };
}

export class AcpProgram {
  private readonly lines: ProgramLines;
  private readonly peer: JsonRpcPeer;
  private unheard = 0;
  private unread = 0;
  private capabilities: Capabilities = {};
  /** Whether it takes more into a turn under way. */
  steers = false;
  /** As it says; `unknown` when it does not. */
  version = 'unknown';
  sessionId = '';
  private closing = false;
  private isReady = false;

  constructor(
    session: SandboxSession,
    private readonly engine: EngineConfig,
    private readonly handlers: ProgramHandlers,
  ) {
    this.lines = new ProgramLines(session, { line: (text) => this.heard(text), over: () => this.over() });
    this.peer = new JsonRpcPeer({
      request: (method, params) => this.asked(method, params),
      notification: (method, params) => this.told(method, params),
      send: (line, isAnswer) => this.send(line, isAnswer),
    });
  }

  /** Starts and greets it. Rejects with {@link ProgramError}, and with `SandboxError` when the sandbox could not start it. */
  async start(about: { network: boolean; cwd: string }): Promise<void> {
    const { startSeconds, memoryBytes } = this.engine;
    const { command, env, prepare } = filledIn(this.engine);
    const words = ['exec', ...command.map(shellQuote)].join(' ');
    // What it prints is no message, and what it reads is not meant for it.
    const before = prepare === null ? '' : `{ ${prepare}\n} </dev/null >&2 && `;
    const late = setTimeout(() => {
      this.lines.refuse(`It was not ready after ${startSeconds} seconds, and was ended.`);
    }, startSeconds * 1000);
    try {
      await this.lines.start(before + words, { ...about, env, program: { memoryBytes } });
      const fs = { readTextFile: false, writeTextFile: false };
      const greeting = await this.peer.request<Greeting | null>('initialize', {
        protocolVersion: PROTOCOL,
        clientCapabilities: { fs, terminal: false },
        clientInfo: { name: 'millwright', title: 'Millwright', version: '1' },
      });
      if (greeting?.protocolVersion !== PROTOCOL)
        throw new ProgramError('It does not speak version 1 of the protocol.');
      this.capabilities = greeting.agentCapabilities ?? {};
      this.version = versionIn(greeting);
      this.steers = greeting._meta?.steering?.supported === true;
    } catch (error) {
      throw await this.failed(error);
    } finally {
      clearTimeout(late);
    }
  }

  /** The end of what it wrote on its standard error, when it is gone. */
  get lastWords(): string {
    return this.lines.lastWords;
  }

  get showsImages(): boolean {
    return this.capabilities.promptCapabilities?.image === true;
  }

  /**
   * Goes on with a session; null: with a new one. Resolves with its id: another one than that was asked for when the program does not know that any
   * more. @param mcp whether the service offers tools.
   */
  async begin(known: string | null, cwd: string, mcp: boolean): Promise<string> {
    const http = mcp && this.capabilities.mcpCapabilities?.http === true;
    const servers = http ? [{ type: 'http', name: OWN_SERVER, url: `${DOOR_URL}/mcp`, headers: [] }] : [];
    const about = { cwd, mcpServers: servers };
    const late = setTimeout(() => {
      this.lines.refuse(`It gave no session in ${this.engine.startSeconds} seconds, and was ended.`);
    }, this.engine.startSeconds * 1000);
    try {
      if (known !== null && (await this.goesOn(known, about))) {
        this.isReady = true;
        return (this.sessionId = known);
      }
      const made = await this.peer.request<{ sessionId?: unknown } | null>('session/new', about);
      if (typeof made?.sessionId !== 'string' || made.sessionId === '' || made.sessionId.length > 500) {
        throw new ProgramError('It named no session.');
      }
      this.sessionId = made.sessionId;
      // Else some make a title by calls of their own: the task has one.
      if (this.capabilities.sessionCapabilities?.title != null) await this.setTitle();
      this.isReady = true;
      return made.sessionId;
    } catch (error) {
      throw await this.failed(error);
    } finally {
      clearTimeout(late);
    }
  }

  /** A turn. Resolves with why it ended. Rejects with {@link ProgramError}. */
  async prompt(blocks: PromptBlock[]): Promise<string> {
    try {
      const about = { sessionId: this.sessionId, prompt: blocks };
      const { stopReason } = (await this.peer.request<{ stopReason?: unknown } | null>('session/prompt', about)) ?? {};
      return typeof stopReason === 'string' ? stopReason : 'unknown';
    } catch (error) {
      throw await this.failed(error);
    }
  }

  /** Takes more into the turn under way, of which its model is told when it is next asked. False: it does not. */
  async steer(blocks: PromptBlock[], signal: AbortSignal): Promise<boolean> {
    const about = {
      sessionId: this.sessionId,
      prompt: blocks,
      _meta: { steering: { idleBehavior: 'promptRequired' } },
    };
    const asked = this.peer.request<{ outcome?: unknown } | null>('_session/steering', about);
    const enough = AbortSignal.any([signal, AbortSignal.timeout(STEER_MS)]);
    return (await untilAborted(asked, enough).catch(() => null))?.outcome === 'injected';
  }

  /** Ends the prompt under way, which then resolves. */
  cancel(): void {
    this.peer.notify('session/cancel', { sessionId: this.sessionId });
  }

  /** Ends it. Resolves when it is gone. */
  async close(): Promise<void> {
    this.closing = true;
    this.peer.close(new ProgramError('It was ended.'));
    await this.lines.close();
  }

  private async setTitle(): Promise<void> {
    try {
      await this.peer.request('session/set_title', { sessionId: this.sessionId, title: TITLE });
    } catch (error) {
      if (!(error instanceof PeerRefusedError)) throw error;
    }
  }

  private async goesOn(sessionId: string, about: object): Promise<boolean> {
    const { loadSession, sessionCapabilities } = this.capabilities;
    const ways = [
      ...(sessionCapabilities?.resume == null ? [] : ['session/resume']),
      ...(loadSession === true ? ['session/load'] : []),
    ];
    for (const method of ways) {
      try {
        await this.peer.request(method, { sessionId, ...about });
        return true;
      } catch (error) {
        if (!(error instanceof PeerRefusedError)) throw error;
      }
    }
    return false;
  }

  private heard(line: string): void {
    if (this.peer.read(line)) {
      this.unheard = 0;
      this.handlers.heard();
    } else if (++this.unheard > MOST_UNHEARD) this.lines.refuse('It wrote without an end, and was ended.');
  }

  private send(line: string, isAnswer: boolean): void {
    if (!this.lines.writable) return;
    if (!isAnswer) return this.lines.write(line);
    const bytes = Buffer.byteLength(line);
    this.unread += bytes;
    if (this.unread > MOST_UNREAD) this.lines.refuse('It reads too little of what it is answered, and was ended.');
    else this.lines.write(line, () => (this.unread -= bytes));
  }

  /** The sandbox is the protection, and the door has asked who is to be asked. */
  private asked(method: string, params: Record<string, unknown>): Promise<unknown> {
    if (method !== 'session/request_permission') return Promise.reject(methodNotFound(method));
    const options = Array.isArray(params['options'])
      ? (params['options'] as { optionId?: unknown; kind?: unknown }[])
      : [];
    const chosen =
      options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind === 'allow_always');
    if (chosen === undefined) return Promise.resolve({ outcome: { outcome: 'cancelled' } });
    return Promise.resolve({ outcome: { outcome: 'selected', optionId: chosen.optionId } });
  }

  private told(method: string, { update }: Record<string, unknown>): void {
    const news = method === 'session/update' ? callUpdateIn(update) : null;
    if (news !== null) this.handlers.call(news);
  }

  private over(): void {
    void this.lines.gone.then(() => {
      const error = this.why('It has ended.');
      this.peer.close(error);
      // Who starts it hears of it there.
      if (!this.closing && this.isReady) this.handlers.lost(error);
    });
  }

  /** What it was asked for did not come. */
  private async failed(error: unknown): Promise<Error> {
    if (error instanceof SandboxError) return error;
    if (this.lines.closed) await this.lines.gone;
    if (this.lines.fault !== null) return this.lines.fault;
    return this.why(error instanceof Error ? error.message : String(error));
  }

  private why(otherwise: string): ProgramError {
    const { failure, lastWords } = this.lines;
    return new ProgramError(`The engine ${this.engine.name}: ${failure ?? otherwise} ${lastWords}`.trim());
  }
}

interface Greeting {
  protocolVersion?: unknown;
  agentCapabilities?: Capabilities;
  agentInfo?: { version?: unknown } | null;
  _meta?: { steering?: { supported?: unknown } | null } | null;
}

function versionIn({ agentInfo }: Greeting): string {
  return typeof agentInfo?.version === 'string' ? agentInfo.version.slice(0, 100) : 'unknown';
}
