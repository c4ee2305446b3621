import { Logger } from '@nestjs/common';
import type { EngineConfig } from '../../../platform/config/engines.js';
import type { Env } from '../../../platform/config/env.js';
import { redactor, secretsOf } from '../../../platform/logging/redaction.js';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import {
  AgentEngine,
  type AgentEvent,
  type AgentFeedback,
  type AgentInput,
  type AgentOutcome,
} from '../../agent/agent-engine.js';
import { secretsToUse } from '../../agent/approval.js';
import {
  furtherTools,
  judged,
  madeReady,
  mcpOf,
  modelGone,
  reportOf,
  tellEnded,
  titled,
} from '../../agent/around-turn.js';
import { BesideResults } from '../../agent/beside-results.js';
import { contextOf as contextFor } from '../../agent/call-context.js';
import { beside, checkOriginal } from '../../agent/check-lanes.js';
import { answered } from '../../agent/check-steps.js';
import { ContextWindows } from '../../agent/context/context-windows.js';
import type { EngineSettings } from '../../agent/engine-settings.js';
import { FileCache } from '../../agent/file-cache.js';
import { LazySandbox } from '../../agent/lazy-sandbox.js';
import type { CallRef } from '../../agent/live-answer.js';
import { ListCache } from '../../agent/mcp/list-cache.js';
import type { ModelCaller } from '../../agent/model-caller.js';
import { TurnOutput } from '../../agent/output/turn-output.js';
import { surroundingsOf } from '../../agent/surroundings.js';
import { TaskFiles } from '../../agent/task-files.js';
import type { ToolRegistry } from '../../agent/tool-registry.js';
import { TurnLimits } from '../../agent/turn-limits.js';
import { failureIn } from '../../agent/turn-outcomes.js';
import { webUse } from '../../agent/web-use.js';
import { waitsAfter } from '../../agent/when-blocked.js';
import type { ModelCatalog } from '../../models/model-catalog.js';
import { type SdkModel, sdkModelsOf } from '../../models/model-config.js';
import { resultCharacters } from '../../models/result-text.js';
import { SandboxBusyError } from '../../sandbox/sandbox.js';
import type { SandboxSelector } from '../../sandbox/sandbox-selector.js';
import { WIRES } from '../wires/wires.js';
import { Door } from './door.js';
import { DoorTools } from './door-tools.js';
import { EngineTurn } from './engine-turn.js';
import { Gate } from './gate.js';
import { ModelCalls } from './model-calls.js';
import { offeredAtDoor } from './own-tools.js';

export interface AcpEngineDeps {
  models: ModelCatalog;
  caller: ModelCaller;
  tools: ToolRegistry;
  sandboxes: SandboxSelector;
  settings: EngineSettings;
  metrics: Metrics;
  env: Env;
}

/** Drives a task by an agent program in its sandbox: what is recorded is what passes the door between the program and its model (reference §30). */
export class AcpEngine extends AgentEngine {
  private readonly logger = new Logger(AcpEngine.name);
  private readonly windows: ContextWindows;
  private readonly cache = new FileCache();
  private readonly lists = new ListCache();
  private readonly hide: (line: string) => string;
  private readonly providers: SdkModel[];
  /** Runs of each engine in this process. */
  private readonly running = new Map<string, number>();

  constructor(private readonly deps: AcpEngineDeps) {
    super();
    this.windows = new ContextWindows(deps.models);
    this.hide = redactor(secretsOf(deps.env));
    this.providers = sdkModelsOf(deps.env);
  }

  async *run(input: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    input.signal.throwIfAborted();
    const engine = this.deps.models.engineOf(input.model.id);
    if (engine === null || this.deps.models.find(input.model.id) === undefined) return modelGone(input.model.id);
    const { name, concurrency } = engine;
    const count = this.running.get(name) ?? 0;
    if (count >= concurrency) throw new SandboxBusyError(`The engine '${name}' drives ${count} runs already.`, true);
    this.running.set(name, count + 1);
    try {
      return yield* this.drive(input, engine);
    } finally {
      this.running.set(name, (this.running.get(name) ?? 1) - 1);
    }
  }

  private async *drive(
    given: AgentInput,
    engine: EngineConfig,
  ): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    const { models, settings, metrics, caller, sandboxes, env } = this.deps;
    const over = new AbortController();
    const input = { ...given, signal: AbortSignal.any([given.signal, over.signal]) };
    const { checks, denied = [] } = input;
    const report = reportOf(this.logger, this.hide, input);
    const limits = new TurnLimits(input, settings.stepsPerTurn, (model) => models.prices(model));
    const conversation = input.messages.map((one) => ({
      ...one,
      invocations: one.invocations.map((call) => ({ ...call })),
    }));
    const output = new TurnOutput(input.outputSchema ?? null, input.workspaceId);
    const wire = WIRES[engine.wire];
    const hide = [...engine.hide, ...denied];
    let turn: EngineTurn | null = null;
    const own = new DoorTools(() => turn);
    const door = new Door(wire, {
      ...{ model: input.model.id, hide, mcp: own.serve },
      ask: async (request, reply, headers) => {
        if (turn === null) reply.refuse(503, 'not_ready', 'The turn has not begun.');
        else await turn.ask(request, reply, headers);
      },
    });
    const sandbox = new LazySandbox(sandboxes, { ...input, door: door.take });
    const { windows, lists } = this;
    const mcp = mcpOf(input, sandbox, { windows, lists, metrics, env, report });
    try {
      const absent = yield* madeReady(input, sandbox, mcp, report);
      if (absent !== null) return absent;
      const tools = mcp === null ? this.deps.tools : this.deps.tools.with(mcp.tools, mcp.unoffered);
      const secrets = await secretsToUse(input);
      const reads = models.find(input.model.id)?.input ?? ['text'];
      const fitting = resultCharacters(models.find(input.model.id)?.contextWindow ?? null);
      const results = new BesideResults(conversation, { sandbox, context: { compacted: (all) => [...all] } });
      const kept = { resultCharacters: fitting, keepWhole: results.keepWhole };
      const web = webUse(input);
      // MCP has no way to show a document.
      const shown = reads.filter((kind) => kind !== 'file');
      const parts = { sandbox, secrets, commands: null, resultCharacters: fitting, reads: shown, limits, web };
      const contextOf = (call: CallRef) => contextFor(input, parts, conversation, call, results.keepWhole);
      const carrying = { tools, denied, contextOf };
      const files = new TaskFiles(input, this.cache);
      own.offer({
        ...carrying,
        offered: offeredAtDoor(tools.definitions(false, furtherTools(input, secrets), denied)),
        files,
      });
      const gate = new Gate(input, engine, { ...carrying, secrets, web });
      const window = this.windows.of(input.model.id);
      const calls = new ModelCalls({ catalog: models, models: this.providers, settings, metrics, wire, engine, hide });
      const servers = mcp?.told ?? [];
      const facts = { ...sandboxes.factsOf(input), window, servers };
      const surroundings = () => surroundingsOf(input, facts, () => sandbox.get(), report);
      const deps = {
        engine,
        wire,
        calls,
        gate,
        metrics,
        kept,
        window,
        settings,
        sandbox,
        limits,
        carrying,
        tools,
        reads,
        surroundings,
        report,
        files,
        session: { known: input.engineSession ?? null },
      };
      const begin = (told: typeof conversation) => (turn = new EngineTurn(input, conversation, deps)).run(told);
      let steps: ReturnType<EngineTurn['run']>;
      const last = conversation.at(-1);
      const broken = last === undefined ? null : failureIn(last.parts);
      if (checks?.again === true || (last?.role === 'assistant' && broken !== null)) steps = answered(input, output);
      else {
        const earlier = yield* tellEnded(input.commands?.earlier ?? []);
        steps = titled(input, begin(earlier), { limits, report, models, caller });
      }
      if (checks !== undefined && checks.unknown.length > 0) {
        const original = (enough: AbortSignal) => checkOriginal(checks, input, limits, enough);
        steps = beside(steps, original, () => over.abort());
      }
      for (;;) {
        const outcome = yield* steps;
        if (waitsAfter(input, outcome)) return outcome;
        const verdict = yield* judged(input, outcome, { sandbox, mcp, limits, report });
        if ('failed' in verdict) return verdict.failed;
        if (!('again' in verdict)) return outcome;
        steps = begin([verdict.again]);
      }
    } finally {
      door.close();
      await mcp?.close();
      await sandbox.close();
    }
  }
}
