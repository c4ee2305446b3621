/** `refused`: the host does not take the credential (401). `forbidden`: not for this. */
export type HostFailure = 'refused' | 'forbidden' | 'not_found' | 'moved' | 'limited' | 'unreadable' | 'unreachable';

const MESSAGES: Record<HostFailure, string> = {
  refused: 'The host does not take the credential.',
  forbidden: 'The host does not let the credential do this.',
  not_found: 'The host has no such thing, or the credential may not see it.',
  moved: 'The host has it at another address: redirects are not followed.',
  limited: 'The host takes no further requests for a while.',
  unreadable: 'The answer of the host could not be read.',
  unreachable: 'The host has not answered.',
};

/** A host was asked and has not answered with what it was asked for. The message is for the client; `cause` has what the operator must know. */
export class HostError extends Error {
  override readonly name = 'HostError';

  constructor(
    readonly code: HostFailure,
    /** After how many seconds it may be asked again, where it said so. */
    readonly retryAfterSeconds: number | null,
    options?: ErrorOptions,
  ) {
    super(MESSAGES[code], options);
  }
}

/** At most so long a host is left alone, whatever it says. */
const MAX_WAIT = 3600;

/** Of a status that is no success. GitHub says by 403 too that there were too many requests. */
export function refusalOf({ status, headers }: Pick<Response, 'status' | 'headers'>, cause?: unknown): HostError {
  const limited =
    status === 429 || (status === 403 && (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'));
  if (limited) return new HostError('limited', waitOf(headers), { cause });
  if (status === 401) return new HostError('refused', null, { cause });
  if (status === 403) return new HostError('forbidden', null, { cause });
  if (status === 404 || status === 410) return new HostError('not_found', null, { cause });
  if (status >= 300 && status < 400) return new HostError('moved', null, { cause });
  return new HostError(status >= 500 ? 'unreachable' : 'unreadable', null, { cause });
}

function waitOf(headers: Headers): number | null {
  const seconds = digits(headers.get('retry-after'));
  const reset = digits(headers.get('x-ratelimit-reset'));
  const wait = seconds ?? (reset === null ? null : Math.ceil(reset - Date.now() / 1000));
  return wait === null ? null : Math.min(MAX_WAIT, Math.max(1, wait));
}

function digits(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
