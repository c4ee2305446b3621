import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AgentEngine, type AgentEvent, type AgentInput, type AgentOutcome } from '../../engine/agent/agent-engine.js';
import { EngineSettings } from '../../engine/agent/engine-settings.js';
import { EnginePrograms } from '../../engine/engines/engine-programs.js';
import { Env } from '../../platform/config/env.js';
import { EventSubscriptions } from '../../platform/events/event-subscriptions.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { Tracing } from '../../platform/tracing/tracing.js';
import type { ClaimedRun, RunSignals } from './claimed-run.js';
import { LiveTurn } from './live-turn.js';
import { type Loaded, RunLoader } from './run-loader.js';
import { RunNetwork } from './run-network.js';
import { RunRecorder } from './run-recorder.js';
import { RunReport } from './run-report.js';
import { RunEnvironment } from '../environments/run-environment.js';
import { RunRestore } from './run-restore.js';
import { RunSecrets } from './run-secrets.js';
import { RunSnapshots } from './run-snapshots.js';
import { RunWaits } from './run-waits.js';

/** Events behind which the workdir may be larger. */
const FILLS = new Set<AgentEvent['type']>(['cloned', 'tool', 'changes']);

/** Takes one claimed run to its end: the engine yields, the recorder writes, and `yield` resumes after the commit. */
@Injectable()
export class RunDriver implements OnModuleInit {
  private engine: AgentEngine;

  constructor(
    private readonly loader: RunLoader,
    private readonly recorder: RunRecorder,
    private readonly snapshots: RunSnapshots,
    private readonly secrets: RunSecrets,
    private readonly environments: RunEnvironment,
    private readonly network: RunNetwork,
    private readonly restores: RunRestore,
    private readonly plugins: PluginRegistry,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    private readonly env: Env,
    private readonly subscriptions: EventSubscriptions,
    private readonly settings: EngineSettings,
    private readonly programs: EnginePrograms,
  ) {}

  /** The built-in engine is `LoopEngine` (src/engine/agent/loop-engine.ts). */
  onModuleInit(): void {
    this.engine = this.plugins.chosen(AgentEngine, 'AGENT_ENGINE', this.env.variables.AGENT_ENGINE);
  }

  /** Throws the reason of a signal that is aborted. */
  async drive(run: ClaimedRun, signals: RunSignals): Promise<void> {
    const { signal, stopping } = signals;
    signal.throwIfAborted();
    stopping.throwIfAborted();
    const loaded = await this.loader.load(run, signals);
    try {
      await this.work(run, signals, loaded);
    } finally {
      if (loaded.secrets !== null) await this.secrets.close(loaded.secrets);
    }
  }

  private async work(
    run: ClaimedRun,
    { signal, stopping }: RunSignals,
    { input, snapshot, environment, ...loaded }: Loaded,
  ): Promise<void> {
    const held = { run, signal: AbortSignal.any([signal, stopping]) };
    const repository = input.repository ?? null;
    const begun = await this.environments.begin(held, { environment, snapshot, repository, stopping });
    // The run is no longer this process's.
    if ('waits' in begun) return;
    const build = 'build' in begun ? begun.build : null;
    const uncounted = loaded.uncounted || build !== null;
    const noRoom = uncounted ? (input.storageExhausted ?? null) : null;
    const restored = 'failed' in begun ? begun : await this.restores.restore(held, snapshot, build, noRoom);
    const live = new LiveTurn(this.subscriptions, run.taskId);
    const waits = new RunWaits(this.settings, async (waitingFor) => {
      await this.recorder.waits(run, waitingFor, signal);
    });
    const messages = 'told' in restored && restored.told !== null ? [...input.messages, restored.told] : input.messages;
    const told = { passOn: live.take, waits: waits.begin, onNetwork: this.network.of(run.taskId) };
    const chosen = (await this.programs.of(input.model.id)) ?? this.engine;
    const engine = chosen.run({ ...input, messages, ...told });
    const report = new RunReport(this.tracing, run, input.model.id);
    try {
      let turn = 'failed' in restored ? over(restored.failed) : await engine.next();
      let worked = uncounted;
      const midway = this.snapshots.midway({ run, signal });
      while (turn.done !== true) {
        live.settle(turn.value);
        worked ||= FILLS.has(turn.value.type);
        report.happened(turn.value);
        const feedback = await this.recorder.record(run, turn.value, signal);
        report.recorded(turn.value);
        if (!stopping.aborted) await midway.recorded(turn.value);
        turn = await engine.next(feedback);
      }
      const outcome = withOutput(input, turn.value);
      // A task that is over has all of it.
      await this.network.write(run.taskId);
      const ended = await this.recorder.finish(run, outcome, signal, worked);
      this.metrics.runsEnded.inc({ outcome: ended });
      report.ended(outcome);
    } catch (error) {
      report.left(error);
      throw error;
    } finally {
      live.close();
      // Lets the engine close its sandbox when it was left between two events.
      await engine.return({ type: 'completed', text: '' });
      await this.network.write(run.taskId);
    }
  }
}

/** As of an engine that has ended at once. */
function over(value: AgentOutcome): IteratorReturnResult<AgentOutcome> {
  return { done: true, value };
}

/** A task that asks for JSON is never completed without, by whatever engine. */
function withOutput({ outputSchema = null }: Pick<AgentInput, 'outputSchema'>, outcome: AgentOutcome): AgentOutcome {
  if (outputSchema === null || outcome.type !== 'completed' || outcome.output !== undefined) return outcome;
  const message = 'The engine of this service gives no answers that fit an outputSchema.';
  return { type: 'failed', code: 'output_invalid', message, retryable: false };
}
