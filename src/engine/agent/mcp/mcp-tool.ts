import { z } from 'zod';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { foreignOf, outcomeOf } from './call-result.js';
import type { McpConnection } from './connection.js';
import { McpRefusedError, McpUnansweredError, McpUnavailableError } from './failures.js';
import type { OfferedTool } from './input-mcp.js';
import { matches } from './mcp-servers.js';
import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';

const parameters = z.record(z.string(), z.unknown());

/** Of a call that was sent, and of which nobody knows whether it was carried out. */
export const SENT =
  'This call had been sent and may have been carried out. It was not sent again: find out before you go on.';

/** A server of the task, as its tools use it. */
export interface ToolServer {
  config: McpServerConfig;
  connection: McpConnection;
  /** For the operator. */
  report: (error: Error, level: 'warn') => void;
}

/** A tool of a server of the task. What of it changes something only the operator says, never the server. */
export class McpTool extends AgentTool<typeof parameters> {
  readonly name: string;
  readonly description: string;
  readonly parameters = parameters;
  readonly repeatable: boolean;
  override readonly changes: boolean;
  override readonly changesNothing: boolean;
  override readonly inputSchema: Record<string, unknown>;
  override readonly asksAlways: boolean;
  override readonly elsewhere: boolean;
  override readonly interrupted = SENT;
  /** By which it is called; a text: why it cannot be called any more. */
  private readonly way: ToolServer | string;

  /** @param server null: the operator has it no more. */
  constructor(
    private readonly offered: OfferedTool,
    server: ToolServer | null,
    private readonly metrics: Metrics,
  ) {
    super();
    const config = server?.config;
    this.way = wayTo(offered, server);
    const reads = config !== undefined && matches(config.readOnly, offered.name);
    this.name = offered.calledAs;
    this.description = offered.description;
    this.inputSchema = offered.inputSchema;
    this.repeatable = reads;
    // Nobody is asked, and no room is needed, for what is not sent.
    this.changes = !reads && typeof this.way !== 'string';
    this.changesNothing = reads;
    this.asksAlways = config?.approval === 'always';
    this.elsewhere = config?.kind === 'url';
  }

  async execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const began = performance.now();
    const labels = { server: this.offered.server };
    let outcome: string = 'error';
    try {
      const result = await this.call(input, context);
      outcome = result.status;
      return result;
    } catch (error) {
      if (context.signal.aborted) outcome = 'cancelled';
      throw error;
    } finally {
      this.metrics.mcpCallSeconds.observe(labels, (performance.now() - began) / 1000);
      this.metrics.mcpCalls.inc({ ...labels, outcome });
    }
  }

  override approvalQuestion(input: z.output<typeof parameters>): string {
    const { server, name } = this.offered;
    return `May the agent use the tool ${name} of the server ${server}?\n\n${JSON.stringify(input, null, 2)}`;
  }

  private async call(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
    const { server, name } = this.offered;
    if (typeof this.way === 'string') return failed(this.way);
    const { config, connection, report } = this.way;
    const { signal, secondsLeft = Infinity } = context;
    const seconds = Math.min(config.timeoutSeconds, secondsLeft);
    const progress = (text: string) => context.progress?.('stdout', Buffer.from(text));
    try {
      return await outcomeOf(
        await connection.call(this.offered, input, { signal, seconds, progress }),
        server,
        context,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof McpRefusedError) {
        return { status: 'error', error: error.message, forModel: { foreign: foreignOf(server) } };
      }
      const told = error instanceof McpUnavailableError || error instanceof McpUnansweredError;
      if (!told) throw error;
      report(
        new Error(`The tool ${name} of the MCP server ${server}: ${error.message}`, { cause: error.cause }),
        'warn',
      );
      if (error instanceof McpUnansweredError) return failed(this.repeatable ? error.message : SENT);
      if (config.required) throw new McpUnavailableError(`${server}, ${error.message}`, { cause: error.cause });
      return failed(`The server ${server} cannot be used: ${error.message}. Nothing was sent.`);
    }
  }
}

function wayTo({ server, name }: OfferedTool, way: ToolServer | null): ToolServer | string {
  if (way === null) return `The server ${server} is not there any more; nothing was sent.`;
  return matches(way.config.tools, name) ? way : `The server ${server} has no tool ${name} any more.`;
}

const failed = (error: string): ToolOutcome => ({ status: 'error', error });
