// How one request is made, and made again (reference §19).
import { ConnectionError, MillwrightError, TimeoutError } from './errors.js';
import { type Limited, limited, pause, reasonOf } from './signals.js';

export interface ClientOptions {
  /** Default: `MILLWRIGHT_API_KEY` of the environment. Null: `fetch` has a credential of its own, such as the console's session. */
  apiKey?: string | null | undefined;
  /** Where the service is. Default: `MILLWRIGHT_URL` of the environment, else `http://127.0.0.1:3000`. */
  baseUrl?: string | undefined;
  /** Further tries of a request. */
  maxRetries?: number;
  /** Milliseconds for one try. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Ends the call; what the service has begun goes on. */
  signal?: AbortSignal | undefined;
  /** Of POSTs that take one. Without it one is made for the call. The same key makes the same thing only once. */
  idempotencyKey?: string | undefined;
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface Request extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query | undefined;
  body?: unknown;
  /** Takes an Idempotency-Key. */
  keyed?: boolean;
  /** May be sent twice without a key. */
  repeatable?: boolean;
  /** Milliseconds for one try beside the client's own. */
  moreTime?: number;
  headers?: Record<string, string>;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

/** An answer whose body may still be coming. */
interface Open {
  response: Response;
  limit: Limited;
}

export class Transport {
  readonly baseUrl: string;
  private readonly apiKey: string | null;
  private readonly maxRetries: number;
  private readonly timeoutMs: number;
  private readonly fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions = {}) {
    const apiKey = options.apiKey === undefined ? environment('MILLWRIGHT_API_KEY') : options.apiKey;
    if (apiKey === undefined || apiKey === '') {
      throw new TypeError('A key is missing: give `apiKey`, or set MILLWRIGHT_API_KEY.');
    }
    this.apiKey = apiKey;
    const baseUrl = options.baseUrl ?? environment('MILLWRIGHT_URL') ?? 'http://127.0.0.1:3000';
    if (!URL.canParse(baseUrl)) throw new TypeError(`baseUrl "${baseUrl}" is no URL.`);
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.maxRetries = options.maxRetries ?? 4;
    this.timeoutMs = options.timeoutMs ?? 30_000;
    // Called as a method of anything but the global object, browsers refuse it.
    this.fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));
  }

  /** The body of the answer. */
  async json<T>(request: Request): Promise<T> {
    return this.read(request, async (response, signal, attempt) => {
      const body: unknown = await response.json().catch(() => (response.ok ? broken(signal) : null));
      if (response.ok) return body as T;
      if (request.method === 'DELETE' && attempt > 0 && response.status === 404) {
        return { deleted: true, id: decodeURIComponent(request.path.split('/').at(-1) ?? '') } as T;
      }
      throw new MillwrightError(response.status, body, response.headers);
    });
  }

  /** What `take` makes of the answer, in the time of one try. What it throws counts as what went wrong with that. */
  async read<T>(
    request: Request,
    take: (response: Response, signal: AbortSignal, attempt: number) => Promise<T>,
  ): Promise<T> {
    return this.tries(request, async (attempt) => {
      const { response, limit } = await this.open(request);
      try {
        return await take(response, limit.signal, attempt);
      } catch (error) {
        throw this.named(error, limit, request);
      } finally {
        limit.done();
      }
    });
  }

  /** An answer whose body is still coming; the time is that until its head. */
  async response(request: Request): Promise<Response> {
    return this.tries(request, async () => {
      const { response, limit } = await this.open(request);
      limit.done();
      if (!response.ok) throw await failure(response);
      // From now on only the caller's own signal ends it.
      request.signal?.addEventListener('abort', () => limit.end(reasonOf(request.signal)), { once: true });
      return response;
    });
  }

  /** One try, which the caller's limit alone ends. Throws {@link ConnectionError} or {@link MillwrightError}. */
  async stream(path: string, query: Query, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let response: Response;
    try {
      response = await this.fetch(this.url(path, query), { headers: { ...this.credentials(), ...headers }, signal });
    } catch (error) {
      throw signal.aborted ? reasonOf(signal) : unreachable(this.baseUrl, error);
    }
    if (!response.ok) throw await failure(response);
    return response;
  }

  private async tries<T>(request: Request, once: (attempt: number) => Promise<T>): Promise<T> {
    // Made once: each try is the same request.
    if (request.keyed === true) request.idempotencyKey ??= crypto.randomUUID();
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(attempt);
      } catch (error) {
        if (request.signal?.aborted === true) throw reasonOf(request.signal);
        if (attempt >= this.maxRetries || !mayTryAgain(request, error)) throw error;
        const asked = error instanceof MillwrightError ? error.retryAfterMs : 0;
        const own = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.5 + Math.random() / 2);
        await pause(Math.max(asked, own), request.signal);
      }
    }
  }

  private async open(request: Request): Promise<Open> {
    const { method, path, query, body, idempotencyKey, keyed, moreTime = 0 } = request;
    const limit = limited(request.signal);
    const ms = this.timeoutMs + moreTime;
    limit.expire(ms, () => new TimeoutError(`No answer of ${this.baseUrl} within ${ms / 1000} s.`));
    const headers: Record<string, string> = { ...this.credentials(), ...request.headers };
    if (keyed === true && idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const form = body instanceof FormData;
    if (body !== undefined && !form) headers['content-type'] = 'application/json';
    const sent = body === undefined ? {} : { body: form ? body : JSON.stringify(body) };
    try {
      const { signal } = limit;
      return { limit, response: await this.fetch(this.url(path, query), { method, headers, signal, ...sent }) };
    } catch (error) {
      limit.done();
      throw this.named(error, limit, request);
    }
  }

  private named(error: unknown, limit: Limited, request: Request): Error {
    if (error instanceof MillwrightError || error instanceof ConnectionError) return error;
    if (request.signal?.aborted === true) return reasonOf(request.signal);
    return limit.signal.aborted ? reasonOf(limit.signal) : unreachable(this.baseUrl, error);
  }

  private url(path: string, query: Query = {}): string {
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  private credentials(): Record<string, string> {
    return this.apiKey === null ? {} : { authorization: `Bearer ${this.apiKey}` };
  }
}

/** Whether another try is safe and may help. */
function mayTryAgain({ method, keyed, repeatable }: Request, error: unknown): boolean {
  if (error instanceof MillwrightError) {
    // Nothing was done.
    if (error.status === 429 || error.status === 503) return error.status === 429 || error.retryable;
    if (error.code !== 'idempotency_in_progress' && !(error.status >= 500 && error.retryable)) return false;
  } else if (!(error instanceof ConnectionError)) return false;
  return method === 'GET' || method === 'DELETE' || keyed === true || repeatable === true;
}

export async function failure(response: Response): Promise<MillwrightError> {
  return new MillwrightError(response.status, await response.json().catch(() => null), response.headers);
}

function unreachable(baseUrl: string, error: unknown): ConnectionError {
  // What `fetch` says is "fetch failed"; why stands in its cause.
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? cause.message || cause.name : String(cause);
  return new ConnectionError(`${baseUrl} cannot be reached: ${why}`, { cause: error });
}

export function broken(signal: AbortSignal): never {
  throw signal.aborted ? reasonOf(signal) : new ConnectionError('The connection was lost in the middle of an answer.');
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
