import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import type { AgentTool } from '../agent-tool.js';
import { BYTES_PER_TOKEN } from '../context/context-size.js';
import { type Failure, mcpUnavailable } from '../turn-outcomes.js';
import { McpConnection } from './connection.js';
import { McpUnavailableError } from './failures.js';
import type { InputMcp, McpOffer } from './input-mcp.js';
import type { KnownList, KnownLists } from './list-cache.js';
import { LeftOut } from './left-out.js';
import { offeredTools } from './listing.js';
import { fingerprintOf } from './mcp-servers.js';
import { McpTool, type ToolServer } from './mcp-tool.js';
import { McpCallTool, McpSearchTool } from './search-tools.js';

/** Bytes of definitions that stand in each request; more are looked for. */
const SHOWN_BYTES = 20 * 1024;
/** Of the window of the model, in tokens. */
const SHOWN_PART = 0.1;
/** Characters of what is said of one server. */
const ABOUT = 300;

interface Deps {
  model: { id: string; window: number };
  values: ReadonlyMap<string, string>;
  lists: KnownLists;
  metrics: Metrics;
  sandbox: () => Promise<SandboxSession>;
  signal: AbortSignal;
  /** For the operator. */
  report: (error: Error, level?: 'warn') => void;
}

/** The servers of a task for one run (reference §28, docs/decisions/0113). */
export class TaskMcp {
  /** For the run: those that stand for all are the last. */
  tools: AgentTool[] = [];
  /** Names of those that are carried out and not offered: others stand for them. */
  unoffered: string[] = [];
  /** What the first message says of the servers, a line each. */
  told: string[] = [];
  /** By name: those that the operator has. */
  private readonly servers = new Map<string, ToolServer>();
  /** How often one of them has said that its list is another one. */
  private changes = 0;

  constructor(
    private readonly input: InputMcp,
    private readonly deps: Deps,
  ) {
    for (const { name, config } of input.servers) {
      if (config !== null) this.servers.set(name, { config, connection: this.connection(config), report: deps.report });
    }
  }

  /** Decides what the model is offered, if that is still to be decided. Why the turn cannot go on; null: it can. */
  async begin(): Promise<Failure | null> {
    const { input, deps } = this;
    const names = input.servers.map(({ name }) => name);
    const kept = input.offer;
    const same = kept?.model === deps.model.id && JSON.stringify(kept.servers) === JSON.stringify(names);
    const decided = kept !== null && same ? kept : await this.decide(names);
    if ('type' in decided) return decided;
    const { form, tools, told = [] } = decided;
    this.told = told;
    const all = tools.map((tool) => new McpTool(tool, this.servers.get(tool.server) ?? null, deps.metrics));
    this.tools = form === 'tools' ? all : [...all, new McpCallTool(), new McpSearchTool(tools)];
    this.unoffered = form === 'tools' ? [] : all.map(({ name }) => name);
    return null;
  }

  /** Ends what runs; a later call begins anew. */
  async close(): Promise<void> {
    await Promise.all([...this.servers.values()].map(({ connection }) => connection.close()));
  }

  private async decide(names: string[]): Promise<McpOffer | Failure> {
    const { input, deps } = this;
    const found = await Promise.all(names.map((name) => this.listOf(name)));
    const missing = found.find(({ list, required }) => list === null && required);
    if (missing !== undefined) return mcpUnavailable(`${missing.name}, ${missing.why ?? ''}`);
    const lists = found.map(({ name, list }) => ({ name, tools: list?.tools ?? [] }));
    const leftOut = new LeftOut();
    const tools = offeredTools(lists, leftOut);
    this.tellLeftOut('the task', leftOut.words);
    const bytes = Buffer.byteLength(
      JSON.stringify(tools.map(({ calledAs, description, inputSchema }) => ({ calledAs, description, inputSchema }))),
    );
    const most = Math.min(SHOWN_BYTES, deps.model.window * SHOWN_PART * BYTES_PER_TOKEN);
    const told = found.map(({ name, about, list, why }) => {
      if (list === null) return `- ${name} cannot be used: ${why}. Its tools are not there.`;
      const short = about.replace(/\s+/g, ' ').trim().slice(0, ABOUT);
      return `- ${name}${short === '' ? '' : `: ${short}`}`;
    });
    const form = bytes > most ? 'search' : 'tools';
    const offer: McpOffer = { model: deps.model.id, servers: names, form, tools, told };
    await input.keep(offer);
    return offer;
  }

  private async listOf(name: string) {
    const server = this.servers.get(name);
    if (server === undefined)
      return { name, about: '', list: null, why: 'the operator offers it no more', required: false };
    const { description: about, required } = server.config;
    const fingerprint = fingerprintOf(server.config);
    try {
      const list = this.deps.lists.find(server.config) ?? (await this.ask(server, fingerprint));
      return { name, about, list, why: null, required };
    } catch (error) {
      this.deps.signal.throwIfAborted();
      if (!(error instanceof McpUnavailableError)) throw error;
      this.deps.report(new Error(`The MCP server ${name} cannot be used: ${error.message}.`, { cause: error }), 'warn');
      await this.input.saw(name, { fingerprint, found: null });
      return { name, about, list: null, why: error.message, required };
    }
  }

  private async ask({ config, connection }: ToolServer, fingerprint: string): Promise<KnownList> {
    const { lists, signal } = this.deps;
    const { changes } = this;
    const { revision, tools, leftOut, ttlMs } = await connection.list(signal);
    this.tellLeftOut(`the MCP server ${config.name}`, leftOut);
    const list = { revision, tools };
    // It may have become another one while it was told.
    if (changes === this.changes) lists.keep(config, list, ttlMs);
    const shown = tools.map(({ name, description }) => ({ name, description }));
    await this.input.saw(config.name, { fingerprint, found: { revision, tools: shown } });
    return list;
  }

  private tellLeftOut(of: string, words: string | null): void {
    if (words !== null) this.deps.report(new Error(`Of the tools of ${of} these are left out: ${words}.`), 'warn');
  }

  private connection(config: McpServerConfig): McpConnection {
    const { values, sandbox, lists, report } = this.deps;
    return new McpConnection(config, {
      values,
      sandbox,
      report: (text) => report(new Error(text), 'warn'),
      changed: () => {
        this.changes += 1;
        lists.forget(config);
      },
    });
  }
}
