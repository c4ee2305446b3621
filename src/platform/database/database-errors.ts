import { types } from 'node:util';
import { QueryFailedError } from 'typeorm';
import { storageFull } from '../disk/storage-full.js';
import { ApiError } from '../http/api-error.js';

// What pg, its pool and TypeORM say without a code when there is no connection (any more).
const NO_CONNECTION =
  /^Connection terminated|^Query read timeout|timeout exceeded when trying to connect|^Client has encountered a connection error|after calling end on the pool|^Client was closed|^Driver not Connected|DataSource is not (set|initialized)|^Query runner already released/i;
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']); // prettier-ignore
// Whole classes of SQLSTATE: connection, resources (too many connections, disk full), operator intervention
// (shutting down, statement timeout), and one's own too long idling in a transaction.
const UNAVAILABLE_CLASS = new Set(['08', '53', '57', '58']);
// Serialisation failure, deadlock, lock timeout, idle in transaction, read-only (a standby after a failover).
const UNAVAILABLE = new Set(['40001', '40P01', '55P03', '25P03', '25P04', '25006']);
// Values that PostgreSQL cannot hold: malformed, out of range, an invalid character.
const UNSTORABLE = new Set(['22P02', '22003', '22007', '22008', '22001', '22021', '22P05']);

/** An error of the database as the client's or a passing one of ours; undefined for what is neither. */
export function databaseError(exception: unknown): ApiError | undefined {
  const error = exception instanceof QueryFailedError ? (exception.driverError as unknown) : exception;
  // Not `instanceof`: under Jest the errors of Node's own modules belong to another realm.
  if (!types.isNativeError(error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === '53100') return storageFull(error);
  if (isUnavailable(code, error)) return unavailable('The database cannot be reached or is busy.', error);
  if (code === undefined) return undefined;
  // Two requests at the same moment; the same request again finds the other's result.
  if (code === '23505') return unavailable('Another request changed the same thing at the same moment.', error);
  if (code === '23503') {
    return new ApiError('not_found', 'Something that this request refers to is no longer there.', { cause: error });
  }
  if (!UNSTORABLE.has(code)) return undefined;
  return new ApiError('invalid_field', 'A value of this request cannot be stored.', { cause: error });
}

/** Whether the same statement may succeed later: there is no connection at the moment, or no space on the database's disk. */
export function isPassing(exception: unknown): boolean {
  const code = databaseError(exception)?.code;
  return code === 'unavailable' || code === 'storage_full';
}

function isUnavailable(code: string | undefined, error: Error): boolean {
  if ('errors' in error)
    return (error as AggregateError).errors.some((one: { code?: string }) => NETWORK.has(one.code ?? ''));
  if (code === undefined) return NO_CONNECTION.test(error.message);
  return UNAVAILABLE.has(code) || NETWORK.has(code) || (code.length === 5 && UNAVAILABLE_CLASS.has(code.slice(0, 2)));
}

/** 503 with `Retry-After`. */
export function unavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('unavailable', `${message} Try again.`, { headers: { 'Retry-After': '1' }, cause });
}
