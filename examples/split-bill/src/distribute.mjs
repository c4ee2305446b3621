/**
 * Splits a number of cents by weight: distribute(900, [2, 1]) → [600, 300].
 * The answer has one whole number of cents for each weight, in the same order.
 */
export function distribute(cents, weights) {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => Math.round((cents * weight) / sum));
}
