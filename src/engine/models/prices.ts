import type { ModelConfig } from '../../platform/config/config-file.js';
import type { ModelUsage } from './model-provider.js';

/** What a model costs: USD for a million tokens, which is micro-dollars for one (reference §16). */
export type Prices = NonNullable<ModelConfig['prices']>;

/** Prices have at most 6 decimals: as whole millionths of a micro-dollar they are exact. */
const SCALE = 1_000_000n;

/**
 * What one model call costs, in whole micro-dollars: rounded once, half up; null on a model without prices (reference §14).
 * Of the tokens that go in, cached ones have their own price; those that come out include reasoning.
 */
export function costOf(usage: ModelUsage, prices: Prices | null): number | null {
  if (prices === null) return null;
  const { inputTokens, outputTokens } = usage;
  // Some servers count more cached tokens than tokens.
  const cached = Math.min(usage.cachedInputTokens, inputTokens);
  const { input, cachedInput = input, output } = prices;
  const exact =
    BigInt(inputTokens - cached) * scaled(input) +
    BigInt(cached) * scaled(cachedInput) +
    BigInt(outputTokens) * scaled(output);
  return Number((exact + SCALE / 2n) / SCALE);
}

/** A price in millionths of a micro-dollar, read from its decimal form: 0.3 is 300000. */
function scaled(price: number): bigint {
  const [whole = '', fraction = ''] = String(price).split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}
