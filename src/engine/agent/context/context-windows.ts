import type { ModelCatalog } from '../../models/model-catalog.js';

/** Of a model whose window is not known. */
const USUAL = 128_000;
/** No model has less, whatever an error says. */
const LEAST = 2_000;

/** How much each model can read: as configured, as a refusal says, or as is usual. */
export class ContextWindows {
  private readonly learnt = new Map<string, number>();

  constructor(private readonly models: ModelCatalog) {}

  /** Tokens; infinite for a model that reads a conversation of any length. */
  of(modelId: string): number {
    const info = this.models.find(modelId);
    if (info?.anyLength === true) return Infinity;
    return Math.min(info?.contextWindow ?? USUAL, this.learnt.get(modelId) ?? Infinity);
  }

  /**
   * A request of so many tokens, as they are guessed, was refused as too long.
   * @param stated the window that the provider names in its refusal, if it does.
   * @param again whether what was made shorter after a refusal was refused too.
   */
  refused(modelId: string, tokens: number, stated: number | null, again: boolean): void {
    const window = this.of(modelId);
    const known = (this.models.find(modelId)?.contextWindow ?? null) !== null;
    // Of a window that is known the guess was too small; the first summary corrects that.
    if (stated === null && known && !again) return;
    this.learnt.set(modelId, Math.max(LEAST, Math.min(window, stated ?? Math.floor(Math.min(window, tokens) * 0.75))));
  }
}
