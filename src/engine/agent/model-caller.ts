import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/metrics.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ModelError, type ModelRequest, type ModelUsage } from '../models/model-provider.js';
import { pause, untilAborted } from './abort.js';
import { EngineSettings } from './engine-settings.js';
import { AnswerCollector, type ModelAnswer } from './model-answer.js';

/** Calls a model until it answers: tries again, waits, gives up on silence. */
@Injectable()
export class ModelCaller {
  private readonly logger = new Logger(ModelCaller.name);

  constructor(
    private readonly models: ModelCatalog,
    private readonly settings: EngineSettings,
    private readonly metrics: Metrics,
  ) {}

  /** Throws the signal's reason when it is aborted, else {@link ModelError} when no try brought an answer. */
  async call(request: ModelRequest, uniqueId: (id: string) => string): Promise<ModelAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.attempt(request, uniqueId);
        this.count(request.modelId, answer.usage);
        return answer;
      } catch (error) {
        request.signal.throwIfAborted();
        this.metrics.modelCalls.inc({ model: request.modelId, outcome: 'failed' });
        const failure = this.asModelError(error);
        const wait = this.waitAfter(attempt, failure);
        if (wait === null) throw failure;
        this.logger.warn(
          `${failure.message} Try ${attempt} of ${this.settings.attempts}, again in ${Math.round(wait)} ms.`,
        );
        await pause(wait, request.signal);
      }
    }
  }

  private async attempt(request: ModelRequest, uniqueId: (id: string) => string): Promise<ModelAnswer> {
    const { idleMs, answerMs } = this.settings;
    const { signal } = request;
    const controller = new AbortController();
    const giveUp = (message: string) => controller.abort(new ModelError(message, true));
    const onAbort = () => controller.abort(signal.reason);
    const idle = setTimeout(() => giveUp(`The model was silent for ${idleMs / 1000} seconds.`), idleMs);
    const whole = setTimeout(() => giveUp(`The model took more than ${answerMs / 1000} seconds.`), answerMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const reading = this.read({ ...request, signal: controller.signal }, uniqueId, () => idle.refresh());
      return await untilAborted(reading, controller.signal);
    } finally {
      clearTimeout(idle);
      clearTimeout(whole);
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async read(request: ModelRequest, uniqueId: (id: string) => string, alive: () => void): Promise<ModelAnswer> {
    const collector = new AnswerCollector(this.settings, uniqueId);
    for await (const part of this.models.stream(request)) {
      alive();
      collector.add(part);
      if (collector.finish !== null) break;
    }
    return collector.result();
  }

  private count(model: string, usage: ModelUsage): void {
    const { modelCalls, modelTokens } = this.metrics;
    modelCalls.inc({ model, outcome: 'answered' });
    modelTokens.inc({ model, kind: 'input' }, usage.inputTokens);
    modelTokens.inc({ model, kind: 'cached_input' }, usage.cachedInputTokens);
    modelTokens.inc({ model, kind: 'output' }, usage.outputTokens);
    modelTokens.inc({ model, kind: 'reasoning' }, usage.reasoningTokens);
  }

  private asModelError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    this.logger.error(error);
    return new ModelError('The model could not be called.', false, null, { cause: error });
  }

  /** Milliseconds until the next try; null when there is none. */
  private waitAfter(attempt: number, { retryable, retryAfterMs }: ModelError): number | null {
    const { attempts, backoffMs, longestWaitMs } = this.settings;
    if (!retryable || attempt >= attempts || (retryAfterMs ?? 0) > longestWaitMs) return null;
    const backoff = backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
    return Math.min(longestWaitMs, Math.max(backoff, retryAfterMs ?? 0));
  }
}
