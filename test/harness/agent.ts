// The real engine, tools and models on a folder and a scripted model server, without database and without Nest.
import type { DiscoveryService } from '@nestjs/core';
import { readEnv } from '../../src/platform/config/env.js';
import type { AgentEvent, AgentInput, AgentOutcome } from '../../src/engine/agent/agent-engine.js';
import type { InputRepository } from '../../src/engine/agent/input-repository.js';
import type { AgentTool, ToolOutcome } from '../../src/engine/agent/agent-tool.js';
import { EngineSettings } from '../../src/engine/agent/engine-settings.js';
import { LoopEngine } from '../../src/engine/agent/loop-engine.js';
import { ModelCaller } from '../../src/engine/agent/model-caller.js';
import { ToolRegistry } from '../../src/engine/agent/tool-registry.js';
import { ApplyPatchTool } from '../../src/engine/agent/tools/apply-patch.js';
import { AskTool } from '../../src/engine/agent/tools/ask.js';
import { BashInputTool } from '../../src/engine/agent/tools/bash-input.js';
import { BashOutputTool } from '../../src/engine/agent/tools/bash-output.js';
import { BashStopTool } from '../../src/engine/agent/tools/bash-stop.js';
import { BashTool } from '../../src/engine/agent/tools/bash.js';
import { EditTool } from '../../src/engine/agent/tools/edit.js';
import { ExecCommandTool } from '../../src/engine/agent/tools/exec-command.js';
import { GlobTool } from '../../src/engine/agent/tools/glob.js';
import { GrepTool } from '../../src/engine/agent/tools/grep.js';
import { PublishTool } from '../../src/engine/agent/tools/publish.js';
import { ReadTool } from '../../src/engine/agent/tools/read.js';
import { TodoTool } from '../../src/engine/agent/tools/todo.js';
import { UseSecretTool } from '../../src/engine/agent/tools/use-secret.js';
import { WebFetchTool } from '../../src/engine/agent/tools/web-fetch.js';
import { WriteStdinTool } from '../../src/engine/agent/tools/write-stdin.js';
import { WriteTool } from '../../src/engine/agent/tools/write.js';
import { WebRequests } from '../../src/engine/web/web-requests.js';
import { AiSdkProvider } from '../../src/engine/models/ai-sdk/ai-sdk-provider.js';
import type {
  ConversationMessage,
  JsonValue,
  ToolInvocation,
  ToolResult,
} from '../../src/engine/models/conversation.js';
import { ModelCatalog } from '../../src/engine/models/model-catalog.js';
import type { ModelInfo } from '../../src/engine/models/model-provider.js';
import { RunbookProvider } from '../../src/engine/models/runbook/runbook-provider.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { PluginRegistry } from '../../src/platform/plugins/plugin.js';
import type { SandboxSession } from '../../src/engine/sandbox/sandbox.js';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { FolderSandbox } from './folder-sandbox.js';
import { ModelServer, type Script } from './model-server.js';

/** A registry that finds these instances, as if Nest had made them. */
export function registryOf(instances: object[]): PluginRegistry {
  const discovery = { getProviders: () => instances.map((instance) => ({ instance })) };
  return new PluginRegistry(discovery as unknown as DiscoveryService);
}

/** A repository that lies at repo/ already, and in which nothing changes. */
export const HANDED_IN: InputRepository = {
  recorded: 'c0ffee',
  commit: 'c0ffee',
  clone: () => Promise.resolve('c0ffee'),
  skills: () => Promise.resolve([]),
  handIn: () => Promise.resolve(),
  changes: () =>
    Promise.resolve({
      counted: { files: 0, additions: 0, deletions: 0 },
      patch: null,
      reopen: () => Promise.reject(new Error('There is no patch.')),
      close: () => Promise.resolve(),
    }),
  difference: () => Promise.resolve({ files: 0, additions: 0, deletions: 0 }),
  layFresh: () => Promise.resolve({ changed: [], patchSha256: null }),
  branch: null,
  async *push() {},
};

export interface Recorded {
  outcome: AgentOutcome;
  events: AgentEvent[];
}

/** Everything that a test of the engine needs; {@link close} ends it. */
export class AgentBench {
  readonly sandbox = new FolderSandbox();
  readonly settings = Object.assign(new EngineSettings(), { backoffMs: 5, idleMs: 5_000 });
  readonly engine: LoopEngine;
  readonly registry: ToolRegistry;
  readonly models: ModelCatalog;
  readonly metrics = new Metrics();
  readonly modelId: string;
  /** As the provider lists it: a test may change it. */
  readonly model: ModelInfo;

  constructor(
    readonly server: ModelServer | null,
    extraTools: AgentTool[],
  ) {
    const url = server?.url;
    const env = readEnv(
      url === undefined
        ? {}
        : { OPENAI_COMPATIBLE_URL: url, OPENAI_COMPATIBLE_KEY: 'key', OPENAI_COMPATIBLE_MODEL: 'test/fake' },
    );
    const tools = [
      new ApplyPatchTool(),
      new AskTool(),
      new BashInputTool(),
      new BashOutputTool(),
      new BashStopTool(),
      new BashTool(env),
      new EditTool(),
      new ExecCommandTool(env),
      new GlobTool(),
      new GrepTool(),
    ];
    const more: AgentTool[] = [
      new PublishTool(env),
      new ReadTool(),
      new TodoTool(),
      new UseSecretTool(),
      new WriteStdinTool(),
      new WriteTool(),
    ];
    const { metrics } = this;
    more.push(new WebFetchTool(env, new WebRequests(env), metrics));
    const plugins = [...tools, ...more, ...extraTools, new AiSdkProvider(env), new RunbookProvider(env)];
    const registry = registryOf(plugins);
    const catalog = new ModelCatalog(env, registry);
    this.models = catalog;
    this.model = catalog.default();
    this.modelId = this.model.id;
    this.registry = new ToolRegistry(registry, this.settings);
    const selector = Object.create(SandboxSelector.prototype, {
      current: { value: this.sandbox },
      metrics: { value: metrics },
      env: { value: env },
    }) as SandboxSelector;
    const caller = new ModelCaller(catalog, this.settings, metrics);
    this.engine = new LoopEngine(catalog, caller, this.registry, selector, this.settings, metrics, env);
  }

  /** With a script: that model over HTTP. Without: the runbook. */
  static async start(script?: Script, extraTools: AgentTool[] = []): Promise<AgentBench> {
    return new AgentBench(script === undefined ? null : await ModelServer.start(script), extraTools);
  }

  /** One call, checked and carried out in a session. */
  async use(session: SandboxSession, name: string, input: JsonValue): Promise<ToolOutcome> {
    const checked = this.registry.check({ name, input });
    if ('error' in checked) return { status: 'error', error: checked.error };
    const { signal } = new AbortController();
    const ids = { taskId: '', workspaceId: '', userId: '', toolCallId: 'call' };
    return this.registry.execute(checked, { ...ids, signal, sandbox: () => Promise.resolve(session) });
  }

  async close(): Promise<void> {
    await this.server?.stop();
    await this.sandbox.remove();
  }

  input(messages: ConversationMessage[] | string, more: Partial<AgentInput> = {}): AgentInput {
    return {
      taskId: '0190a000-0000-7000-8000-000000000001',
      workspaceId: '0190a000-0000-7000-8000-000000000002',
      userId: '0190a000-0000-7000-8000-000000000003',
      runId: '0190a000-0000-7000-8000-000000000002',
      model: { id: this.modelId, effort: null },
      messages: typeof messages === 'string' ? [user(messages)] : messages,
      approvals: 'none',
      commands: { last: 0, earlier: [], onStop: () => () => undefined },
      approvedTools: [],
      budget: {},
      spent: { steps: 0, tokens: 0, durationMs: 0, costMicros: 0 },
      files: [],
      project: [],
      signal: new AbortController().signal,
      stopping: new AbortController().signal,
      ...more,
    };
  }

  /**
   * Runs to the end, as a recorder would: `record` gets each event before the engine goes on, keeps the conversation that a
   * database would hold, and may answer with messages to steer by.
   */
  async run(
    input: AgentInput,
    onEvent: (event: AgentEvent) => ConversationMessage[] | Promise<ConversationMessage[]> = () => [],
  ): Promise<Recorded> {
    const events: AgentEvent[] = [];
    const running = this.engine.run(input);
    let steer: ConversationMessage[] = [];
    for (;;) {
      const next = await running.next({ steer, files: [] });
      if (next.done === true) return { outcome: next.value, events };
      events.push(next.value);
      record(input.messages, next.value);
      steer = await onEvent(next.value);
      input.messages.push(...steer);
    }
  }
}

let messages = 0;

export function user(text: string, more: Partial<ConversationMessage> = {}): ConversationMessage {
  return { id: `user-${++messages}`, role: 'user', parts: [{ type: 'text', text }], invocations: [], ...more };
}

/** An assistant's message as the database would give it back. */
export function assistant(text: string, ...invocations: ToolInvocation[]): ConversationMessage {
  const parts = invocations.map(({ toolCallId }) => ({ type: 'tool' as const, toolCallId }));
  return { id: `assistant-${++messages}`, role: 'assistant', parts: [{ type: 'text', text }, ...parts], invocations };
}

export function call(
  toolCallId: string,
  name: string,
  input: JsonValue,
  result: ToolResult | null = null,
  stage: ToolInvocation['stage'] = null,
): ToolInvocation {
  return { toolCallId, name, input, result, stage };
}

/** What the recorder does with an event, on an array instead of rows. */
export function record(conversation: ConversationMessage[], event: AgentEvent): void {
  if (event.type === 'step') {
    const { surroundings } = event;
    const began = conversation.find(({ id }) => id === surroundings?.messageId);
    if (surroundings != null) began?.parts.unshift(surroundings.part);
    const invocations = event.calls.map((one) => ({ ...one, result: null, stage: null }));
    // JSON, because a database gives back what it can store and nothing else.
    const parts = JSON.parse(JSON.stringify(event.parts)) as ConversationMessage['parts'];
    conversation.push({ id: event.messageId, role: 'assistant', parts, invocations });
    return;
  }
  if (event.type !== 'begin' && event.type !== 'tool') return;
  const message = conversation.find((one) => one.id === event.messageId);
  const invocation = message?.invocations.find((one) => one.toolCallId === event.toolCallId);
  if (message === undefined || invocation === undefined) throw new Error('A tool event without its call.');
  if (event.type === 'begin') {
    invocation.stage = 'begun';
    return;
  }
  invocation.result = event.result;
  const open = message.invocations.some((one) => one.result === null);
  if (event.last === open) throw new Error('`last` is wrong.');
}
