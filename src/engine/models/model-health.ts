import type { ModelError, ModelFailureCode } from './model-provider.js';

/** Why no call of a model can succeed until somebody does something about it. */
export interface Refusal {
  code: ModelFailureCode;
  message: string;
}

/** Characters of a reason that other processes receive: a notice has 8,000 bytes at most. */
const MESSAGE = 1_000;
/** What is no matter of one conversation, nor of one moment. */
const LASTING: readonly ModelFailureCode[] = ['model_credentials', 'model_gone', 'model_quota'];

/**
 * Which models answered last that they cannot be called (reference §15), as far as this process knows. Of one that is
 * `unavailable`, one call each {@link pauseMs} is let through, until one succeeds. A model with a fallback that was overloaded for
 * all tries of a call is left alone for as long, so that each further step does not wait for its tries too.
 */
export class ModelHealth {
  /** Milliseconds. A field, so that a test can shorten it. */
  pauseMs = 60_000;
  /** Called with what this process has found out itself: why a model cannot be called, null when it can again. */
  onChange: (modelId: string, refusal: Refusal | null) => void = () => undefined;
  private readonly refusals = new Map<string, Refusal & { tryAt: number }>();
  private readonly restsUntil = new Map<string, number>();

  isAvailable(modelId: string): boolean {
    return !this.refusals.has(modelId);
  }

  /** Null: call it. After the pause the caller that asks first is the one whose call is let through. */
  refusalOf(modelId: string): Refusal | null {
    const refusal = this.refusals.get(modelId);
    if (refusal === undefined) return null;
    if (performance.now() < refusal.tryAt) return refusal;
    refusal.tryAt = performance.now() + this.pauseMs;
    return null;
  }

  /** Whether a call is likely to be answered. Unlike {@link refusalOf} it lets none try. */
  isWell(modelId: string): boolean {
    return !this.refusals.has(modelId) && !this.rests(modelId);
  }

  rests(modelId: string): boolean {
    return performance.now() < (this.restsUntil.get(modelId) ?? 0);
  }

  succeeded(modelId: string): void {
    this.restsUntil.delete(modelId);
    if (this.refusals.delete(modelId)) this.onChange(modelId, null);
  }

  /** A call failed after its last try. */
  failed(modelId: string, { code, message }: ModelError): void {
    if (code === 'model_overloaded') this.restsUntil.set(modelId, performance.now() + this.pauseMs);
    if (!LASTING.includes(code)) return;
    const refusal = { code, message: message.slice(0, MESSAGE) };
    this.hear(modelId, refusal);
    this.onChange(modelId, refusal);
  }

  /** Notices of others may have been missed: the next calls show what is true. */
  forget(): void {
    this.refusals.clear();
  }

  /** What another process has found out. */
  hear(modelId: string, refusal: Refusal | null): void {
    if (refusal === null) this.refusals.delete(modelId);
    else this.refusals.set(modelId, { ...refusal, tryAt: performance.now() + this.pauseMs });
  }
}
