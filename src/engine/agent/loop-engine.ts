import { Logger } from '@nestjs/common';
import { ModelCatalog } from '../models/model-catalog.js';
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
import { EngineSettings } from './engine-settings.js';
import { LazySandbox } from './lazy-sandbox.js';
import { ModelCaller } from './model-caller.js';
import { ToolRegistry } from './tool-registry.js';
import { sandboxUnavailable, TurnRun } from './turn-run.js';
import { TurnLimits } from './turn-limits.js';

/** The built-in engine: calls the model, carries out its tools one after another, and again, until there is an outcome. */
@Plugin(AgentEngine, 'loop')
export class LoopEngine extends AgentEngine {
  private readonly logger = new Logger(LoopEngine.name);

  constructor(
    private readonly models: ModelCatalog,
    private readonly caller: ModelCaller,
    private readonly tools: ToolRegistry,
    private readonly sandboxes: SandboxSelector,
    private readonly settings: EngineSettings,
  ) {
    super();
  }

  async *run(input: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback> {
    input.signal.throwIfAborted();
    if (this.models.find(input.model.id) === undefined) return modelGone(input.model.id);
    const sandbox = new LazySandbox(this.sandboxes, input);
    const limits = new TurnLimits(input, this.settings.stepsPerTurn, this.models.prices(input.model.id));
    const { caller, tools, settings } = this;
    const { workspaceId, taskId, runId } = input;
    const report = (error: Error) =>
      this.logger.error({ workspaceId, taskId, runId, msg: `Task ${taskId}: ${error.message}` });
    try {
      const failed = await sandbox.reserve().then(
        () => null,
        (error: unknown) => notReserved(error, report),
      );
      if (failed !== null) return failed;
      return yield* new TurnRun(input, { caller, tools, settings, sandbox, limits, report }).run();
    } finally {
      await sandbox.close();
    }
  }
}

/** A place that comes free brings the run back; what else is wrong is for an operator, and a further message tries again. */
function notReserved(error: unknown, report: (error: Error) => void): AgentOutcome {
  if (!(error instanceof SandboxError) || error instanceof SandboxBusyError) throw error;
  report(error);
  return sandboxUnavailable();
}

function modelGone(id: string): AgentOutcome {
  const message = `The model '${id}' is not offered here any more.`;
  return { type: 'failed', code: 'model_not_available', message, retryable: false };
}
