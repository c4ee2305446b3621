import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AgentEngine } from '../../engine/agent/agent-engine.js';
import { Env } from '../../platform/config/env.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { Tracing } from '../../platform/tracing/tracing.js';
import type { ClaimedRun, RunSignals } from './claimed-run.js';
import { RunLoader } from './run-loader.js';
import { RunRecorder } from './run-recorder.js';
import { RunReport } from './run-report.js';

/** Takes one claimed run to its end: the engine yields, the recorder writes, and `yield` resumes after the commit. */
@Injectable()
export class RunDriver implements OnModuleInit {
  private engine: AgentEngine;

  constructor(
    private readonly loader: RunLoader,
    private readonly recorder: RunRecorder,
    private readonly plugins: PluginRegistry,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
    private readonly env: Env,
  ) {}

  onModuleInit(): void {
    this.engine = this.plugins.chosen(AgentEngine, 'AGENT_ENGINE', this.env.variables.AGENT_ENGINE);
  }

  /** Throws the reason of a signal that is aborted. */
  async drive(run: ClaimedRun, signals: RunSignals): Promise<void> {
    const { signal, stopping } = signals;
    signal.throwIfAborted();
    stopping.throwIfAborted();
    const input = await this.loader.load(run, signals);
    const engine = this.engine.run(input);
    const report = new RunReport(this.tracing, run, input.model.id);
    try {
      let turn = await engine.next();
      let worked = false;
      while (turn.done !== true) {
        worked ||= turn.value.type === 'tool';
        report.happened(turn.value);
        const feedback = await this.recorder.record(run, turn.value, signal);
        report.recorded();
        turn = await engine.next(feedback);
      }
      await this.recorder.finish(run, turn.value, signal, worked);
      this.metrics.runsEnded.inc({ outcome: turn.value.type });
      report.ended(turn.value);
    } catch (error) {
      report.left(error);
      throw error;
    } finally {
      // Lets the engine close its sandbox when it was left between two events.
      await engine.return({ type: 'completed', text: '' });
    }
  }
}
