import { Logger } from '@nestjs/common';
import { ModelCatalog } from '../models/model-catalog.js';
import { resultCharacters } from '../models/result-text.js';
import { Env } from '../../platform/config/env.js';
import { redactor, secretsOf } from '../../platform/logging/redaction.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { SandboxSelector } from '../sandbox/sandbox-selector.js';
import {
  AgentEngine,
  type AgentEvent,
  type AgentFeedback,
  type AgentInput,
  type AgentOutcome,
} from './agent-engine.js';
import { secretsToUse } from './approval.js';
import { furtherTools, judged, madeReady, mcpOf, modelGone, reportOf, tellEnded, titled } from './around-turn.js';
import { beside, checkOriginal } from './check-lanes.js';
import { answered, isAnswered } from './check-steps.js';
import { besideCommands } from './commands/beside-commands.js';
import { RunCommands } from './commands/run-commands.js';
import { ContextCompactor } from './context/context-compactor.js';
import { ContextSize } from './context/context-size.js';
import { ContextWindows } from './context/context-windows.js';
import { EngineSettings } from './engine-settings.js';
import { FileCache } from './file-cache.js';
import { LazySandbox } from './lazy-sandbox.js';
import { ListCache } from './mcp/list-cache.js';
import { ModelCaller } from './model-caller.js';
import { TurnOutput } from './output/turn-output.js';
import { surroundingsOf } from './surroundings.js';
import { systemPrompt } from './system-prompt.js';
import { TaskFiles } from './task-files.js';
import { ToolRegistry } from './tool-registry.js';
import { GOING_ON } from './tools/bash-output.js';
import { TurnRun } from './turn-run.js';
import { webUse } from './web-use.js';
import { waitsAfter } from './when-blocked.js';
import { TurnLimits } from './turn-limits.js';

/** The built-in engine: calls the model, carries out its tools, and again, until there is an outcome. */
@Plugin(AgentEngine, 'loop')
export class LoopEngine extends AgentEngine {
  private readonly logger = new Logger(LoopEngine.name);
  private readonly windows: ContextWindows;
  private readonly cache = new FileCache();
  private readonly lists = new ListCache();
  private readonly hide: (line: string) => string;

  constructor(
    private readonly models: ModelCatalog,
    private readonly caller: ModelCaller,
    private readonly tools: ToolRegistry,
    private readonly sandboxes: SandboxSelector,
    private readonly settings: EngineSettings,
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {
    super();
    this.windows = new ContextWindows(models);
    this.hide = redactor(secretsOf(env));
  }

  async *run(given: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    given.signal.throwIfAborted();
    const model = this.models.find(given.model.id);
    if (model === undefined) return modelGone(given.model.id);
    const over = new AbortController();
    const { checks } = given;
    const unknown = checks !== undefined && checks.unknown.length > 0;
    const input = { ...given, signal: AbortSignal.any([given.signal, over.signal]) };
    const sandbox = new LazySandbox(this.sandboxes, input);
    const limits = new TurnLimits(input, this.settings.stepsPerTurn, (model) => this.models.prices(model));
    const { caller, settings } = this;
    const report = reportOf(this.logger, this.hide, input);
    const { windows, lists, metrics, env } = this;
    const mcp = mcpOf(input, sandbox, { windows, lists, metrics, env, report });
    const commands = this.commandsOf(input, limits);
    const secrets = await secretsToUse(input);
    const also = [...furtherTools(input, secrets), ...(commands === null ? [] : GOING_ON)];
    const { denied = [] } = input;
    const fitting = resultCharacters(model.contextWindow);
    const system = systemPrompt(input);
    const { workspaceId } = input;
    try {
      const absent = yield* madeReady(input, sandbox, mcp, report);
      if (absent !== null) return absent;
      const tools = mcp === null ? this.tools : this.tools.with(mcp.tools, mcp.unoffered);
      const offered = tools.definitions(this.models.writesPatches(input.model.id), also, denied);
      const context = new ContextCompactor(
        input.model.id,
        input,
        this.windows,
        new ContextSize(system, offered, model.input),
      );
      const surroundings = this.models.wantsSurroundings(input.model.id)
        ? () =>
            surroundingsOf(
              input,
              { ...this.sandboxes.factsOf(input), window: this.windows.of(model.id), servers: mcp?.told ?? [] },
              () => sandbox.get(),
              report,
            )
        : null;
      const output = new TurnOutput(input.outputSchema ?? null, workspaceId);
      const run = new TurnRun(input, {
        caller,
        system,
        output,
        tools,
        offered,
        denied,
        secrets,
        web: webUse(input),
        commands,
        settings,
        sandbox,
        limits,
        context,
        resultCharacters: fitting,
        reads: model.input,
        files: new TaskFiles(input, this.cache),
        surroundings,
        report,
      });
      // Who is told goes on, and what a turn has come to is not asked for again.
      const isOver = checks?.again === true || isAnswered(input.messages);
      const earlier = isOver ? [] : yield* tellEnded(commands?.untold() ?? input.commands?.earlier ?? []);
      let steps =
        checks?.again === true
          ? answered(input, output)
          : titled(input, run.run(earlier), { limits, report, models: this.models, caller: this.caller });
      if (checks !== undefined && unknown) {
        const original = (enough: AbortSignal) => checkOriginal(checks, input, limits, enough);
        steps = beside(steps, original, () => over.abort());
      }
      for (;;) {
        const outcome = yield* commands === null
          ? steps
          : besideCommands(steps, commands, input.signal, () => over.abort());
        if (waitsAfter(input, outcome)) return outcome;
        const verdict = yield* judged(input, outcome, { sandbox, mcp, limits, report });
        if ('failed' in verdict) return verdict.failed;
        if (!('again' in verdict)) return outcome;
        steps = run.run([verdict.again, ...(yield* tellEnded(commands?.untold() ?? []))]);
      }
    } finally {
      commands?.close();
      await mcp?.close();
      await sandbox.close();
    }
  }

  /** Each call of a task that asks before it is carried out ends the run, and so would each of its commands. */
  private commandsOf(input: AgentInput, limits: TurnLimits): RunCommands | null {
    const { commands, approvals, passOn } = input;
    if (commands === undefined || approvals === 'writes') return null;
    return new RunCommands(commands, {
      logBytes: this.sandboxes.factsOf(input).limits.outputBytes,
      secondsLeft: () => limits.secondsLeft(),
      passOn,
    });
  }
}
