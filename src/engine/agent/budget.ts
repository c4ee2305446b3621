/** Limits of one turn; absent means none. */
export interface Budget {
  maxSteps?: number;
  maxTokens?: number;
  maxDurationSeconds?: number;
  /** USD, a decimal number with at most 6 decimals. */
  maxCost?: string;
}
