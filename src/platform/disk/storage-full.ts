import { ApiError } from '../http/api-error.js';
import { withCauses } from '../logging/causes.js';

// No space left, and the quota of the system's user is used up; PostgreSQL's own disk_full (Appendix A of its manual).
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Whether the error, or one that it was caused by, says that a disk is full. */
export function saysFull(error: unknown): boolean {
  for (const one of withCauses(error)) if ('code' in one && FULL.has(String(one.code))) return true;
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
