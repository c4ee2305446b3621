// The only module that calls the service, with `api/session.ts` and `api/upload.ts`. Pages use the SDK through it.
import { ConnectionError, Millwright, MillwrightError, type Task } from '@millwright/sdk';
import { connection } from './connection.ts';

export type * from '@millwright/sdk';
export type { File as StoredFile } from '@millwright/sdk';
export { checkName, ConnectionError, isFinal, MillwrightError } from '@millwright/sdk';

/** What a run waits for when that takes a while. */
export interface Waiting {
  code: string;
  message: string;
  since: string;
}
// Fields that a service of before does not have.
type Further = { waitingFor?: Waiting | null; changes: (Task['changes'] & { patchOmitted?: boolean }) | null };
export const waitingOf = (task: Task): Waiting | null => (task as Further).waitingFor ?? null;
/** Whether a task that is under way is paused, or waits for what blocks it. */
export const stands = ({ status, statusReason, resumesAt }: Task): boolean =>
  statusReason?.code === 'paused' || (status === 'queued' && Boolean(resumesAt));
/** Whether the patch of the changes is too large to be kept. */
export const isPatchOmitted = (task: Task | undefined): boolean =>
  (task as Further | undefined)?.changes?.patchOmitted === true;

export type PullRequest = NonNullable<Task['pullRequest']>;

/** The rate-limit headers of the last answer. */
export const limits = { policy: '', limit: 0, remaining: Infinity, globalLimit: 0, globalRemaining: Infinity, at: 0 };

/** The cookie of the session goes along by itself: no script of the page ever has a key. */
export const api = new Millwright({ apiKey: null, baseUrl: location.origin, maxRetries: 2, fetch: observed });

/** `fetch`, which also notes whether the service answers, and what it says of limits. */
export async function observed(...args: Parameters<typeof fetch>): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(...args);
  } catch (error) {
    const { signal } = args[1] ?? {};
    if (signal?.aborted !== true) connection.lost();
    throw error;
  }
  if (isOfProxy(response.status)) connection.doubted();
  else connection.answered();
  if (response.status === 401) ended();
  note(response.headers);
  return response;
}

/** What a proxy answers in place of a service that is away; 503 the service says itself too. */
export const isOfProxy = (status: number): boolean => status === 502 || status === 504;

let ended: () => void = () => undefined;
/** Is called when the service does not know the session any more. */
export function onUnauthorized(listener: () => void): void {
  ended = listener;
}

/** An answer of a request that the SDK does not make. */
export async function failureOf(response: Response): Promise<MillwrightError> {
  return new MillwrightError(response.status, await response.json().catch(() => null), response.headers);
}

export const isUnreachable = (error: unknown): boolean => error instanceof ConnectionError;
export const isGone = (error: unknown): boolean => error instanceof MillwrightError && error.status === 404;
export const isForbidden = (error: unknown): boolean => error instanceof MillwrightError && error.status === 403;

function note(headers: Headers): void {
  const remaining = headers.get('X-RateLimit-Remaining');
  if (remaining === null) return;
  Object.assign(limits, {
    policy: headers.get('X-RateLimit-Policy') ?? '',
    limit: Number(headers.get('X-RateLimit-Limit')),
    remaining: Number(remaining),
    globalLimit: Number(headers.get('X-RateLimit-Global-Limit')),
    globalRemaining: Number(headers.get('X-RateLimit-Global-Remaining')),
    at: Date.now(),
  });
}
