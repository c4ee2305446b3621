import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import { ModelCatalog } from '../models/model-catalog.js';
import { resultCharacters } from '../models/result-text.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import { SandboxBusyError, SandboxError } from '../sandbox/sandbox.js';
import { SandboxSelector } from '../sandbox/sandbox-selector.js';
import {
  AgentEngine,
  type AgentEvent,
  type AgentFeedback,
  type AgentInput,
  type AgentOutcome,
} from './agent-engine.js';
import { secretsToUse } from './approval.js';
import { beside, checkOriginal } from './check-lanes.js';
import { answered, NONE_LEFT, PASSED, runChecks } from './check-steps.js';
import { ContextCompactor } from './context/context-compactor.js';
import { ContextSize } from './context/context-size.js';
import { ContextWindows } from './context/context-windows.js';
import { EngineSettings } from './engine-settings.js';
import { FileCache } from './file-cache.js';
import { LazySandbox } from './lazy-sandbox.js';
import { ModelCaller } from './model-caller.js';
import type { OutputSchema } from './output/output-schema.js';
import { TurnOutput } from './output/turn-output.js';
import { bringIn, tellChanges, type Verify } from './repository-steps.js';
import { surroundingsOf } from './surroundings.js';
import { TaskFiles } from './task-files.js';
import { ToolRegistry } from './tool-registry.js';
import { TITLE_ANSWER, type TitleAsk, withTitle } from './title-call.js';
import { sandboxUnavailable } from './turn-outcomes.js';
import { USE_SECRET } from './tools/use-secret.js';
import { WEB_FETCH } from './tools/web-fetch.js';
import { TurnRun } from './turn-run.js';
import { webUse } from './web-use.js';
import { waitsAfter } from './when-blocked.js';
import { TurnLimits } from './turn-limits.js';

/** The system prompt. It is the same for every task, so that providers can cache it. */
const SYSTEM_PROMPT = readFileSync(new URL('./system-prompt.txt', import.meta.url), 'utf8').trim();

/**
 * What a task that asks for JSON has in addition. It stands at the beginning, where it is sent with every request of the task and no
 * compaction takes it away. The schema has its keys in the order in which they were given.
 */
const OUTPUT_PROMPT = readFileSync(new URL('./output/output-prompt.txt', import.meta.url), 'utf8').trim();

/** The built-in engine: calls the model, carries out its tools, and again, until there is an outcome. */
@Plugin(AgentEngine, 'loop')
export class LoopEngine extends AgentEngine {
  private readonly logger = new Logger(LoopEngine.name);
  private readonly windows: ContextWindows;
  private readonly cache = new FileCache();

  constructor(
    private readonly models: ModelCatalog,
    private readonly caller: ModelCaller,
    private readonly tools: ToolRegistry,
    private readonly sandboxes: SandboxSelector,
    private readonly settings: EngineSettings,
  ) {
    super();
    this.windows = new ContextWindows(models);
  }

  async *run(given: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    given.signal.throwIfAborted();
    const model = this.models.find(given.model.id);
    if (model === undefined) return modelGone(given.model.id);
    const over = new AbortController();
    const { checks } = given;
    const unknown = checks !== undefined && checks.unknown.length > 0;
    const input = unknown ? { ...given, signal: AbortSignal.any([given.signal, over.signal]) } : given;
    const sandbox = new LazySandbox(this.sandboxes, input);
    const limits = new TurnLimits(input, this.settings.stepsPerTurn, (model) => this.models.prices(model));
    const { caller, tools, settings } = this;
    const secrets = await secretsToUse(input);
    const also = [...((secrets ?? []).length > 0 ? [USE_SECRET] : []), ...(input.web === undefined ? [] : [WEB_FETCH])];
    const offered = tools.definitions(this.models.writesPatches(input.model.id), also);
    const fitting = resultCharacters(model.contextWindow);
    const system = systemPrompt(input.outputSchema);
    const context = new ContextCompactor(
      input.model.id,
      input,
      this.windows,
      new ContextSize(system, offered, model.input),
    );
    const { workspaceId, taskId, runId } = input;
    const report = (error: Error, level: 'error' | 'warn' | 'debug' = 'error') =>
      this.logger[level]({ workspaceId, taskId, runId, msg: `Task ${taskId}: ${error.message}` });
    try {
      const failed = await sandbox.reserve().then(
        () => null,
        (error: unknown) => notReserved(error, report),
      );
      if (failed !== null) return failed;
      const absent = yield* bringIn(input, sandbox, report);
      if (absent !== null) return absent;
      const surroundings = this.models.wantsSurroundings(input.model.id)
        ? () => surroundingsOf(input, this.sandboxes.factsOf(input), () => sandbox.get(), report)
        : null;
      const output = new TurnOutput(input.outputSchema ?? null, workspaceId);
      const run = new TurnRun(input, {
        caller,
        system,
        output,
        tools,
        offered,
        secrets,
        web: webUse(input),
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
      let steps = checks?.again === true ? answered(input, output) : this.titled(input, run.run(), limits, report);
      if (checks !== undefined && unknown) {
        const original = (enough: AbortSignal) => checkOriginal(checks, input, limits, enough);
        steps = beside(steps, original, () => over.abort());
      }
      for (;;) {
        const outcome = yield* steps;
        if (waitsAfter(input, outcome)) return outcome;
        const verify = verifying(input, limits);
        const verdict = yield* tellChanges(input, outcome, sandbox, verify, report);
        if ('failed' in verdict) return verdict.failed;
        if (!('again' in verdict)) return outcome;
        steps = run.run([verdict.again]);
      }
    } finally {
      await sandbox.close();
    }
  }

  /** The steps of a run, of a task without a title with one: when its first answer is still to come, and may be asked for. */
  private titled(
    input: AgentInput,
    steps: ReturnType<TurnRun['run']>,
    limits: TurnLimits,
    report: (error: Error, level: 'debug') => void,
  ): ReturnType<TurnRun['run']> {
    const { messages, signal, stopping } = input;
    const { id: modelId } = input.model;
    const [first] = messages;
    const isNew = input.untitled === true && messages.every(({ role }) => role === 'user');
    const mayAsk = input.usageExhausted == null && limits.exceeded() === null;
    if (first === undefined || !isNew || !mayAsk || !this.models.makesTitles(modelId)) return steps;
    if (!this.models.health.isWell(modelId)) return steps;
    const ask: TitleAsk = (request) => this.caller.once({ modelId, ...request }, TITLE_ANSWER);
    const failed = (error: Error) => report(new Error(`It gets no title. ${error.message}`), 'debug');
    const about = { first, ask, signals: [signal, stopping], failed };
    return withTitle(steps, about, ({ usage, model }) => limits.spend(usage, model));
  }
}

/** With the checks that the task has by then. */
function verifying(input: AgentInput, limits: TurnLimits): Verify {
  return async function* (changes) {
    const { checks = null, checksNow } = input;
    const now = checksNow === undefined ? checks : await checksNow();
    if (now === null) return checks?.again === true ? NONE_LEFT : PASSED;
    return yield* runChecks(now, input, changes, now.repairs, limits);
  };
}

/** A run whose sandbox is busy is queued again until one is free. Any other fault is for the operator, and a further message tries again. */
function notReserved(error: unknown, report: (error: Error) => void): AgentOutcome {
  if (!(error instanceof SandboxError) || error instanceof SandboxBusyError) throw error;
  report(error);
  return sandboxUnavailable();
}

function modelGone(id: string): AgentOutcome {
  const message = `The model '${id}' is not offered here any more.`;
  return { type: 'failed', code: 'model_not_available', message, retryable: false };
}

/** The system prompt of a task. */
function systemPrompt(schema: OutputSchema | null | undefined): string {
  return schema == null ? SYSTEM_PROMPT : `${SYSTEM_PROMPT}\n\n${OUTPUT_PROMPT}\n\n${JSON.stringify(schema)}`;
}
