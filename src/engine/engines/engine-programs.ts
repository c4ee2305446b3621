import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { enginesIn } from '../../platform/config/config-file.js';
import type { EngineConfig } from '../../platform/config/engines.js';
import { Env } from '../../platform/config/env.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { AgentEngine } from '../agent/agent-engine.js';
import { EngineSettings } from '../agent/engine-settings.js';
import { ModelCaller } from '../agent/model-caller.js';
import { ToolRegistry } from '../agent/tool-registry.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ModelError } from '../models/model-provider.js';
import { Heartbeat } from '../sandbox/heartbeat.js';
import { SandboxError, type SandboxSession } from '../sandbox/sandbox.js';
import { SandboxSelector } from '../sandbox/sandbox-selector.js';

/** The engine of agent programs, which is loaded with the first run of a model that names one (reference §30). */
@Injectable()
export class EnginePrograms implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(EnginePrograms.name);
  private readonly stopping = new AbortController();
  private loading: Promise<AgentEngine> | null = null;
  private trials: Promise<void> = Promise.resolve();

  constructor(
    private readonly models: ModelCatalog,
    private readonly caller: ModelCaller,
    private readonly tools: ToolRegistry,
    private readonly sandboxes: SandboxSelector,
    private readonly settings: EngineSettings,
    private readonly metrics: Metrics,
    private readonly env: Env,
  ) {}

  /** What drives a run of the model; null: `AGENT_ENGINE`. */
  async of(modelId: string): Promise<AgentEngine | null> {
    return this.models.engineOf(modelId) === null ? null : await (this.loading ??= this.load());
  }

  /** Each is tried in the background: the models of one that does not work are shown as unavailable. */
  onApplicationBootstrap(): void {
    const engines = this.env.runsWork && this.settings.triesEngines ? enginesIn(this.env.file) : [];
    for (const engine of engines) this.trials = this.trials.then(() => this.try(engine));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.trials;
  }

  private async try(engine: EngineConfig): Promise<void> {
    const { signal } = this.stopping;
    if (signal.aborted) return;
    const taskId = randomUUID();
    const heartbeat = Heartbeat.withoutLease(this.env.variables.LEASE_SECONDS);
    let session: SandboxSession | null = null;
    try {
      const { tryProgram } = await import('./acp/trial.js');
      const open = async (door: Parameters<Parameters<typeof tryProgram>[1]>[0]) => {
        return (session = await this.sandboxes.open({ taskId, door, heartbeat, signal }));
      };
      const { version, startMs, memoryBytes } = await tryProgram(engine, open, signal);
      if (memoryBytes !== null) this.metrics.engineMemory.set({ engine: engine.name }, memoryBytes);
      this.logger.log(`The engine ${engine.name} ${version} was ready after ${Math.round(startMs)} ms.`);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      const { ProgramError } = await import('./acp/program.js');
      // The program's own failure alone counts. A sandbox that did not open says nothing of the engine, and all processes would refuse its models for a minute.
      if (!(error instanceof ProgramError)) {
        const said = `The engine ${engine.name} could not be tried: ${why}`;
        if (error instanceof SandboxError) return this.logger.warn(said);
        return this.logger.error(said, error instanceof Error ? error.stack : undefined);
      }
      this.logger.error(`The engine ${engine.name} does not work: ${why}`);
      this.tell(engine);
    } finally {
      await (session as SandboxSession | null)?.close();
      await this.sandboxes.current.remove(taskId).catch((error: unknown) => this.logger.warn(error));
    }
  }

  private tell({ name }: EngineConfig): void {
    const gone = new ModelError('The engine of this model does not start on this service.', false, null, {
      code: 'model_gone',
    });
    for (const { id } of this.models.list()) {
      if (this.models.engineOf(id)?.name === name) this.models.health.failed(id, gone);
    }
  }

  private async load(): Promise<AgentEngine> {
    const { AcpEngine } = await import('./acp/acp-engine.js');
    const { models, caller, tools, sandboxes, settings, metrics, env } = this;
    return new AcpEngine({ models, caller, tools, sandboxes, settings, metrics, env });
  }
}
