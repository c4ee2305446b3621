import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { z } from 'zod';
import { isJsonObject, type JsonValue, type ToolInvocation, type ToolResult } from '../models/conversation.js';
import { longText } from '../models/result-text.js';
import type { ToolDefinition } from '../models/model-provider.js';
import { walkJson } from '../../platform/http/json-walk.mjs';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { SandboxError } from '../sandbox/sandbox.js';
import { untilAborted } from './abort.js';
import { AgentTool, type SecretToUse, type ToolContext, type ToolOutcome } from './agent-tool.js';
import { cleanJson, cleanText } from './clean-json.js';
import { McpUnavailableError } from './mcp/failures.js';
import { MCP_CALL, MCP_SEARCH, PREFIX } from './mcp/names.js';
import { EngineSettings } from './engine-settings.js';
import { readArguments, spelling } from './tool-arguments.js';
import { closeHanded } from './turn-outcomes.js';
import { GOING_ON } from './tools/bash-output.js';
import { DELEGATE } from './tools/delegate.js';
import { truncateMiddle } from './tools/tool-text.js';
import { USE_SECRET } from './tools/use-secret.js';
import { WEB_FETCH } from './tools/web-fetch.js';

/** A call that may be carried out, or the error that the model reads instead. */
export type CheckedCall = ReadyCall | { error: string };
export interface ReadyCall {
  tool: AgentTool;
  /** As the tool's `parameters` parse it. */
  input: unknown;
}

/** What providers take as the name of a tool. Nothing else that is on record as approved looks like one. */
const NAME = /^[\w-]{1,64}$/;
/** Of no use to a task that may make no others, that asks about no secrets, that may read no pages, and where no command goes on. */
const SOMETIMES = [DELEGATE, USE_SECRET, WEB_FETCH, ...GOING_ON];
/** What no model needs to know beforehand, and each request would carry: a call that does not keep to it is told what is wrong. */
const UNTOLD = [
  ...(['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'exclusiveMinimum'] as const),
  ...(['default', 'pattern', 'propertyNames'] as const),
];
/** Characters of the question before a call. */
const QUESTION = 4_000;

/** Every tool of the running application. */
@Injectable()
export class ToolRegistry implements OnModuleInit {
  private readonly logger = new Logger(ToolRegistry.name);
  private tools: Map<string, AgentTool> | undefined;
  /** As they are told of, once for all runs: a schema takes a while to be made. */
  private described = new WeakMap<AgentTool, ToolDefinition>();
  /** Of those of one run: what is carried out, and offered by another. */
  private unoffered: readonly string[] = [];

  constructor(
    private readonly registry: PluginRegistry,
    private readonly settings: EngineSettings,
  ) {}

  /** A tool whose arguments have no JSON Schema stops the boot, not a task. */
  onModuleInit(): void {
    for (const tool of this.all().values()) this.defined(tool);
  }

  /** This one with further tools behind its own, for one run. @param unoffered names of those that are carried out and not offered. */
  with(further: readonly AgentTool[], unoffered: readonly string[]): ToolRegistry {
    const both = new ToolRegistry(this.registry, this.settings);
    both.tools = new Map([...this.all(), ...further.map((tool) => [tool.name, tool] as const)]);
    both.described = this.described;
    both.unoffered = unoffered;
    return both;
  }

  /**
   * The tools that a model is offered. A call of another tool is carried out too.
   * @param also tools that are offered to some tasks alone.
   * @param denied those that the task does not have.
   */
  definitions(writesPatches = false, also: readonly string[] = [], denied: readonly string[] = []): ToolDefinition[] {
    const offered = [...this.all().values()].filter(
      ({ name, patches }) =>
        !this.unoffered.includes(name) &&
        patches !== !writesPatches &&
        (!SOMETIMES.includes(name) || also.includes(name)),
    );
    return offered.filter(({ name }) => !this.isDenied(name, denied)).map((tool) => this.defined(tool));
  }

  /** Looks for a call's tool and checks its arguments. Nothing is started. @param denied as of {@link definitions}. */
  check({ name, input }: Pick<ToolInvocation, 'name' | 'input'>, denied: readonly string[] = []): CheckedCall {
    const tool = this.all().get(name) ?? this.spelled(name);
    if (tool === undefined || this.isDenied(tool.name, denied)) {
      const rest = [...this.all().keys()]
        .filter((one) => !this.isDenied(one, denied) && !this.unoffered.includes(one))
        .join(', ');
      const which =
        tool === undefined
          ? `There is no tool '${name}'`
          : `The agent of this task does not have the tool '${tool.name}'`;
      return { error: `${which}. The tools are: ${rest}.` };
    }
    const schema = this.defined(tool).inputSchema;
    const read = readArguments(tool, schema, input);
    if ('error' in read) return read;
    const other = tool.passesOn(read.input);
    return other === null ? { tool, input: read.input } : this.check(other, denied);
  }

  /**
   * Carries out a checked call. What the tool throws is an `error` result, but for {@link SandboxError}, {@link McpUnavailableError} and the signal's
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
      if (outcome.status === 'question' || outcome.status === 'tasks') return outcome;
      return { ...outcome, ...this.bounded(await withWhole(outcome, context)) };
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof SandboxError || error instanceof McpUnavailableError) throw error;
      return this.bounded({ status: 'error', error: this.worded(error) });
    }
  }

  /** Whether a tool of this name is there, and no call of it changes anything. */
  reads(name: string): boolean {
    return this.all().get(name)?.changes === false;
  }

  /** The result of what is no tool of the service, as those of tools are kept. */
  async kept(result: ToolResult, context: Pick<ToolContext, 'resultCharacters' | 'keepWhole'>): Promise<ToolResult> {
    return this.bounded(await withWhole(result, context));
  }

  /** What a person is asked before a call; by the tool's name alone when the tool cannot word it. */
  approvalQuestion({ tool, input }: ReadyCall, secrets: readonly SecretToUse[]): string {
    try {
      return cleanText(truncateMiddle(tool.approvalQuestion(input, secrets), QUESTION).text);
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
    if (result.status === 'denied') return { status: 'denied', reason: result.reason };
    const { forModel } = result;
    return { ...this.boundedOutput(result), ...(forModel === undefined ? {} : { forModel }) };
  }

  private boundedOutput(result: Exclude<ToolResult, { status: 'denied' }>): ToolResult {
    const { resultBytes } = this.settings;
    if (result.status === 'error') {
      // A character is at most six bytes of JSON.
      return { status: 'error', error: cleanText(result.error.slice(0, resultBytes / 8)) };
    }
    const json = JSON.stringify(result.output);
    if (Buffer.byteLength(json) <= resultBytes) return { status: 'success', output: cleanJson(result.output, json) };
    const whole = typeof result.output === 'string' ? result.output : json;
    const text = cleanText(whole.slice(0, resultBytes / 8));
    return { status: 'success', output: `${text}\n[The result was cut here: it had ${json.length} characters.]` };
  }

  /** A shell is denied by each name that it has. */
  private isDenied(name: string, denied: readonly string[]): boolean {
    const first = (one: string) => this.all().get(one)?.standsFor ?? one;
    return denied.some((one) => first(one) === first(name));
  }

  /** `Bash` and `BASH` are `bash`. */
  private spelled(name: string): AgentTool | undefined {
    const [one, ...more] = [...this.all().values()].filter((tool) => spelling(tool.name) === spelling(name));
    return more.length === 0 ? one : undefined;
  }

  private defined(tool: AgentTool): ToolDefinition {
    const { name, description } = tool;
    const freeform = tool.freeform === null ? {} : { freeform: tool.freeform };
    const known = this.described.get(tool) ?? { name, description, inputSchema: schemaOf(tool), ...freeform };
    this.described.set(tool, known);
    return known;
  }

  private all(): Map<string, AgentTool> {
    if (this.tools === undefined) {
      const found = this.registry.all(AgentTool);
      for (const [name, tool] of found) {
        if (tool.name !== name)
          throw new Error(`The tool ${tool.constructor.name} is '${name}' in @Plugin and '${tool.name}' by its name.`);
        if (name.startsWith(PREFIX) || name === MCP_SEARCH || name === MCP_CALL)
          throw new Error(`The tool '${name}' is called as tools of MCP servers are.`);
        if (!NAME.test(name)) throw new Error(`The tool '${name}' is to be named by 1 to 64 letters, digits, _ and -.`);
      }
      this.tools = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    return this.tools;
  }
}

function discard(outcome: ToolOutcome): void {
  if (outcome.status === 'question') return;
  if (outcome.status === 'tasks') return void closeHanded(outcome.handed).catch(() => undefined);
  for (const file of outcome.files ?? []) file.content.destroy();
}

/** A result that is too long for the model is kept in a file. */
async function withWhole(
  result: ToolResult,
  { resultCharacters, keepWhole }: Pick<ToolContext, 'resultCharacters' | 'keepWhole'>,
): Promise<ToolResult> {
  if (keepWhole === undefined || result.status === 'denied' || result.forModel?.whole !== undefined) return result;
  const text = longText(result, resultCharacters);
  const whole = text === null ? null : await keepWhole(text);
  return whole === null ? result : { ...result, forModel: { ...result.forModel, whole } };
}

function schemaOf(tool: AgentTool): Record<string, unknown> {
  if (tool.inputSchema !== null) return tool.inputSchema;
  const { $schema: _version, ...schema } = z.toJSONSchema(tool.parameters, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const key of UNTOLD) delete jsonSchema[key];
    },
  });
  return schema;
}

/**
 * Arguments as a model wrote them: parsed, or the text itself when it is no JSON object, or too many values. Some models encode the
 * object once more, as a JSON text in a JSON text.
 */
export function parseArguments(text: string, again = true): JsonValue {
  // Some providers send nothing for a tool without arguments.
  if (text.trim() === '') return {};
  // An answer has up to 4,000,000 characters: 1,300,000 values, and half a second of the worker to parse them.
  if (walkJson(text, true) !== null) return cleanText(text);
  try {
    const value = JSON.parse(text) as JsonValue;
    if (isJsonObject(value)) return cleanJson(value, text.isWellFormed() ? text : JSON.stringify(value));
    const inner = again && typeof value === 'string' && value.trim() !== '' ? parseArguments(value, false) : null;
    if (typeof inner === 'object' && inner !== null) return inner;
  } catch {
    // `check` reports it to the model.
  }
  return cleanText(text);
}
