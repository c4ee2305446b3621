const [FIRST_MS, FACTOR, LONGEST_MS] = [1_000, 3, 3_600_000];

/**
 * How long a job waits after its attempt number `attempt` has failed, in milliseconds: 1 s, 3 s, 9 s and so on up to an hour, each
 * shortened by chance to as little as half, so that what failed together does not come back together.
 */
export function backOffMs(attempt: number, chance = Math.random()): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1));
  return Math.round(whole * (1 - chance / 2));
}
