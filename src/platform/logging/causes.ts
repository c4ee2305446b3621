import { types } from 'node:util';

/** The storage wraps a failure once, and the service that reads from it once more; a circle of causes must end too. */
const MOST = 8;

/** An error, what caused it, and what caused that. */
export function* withCauses(error: unknown): Generator<Error> {
  for (let at = error, n = 0; isError(at) && n < MOST; at = at.cause, n++) yield at;
}

/** One of another realm is native, and no instance; what ends a signal is an instance, and not native. */
const isError = (value: unknown): value is Error => types.isNativeError(value) || value instanceof Error;
