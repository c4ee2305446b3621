// What a call throws (reference §10, §19).

/** Values that are known, and others that a later service may send. */
export type Open<T extends string> = T | (string & {});

export type ErrorType = Open<
  'invalid_request' | 'unauthorized' | 'payment_required' | 'forbidden' | 'not_found' | 'conflict' | 'rate_limited' | 'internal_error'
>; // prettier-ignore

/** What the service says in an error; null where a proxy answered in its place. */
interface ErrorBody {
  type: string;
  code: string;
  message: string;
  param: string | null;
  retryable: boolean;
  requestId: string;
}

/** Nobody but a proxy says these without a body of the service's form: another try may reach it. */
const PASSING = [429, 502, 503, 504];

/** The service refused the request, or could not carry it out. */
export class MillwrightError extends Error {
  override readonly name: string = 'MillwrightError';
  /** HTTP's. */
  readonly status: number;
  readonly type: ErrorType;
  /** What programs decide by, such as `not_found`. */
  readonly code: Open<'not_found' | 'invalid_field' | 'interaction_not_pending' | 'rate_limit_exceeded'>;
  /** The field at fault, such as `attachments[0].uploadId`. */
  readonly param: string | null;
  /** Whether the same request may work later. */
  readonly retryable: boolean;
  readonly requestId: string | null;
  /** Milliseconds that the service asks to wait. */
  readonly retryAfterMs: number;

  constructor(status: number, body: unknown, headers: Headers) {
    const said = errorIn(body);
    super(said?.message ?? `The answer was HTTP ${status}, not one of the service.`);
    this.status = status;
    this.type = said?.type ?? (status < 500 ? 'invalid_request' : 'internal_error');
    this.code = said?.code ?? `http_${status}`;
    this.param = said?.param ?? null;
    this.retryable = said?.retryable ?? PASSING.includes(status);
    this.requestId = said?.requestId ?? headers.get('x-request-id');
    this.retryAfterMs = retryAfter(headers);
  }
}

/** The service could not be reached, or the connection was lost. `cause` is what `fetch` says. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}

/** No answer came within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

function errorIn(body: unknown): ErrorBody | null {
  if (typeof body !== 'object' || body === null || !('error' in body)) return null;
  const { error } = body;
  return typeof error === 'object' && error !== null && 'code' in error ? (error as ErrorBody) : null;
}

/** Seconds, or a date (RFC 9110 §10.2.3). */
function retryAfter(headers: Headers): number {
  const value = headers.get('retry-after');
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.max(0, ms || 0);
}
