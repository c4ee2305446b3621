const LOOKS = 20;

/** Milliseconds. */
export interface Latency {
  median: number;
  worst: number;
}

/** Asks twenty times, one question after the other. */
export async function latencyOf(ask: () => Promise<unknown>): Promise<Latency> {
  const times: number[] = [];
  for (let n = 0; n < LOOKS; n++) {
    const asked = performance.now();
    await ask();
    times.push(performance.now() - asked);
  }
  times.sort((one, other) => one - other);
  return { median: times[LOOKS / 2] ?? 0, worst: times.at(-1) ?? 0 };
}
