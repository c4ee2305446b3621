/**
 * Acts on each item, `atOnce` of them at a time. After a failure nothing further begins; it rejects with the first one, once all that
 * was under way has ended.
 */
export async function severally<T>(
  items: Iterable<T> | AsyncIterable<T>,
  atOnce: number,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const loop = async () => {
    try {
      while (failure === undefined) {
        const next = await source.next();
        if (next.done === true) return;
        await act(next.value);
      }
    } catch (error) {
      failure ??= { error };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  await source.return?.();
  if (failure !== undefined) throw failure.error;
}
