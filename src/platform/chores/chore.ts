// Chores: work that nobody asks for, done every so often: cleaning up, forgetting, looking after something.
import 'reflect-metadata';

const CHORE = Symbol('millwright:chore');

/** With more a timer of Node fires at once, and again and again. Milliseconds, 24.8 days. */
const LONGEST = 2 ** 31 - 1;

export interface ChoreOptions {
  /** From the boot to the first time, and from one time to the next. Milliseconds, at most 2,147,483,647. */
  every: number;
  /** The number of an advisory lock: at most one process of the installation carries the chore out at a time. */
  lock?: number;
}

/** What a chore is: `signal` is aborted when it should begin nothing further. What it resolves with is for tests. */
export type ChoreMethod = (signal: AbortSignal) => Promise<unknown>;

/**
 * Makes a method of a provider a chore, in each process that holds the provider.
 *
 * - It runs every `every` milliseconds after the boot. While it is still running, its time passes without a second run.
 * - With `lock` it runs in one process of the installation at a time; for the others that time passes too. The lock goes with
 *   the connection that holds it: a network that is cut can let a second process begin before the first has noticed. So
 *   a chore does nothing that two of them would spoil, and the lock only saves the work.
 * - It may throw. That is said in the log once, and once when it works again; it is tried again at its next time.
 * - The end of the process aborts `signal`, waits for the running chore and begins none. A chore with many steps checks
 *   the signal between them: what it leaves is done by the next one. The loss of the lock aborts the signal too.
 *
 * The provider is a singleton. Errors of use (a time that is none, one lock for two chores) stop the boot.
 *
 * @example
 * ```ts
 * @Chore({ every: 60_000 })
 * async forgetOld(signal: AbortSignal): Promise<void> { … }
 * ```
 */
export function Chore(options: ChoreOptions) {
  return <T extends ChoreMethod>(target: object, method: string, descriptor: TypedPropertyDescriptor<T>): void => {
    const name = `${target.constructor.name}.${method}`;
    if (!Number.isInteger(options.every) || options.every < 1 || options.every > LONGEST) {
      throw new Error(`@Chore of ${name}: a whole number of milliseconds from 1 to ${LONGEST} is expected as 'every'.`);
    }
    if (options.lock !== undefined && !Number.isSafeInteger(options.lock)) {
      throw new Error(`@Chore of ${name}: a whole number is expected as 'lock'.`);
    }
    if (descriptor.value !== undefined) Reflect.defineMetadata(CHORE, options, descriptor.value);
  };
}

/** What `@Chore` says about a method; undefined for any other. */
export function choreOptionsOf(method: object): ChoreOptions | undefined {
  return Reflect.getMetadata(CHORE, method) as ChoreOptions | undefined;
}
