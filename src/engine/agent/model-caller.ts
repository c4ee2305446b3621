import { Injectable, Logger } from '@nestjs/common';
import { newId } from '../../platform/database/ids.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { StoredPart } from '../models/conversation.js';
import { ModelCatalog } from '../models/model-catalog.js';
import {
  ContextOverflowError,
  isRefusal,
  ModelError,
  type ModelInfo,
  type ModelRequest,
  type ModelUsage,
} from '../models/model-provider.js';
import { nudgeAfterEmpty, withNudges } from '../models/nudges.js';
import { pause, untilAborted } from './abort.js';
import type { Waits } from './waits.js';
import { EngineSettings } from './engine-settings.js';
import type { LiveAnswer } from './live-answer.js';
import { AnswerCollector, EmptyAnswerError, type ModelAnswer } from './model-answer.js';

/** An answer, and the model that gave it: the one that was asked, or its fallback. */
export type CalledAnswer = ModelAnswer & { model: string };

/** Calls a model until it answers: tries again, waits, gives up on silence, and asks its fallback. */
@Injectable()
export class ModelCaller {
  private readonly logger = new Logger(ModelCaller.name);

  constructor(
    private readonly models: ModelCatalog,
    private readonly settings: EngineSettings,
    private readonly metrics: Metrics,
  ) {}

  /**
   * Throws the signal's reason when it is aborted, else {@link ModelError} when no try brought an answer: that of the model that
   * was asked, also when its fallback failed too. A fallback that cannot read so long a conversation throws its own: one that is
   * shorter may go well there.
   * @param waits called while the model has not begun to answer, and while it is not asked again yet.
   * @param live passes on the words while they come; null for what is no answer to anybody.
   */
  async call(
    given: ModelRequest,
    uniqueId: (id: string) => string,
    live: LiveAnswer | null = null,
    waits?: Waits,
  ): Promise<CalledAnswer> {
    const info = this.models.find(given.modelId);
    // The model may have been changed since the task was given its effort.
    const effort = given.effort === null || info === undefined ? given.effort : effortOf(info, given.effort);
    const asked = { ...given, effort, messages: withNudges(given.messages) };
    let first: ModelError | null = null;
    for (let request: ModelRequest = asked; ;) {
      const model = request.modelId;
      const collect = () => {
        live?.begin(request !== asked);
        return new AnswerCollector(this.settings, uniqueId, live);
      };
      const fallback = this.models.fallback(model);
      try {
        const answer = await this.askUnlessKnown(request, collect, fallback !== null, waits);
        return {
          ...answer,
          model,
          parts: first === null ? answer.parts : noted(answer.parts, given.modelId, model, first),
        };
      } catch (error) {
        if (!(error instanceof ModelError)) throw error;
        if (first !== null && error instanceof ContextOverflowError) {
          throw new ContextOverflowError(error.contextWindow, { cause: error.cause }, model);
        }
        first ??= error;
        // A request that was refused for what is in it is refused there too, or was meant for this model.
        if (fallback === null || isRefusal(error)) throw first;
        this.logger.warn(`${error.message} The model '${fallback.id}' is asked in place of '${model}'.`);
        request = { ...request, modelId: fallback.id, effort: effortOf(fallback, given.effort) };
      }
    }
  }

  /**
   * One try, of a call that nobody waits for: no other try and no fallback is made for it, and the health of the model does not hang on
   * it. It thinks as little as the model can. Throws as {@link call} does.
   */
  async once(given: Omit<ModelRequest, 'effort'>, longest: number): Promise<CalledAnswer> {
    const { modelId } = given;
    const info = this.models.find(modelId);
    const effort = info === undefined ? null : effortOf(info, 'low');
    const limits = { answerLength: longest, callsPerStep: 1 };
    const collector = new AnswerCollector(limits, (id) => id);
    try {
      const answer = await this.attempt({ ...given, effort }, collector, () => undefined);
      this.count(modelId, answer.usage);
      return { ...answer, model: modelId };
    } catch (error) {
      given.signal.throwIfAborted();
      this.metrics.modelCalls.inc({ model: modelId, outcome: 'failed' });
      throw error;
    }
  }

  /** Does not call a model of which it is known that it would fail (docs/decisions/0049). */
  private async askUnlessKnown(
    request: ModelRequest,
    collect: () => AnswerCollector,
    hasFallback: boolean,
    waits: Waits | undefined,
  ): Promise<ModelAnswer> {
    const { health } = this.models;
    const { modelId } = request;
    const refusal = health.refusalOf(modelId);
    if (refusal !== null) throw new ModelError(refusal.message, false, null, { code: refusal.code });
    if (hasFallback && health.rests(modelId)) {
      throw new ModelError('The model was overloaded a moment ago.', true, null, { code: 'model_overloaded' });
    }
    try {
      const answer = await this.ask(request, collect, waits);
      health.succeeded(modelId);
      return answer;
    } catch (error) {
      if (error instanceof ModelError) health.failed(modelId, error);
      throw error;
    }
  }

  private async ask(given: ModelRequest, collect: () => AnswerCollector, waits?: Waits): Promise<ModelAnswer> {
    let request = given;
    for (let attempt = 1; ; attempt++) {
      const collector = collect();
      const over = waits?.({ code: 'model', message: `The model '${request.modelId}' has not begun to answer.` });
      try {
        const answer = await this.attempt(request, collector, () => over?.());
        this.count(request.modelId, answer.usage);
        return request === given ? answer : { ...answer, parts: nudged(answer.parts) };
      } catch (error) {
        collector.giveUp();
        request.signal.throwIfAborted();
        this.metrics.modelCalls.inc({ model: request.modelId, outcome: 'failed' });
        const failure = this.asModelError(error);
        if (failure instanceof EmptyAnswerError) {
          if (request !== given) throw failure;
          request = { ...given, messages: [...given.messages, nudgeAfterEmpty()] };
          continue;
        }
        const wait = this.waitAfter(attempt, failure);
        if (wait === null) throw failure;
        this.logger.warn(
          `${failure.message} Try ${attempt} of ${this.settings.attempts}, again in ${Math.round(wait)} ms.`,
        );
        over?.();
        const waited = waits?.({ code: 'model', message: `${failure.message} The model is asked again.` });
        await pause(wait, request.signal).finally(waited);
      } finally {
        over?.();
      }
    }
  }

  /** @param begun called when the first of the answer comes, and after that. */
  private async attempt(request: ModelRequest, collector: AnswerCollector, begun: () => void): Promise<ModelAnswer> {
    const { idleMs, answerMs } = this.settings;
    const { signal } = request;
    const controller = new AbortController();
    const giveUp = (message: string) => controller.abort(new ModelError(message, true));
    // Not AbortSignal.any: Node keeps a joined signal as long as somebody listens to it, and a client may never stop (nodejs/node#54614).
    const onAbort = () => controller.abort(signal.reason);
    const idle = setTimeout(() => giveUp(`The model was silent for ${idleMs / 1000} seconds.`), idleMs);
    const whole = setTimeout(() => giveUp(`The model took more than ${answerMs / 1000} seconds.`), answerMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const reading = this.read({ ...request, signal: controller.signal }, collector, () => {
        begun();
        idle.refresh();
      });
      return await untilAborted(reading, controller.signal);
    } finally {
      clearTimeout(idle);
      clearTimeout(whole);
      signal.removeEventListener('abort', onAbort);
    }
  }

  private async read(request: ModelRequest, collector: AnswerCollector, alive: () => void): Promise<ModelAnswer> {
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

/** The effort that a task asks for, where the fallback has it too. */
function effortOf({ efforts, defaultEffort }: ModelInfo, effort: ModelRequest['effort']): ModelRequest['effort'] {
  return effort !== null && efforts.includes(effort) ? effort : defaultEffort;
}

/** The record of an answer that came after an empty one. */
function nudged(parts: StoredPart[]): StoredPart[] {
  return parts.map((part) => (part.type === 'step_start' ? { ...part, nudged: true } : part));
}

/** The record of an answer that another model gave. */
function noted([start, ...parts]: StoredPart[], from: string, to: string, { code }: ModelError): StoredPart[] {
  if (start === undefined) return [];
  return [start, { type: 'data', name: 'fallback', id: newId(), data: { from, to, code } }, ...parts];
}
