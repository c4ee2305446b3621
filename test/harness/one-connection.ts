import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource } from 'typeorm';

type Work = (...given: unknown[]) => Promise<unknown>;

/** What is begun by the work of a transaction, until it ends. */
const transactions = new AsyncLocalStorage<{ open: boolean }>();

const REFUSED =
  'A statement outside of the transaction that is open. It takes a second connection of one pool, and forty requests that do ' +
  'so wait for each other for ever. Within a writing route use tx.run or tx.manager.getRepository(…), no injected repository.';

/**
 * From here on a statement fails that leaves a transaction while it is open, by an injected repository for instance. In tests
 * alone: what follows a promise costs every request CPU.
 */
export function refuseSecondConnections(dataSource: DataSource): void {
  const { manager } = dataSource;
  const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
  const transaction = manager.transaction.bind(manager) as unknown as Work;
  dataSource.createQueryRunner = (mode) => {
    if (transactions.getStore()?.open !== true) return createQueryRunner(mode);
    // The client reads of an internal error; who writes the test must read this.
    console.error(REFUSED);
    throw new Error(REFUSED);
  };
  manager.transaction = (...given: unknown[]) => {
    const work = given.find((one) => typeof one === 'function') as Work;
    const isolation = given.filter((one) => typeof one === 'string');
    return transaction(...isolation, (within: unknown) => {
      const state = { open: true };
      return transactions.run(state, () => work(within)).finally(() => (state.open = false));
    });
  };
}
