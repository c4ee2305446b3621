import { types } from 'node:util';
import { ApiError } from '../http/api-error.js';

// No space left, and the quota of the system's user is used up; PostgreSQL's own disk_full (Appendix A of its manual).
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);
/** The storage wraps a failure once, and the service that reads from it once more; a circle of causes must end too. */
const MAX_CAUSES = 8;

/** Whether the error, or one that it was caused by, says that a disk is full. */
export function saysFull(error: unknown): boolean {
  for (let at = error, n = 0; types.isNativeError(at) && n < MAX_CAUSES; at = at.cause, n++) {
    if ('code' in at && FULL.has(String(at.code))) return true;
  }
  return false;
}

/** The same of words, such as those of another program. */
export function textSaysFull(text: string): boolean {
  return /ENOSPC|EDQUOT|No space left on device/i.test(text);
}

/** 503 `storage_full`: there is no space for what the request would store (reference §10). */
export function storageFull(cause?: unknown): ApiError {
  return new ApiError('storage_full', 'The service has no space left for new data. Try again later.', { cause });
}

/** For operators: what the system says names neither the disk nor what to do. */
export function diskFull(dataDir?: string): string {
  const named = dataDir === undefined ? '' : ` (${dataDir})`;
  return `The disk of DATA_DIR${named} or of the database is full. Make room on it, and try again.`;
}
