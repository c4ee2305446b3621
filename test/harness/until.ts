interface UntilOptions {
  /** Milliseconds. */
  within?: number;
  every?: number;
}

/**
 * Waits for a condition: resolves with the first value that is neither undefined, null nor false. Fails after `within`
 * with what it waited for. Tests wait for conditions and never for time.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T> | T,
  { within = 60_000, every = 20 }: UntilOptions = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = Date.now() + within;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Exclude<T, false>>;
    if (Date.now() > deadline) throw new Error(`Waited ${within} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
