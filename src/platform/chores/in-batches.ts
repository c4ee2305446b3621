/**
 * Deletes until a batch is not full, or `signal` is aborted. Each batch is a transaction of its own, so that no lock is held for long.
 * Resolves with how many rows are gone.
 * @param size how many rows `deleteBatch` deletes at most.
 * @param deleteBatch resolves with the rows that it has deleted.
 */
export async function inBatches(
  size: number,
  deleteBatch: () => Promise<readonly unknown[]>,
  signal?: AbortSignal,
): Promise<number> {
  let gone = 0;
  for (let batch = size; batch === size && signal?.aborted !== true; gone += batch) {
    batch = (await deleteBatch()).length;
  }
  return gone;
}
