import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import type { JsonValue, ToolInvocation, ToolResult } from '../models/conversation.js';
import type { ToolDefinition } from '../models/model-provider.js';
import { walkJson } from '../../platform/http/json-walk.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { SandboxError } from '../sandbox/sandbox.js';
import { untilAborted } from './abort.js';
import { AgentTool, type ToolContext, type ToolOutcome } from './agent-tool.js';
import { cleanJson, cleanText } from './clean-json.js';
import { EngineSettings } from './engine-settings.js';
import { cutMiddle } from './tools/tool-text.js';

/** A call that may be carried out, or the error that the model reads instead. */
export type CheckedCall = ReadyCall | { error: string };
export interface ReadyCall {
  tool: AgentTool;
  /** As the tool's `parameters` parse it. */
  input: unknown;
}

/** Characters of the question before a call. */
const QUESTION = 4_000;
/** Of wrong arguments: how many the model is told, and characters of that. 250,000 of them made an error of 9 MB. */
const ISSUES = 10;
const WRONG = 4_000;

/** Every tool of the running application. */
@Injectable()
export class ToolRegistry implements OnModuleInit {
  private readonly logger = new Logger(ToolRegistry.name);
  private tools: Map<string, AgentTool> | undefined;
  private described: ToolDefinition[] | undefined;

  constructor(
    private readonly registry: PluginRegistry,
    private readonly settings: EngineSettings,
  ) {}

  /** A tool whose arguments have no JSON Schema stops the boot, not a task. */
  onModuleInit(): void {
    this.definitions();
  }

  /** What a model is told of the tools. */
  definitions(): ToolDefinition[] {
    this.described ??= [...this.all()].map(([name, tool]) => ({
      name,
      description: tool.description,
      inputSchema: schemaOf(tool),
    }));
    return this.described;
  }

  /** Looks for a call's tool and checks its arguments. Nothing is started. */
  check({ name, input }: Pick<ToolInvocation, 'name' | 'input'>): CheckedCall {
    const tool = this.all().get(name);
    if (tool === undefined) {
      return { error: `There is no tool '${name}'. The tools are: ${[...this.all().keys()].join(', ')}.` };
    }
    if (typeof input === 'string') {
      const error = `The arguments of ${name} are not a JSON object of at most 10,000 keys and values, so nothing was done.`;
      return { error: `${error} ${expected(tool)}` };
    }
    const parsed = tool.parameters.safeParse(input);
    if (parsed.success) return { tool, input: parsed.data };
    const { issues } = parsed.error;
    const told = issues.slice(0, ISSUES).map((issue) => `- ${issue.path.join('.') || 'arguments'}: ${issue.message}`);
    if (issues.length > ISSUES) told.push(`- and ${issues.length - ISSUES} more`);
    return {
      error: `The arguments of ${name} are wrong, so nothing was done:\n${cutMiddle(told.join('\n'), WRONG).text}\n${expected(tool)}`,
    };
  }

  /**
   * Carries out a checked call. What the tool throws is an `error` result, but for {@link SandboxError} and the signal's
   * reason, which are thrown.
   */
  async execute({ tool, input }: ReadyCall, context: ToolContext): Promise<ToolOutcome> {
    context.signal.throwIfAborted();
    try {
      const carriedOut = tool.execute(input, context);
      const outcome = await untilAborted(carriedOut, context.signal).catch((error: unknown) => {
        // What a tool hands over after the stop is wanted by nobody, and may be an open file.
        void carriedOut.then(discard, () => undefined);
        throw error;
      });
      return outcome.status === 'question' ? outcome : { ...outcome, ...this.bounded(outcome) };
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof SandboxError) throw error;
      return this.bounded({ status: 'error', error: this.worded(error) });
    }
  }

  /** What a person is asked before a call; by the tool's name alone when the tool cannot word it. */
  approvalQuestion({ tool, input }: ReadyCall): string {
    try {
      return cleanText(cutMiddle(tool.approvalQuestion(input), QUESTION).text);
    } catch (error) {
      this.logger.error(error);
      return `May the agent use the tool ${tool.name}?`;
    }
  }

  /** The words of a tool are for the model; those of the system (ENOSPC, ENOENT) name paths of the host. */
  private worded(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    if (!('syscall' in error)) return error.message;
    this.logger.error(error);
    return 'The service could not do this; its log says why.';
  }

  private bounded(result: ToolResult): ToolResult {
    const { resultBytes } = this.settings;
    if (result.status === 'denied') return { status: 'denied', reason: result.reason };
    if (result.status === 'error') {
      // A character is at most six bytes of JSON.
      return { status: 'error', error: cleanText(result.error).slice(0, resultBytes / 8) };
    }
    const json = JSON.stringify(result.output);
    if (Buffer.byteLength(json) <= resultBytes) return { status: 'success', output: cleanJson(result.output, json) };
    const text = cleanText(typeof result.output === 'string' ? result.output : json).slice(0, resultBytes / 8);
    return { status: 'success', output: `${text}\n[The result was cut here: it had ${json.length} characters.]` };
  }

  private all(): Map<string, AgentTool> {
    if (this.tools === undefined) {
      const found = this.registry.all(AgentTool);
      for (const [name, tool] of found) {
        if (tool.name === name) continue;
        throw new Error(`The tool ${tool.constructor.name} is '${name}' in @Plugin and '${tool.name}' by its name.`);
      }
      this.tools = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    return this.tools;
  }
}

function discard(outcome: ToolOutcome): void {
  if (outcome.status === 'question') return;
  for (const file of outcome.files ?? []) file.content.destroy();
}

function schemaOf(tool: AgentTool): Record<string, unknown> {
  const { $schema: _version, ...schema } = z.toJSONSchema(tool.parameters, { target: 'draft-7', io: 'input' });
  return schema;
}

function expected(tool: AgentTool): string {
  return `The schema of its arguments: ${JSON.stringify(schemaOf(tool))}`;
}

/** Arguments as a model wrote them: parsed, or the text itself when it is no JSON object, or too many values. */
export function parseArguments(text: string): JsonValue {
  // Some providers send nothing for a tool without arguments.
  if (text.trim() === '') return {};
  // An answer has up to 4,000,000 characters: 1,300,000 values, and half a second of the worker to parse them.
  if (walkJson(text, true) !== null) return cleanText(text);
  try {
    const value = JSON.parse(text) as JsonValue;
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return cleanJson(value, text.isWellFormed() ? text : JSON.stringify(value));
  } catch {
    // Told to the model by `check`.
  }
  return cleanText(text);
}
