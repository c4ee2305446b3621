// One bucket: how requests to it are tried again, for how long, and what their failures mean.
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { ConfigurationError, type Env } from '../../../../platform/config/env.js';
import { StorageUnavailableError } from '../storage-driver.js';

/** The library takes 0.3 s to load: only a process that uses a bucket loads it. */
export type Library = typeof import('@aws-sdk/client-s3');

/** Milliseconds: for a connection, and for one on which nothing moves. */
const [CONNECT_MS, IDLE_MS] = [3_000, 20_000];
/**
 * A download that its reader takes slowly has its connection for as long. With a bound, those of one tenant would keep the requests of all
 * others waiting. `MAX_CONNECTIONS` of the service itself bounds what clients can open here.
 */
const AGENT = { maxSockets: Infinity };
/** Milliseconds before the second attempt; each further wait is twice as long. */
const FIRST_WAIT_MS = 100;
const ATTEMPTS = 6;
/** No attempt begins later than that after the first one. Milliseconds. */
const NO_ATTEMPT_AFTER_MS = 30_000;

const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_SOCKET', 'ERR_STREAM_PREMATURE_CLOSE']); // prettier-ignore
/** The answer to a request that the maker of the storage does not know, and never will. */
const NOT_IMPLEMENTED = 501;
/**
 * Failures after which the same request may succeed, beside the answers from 500 on. The library corrects a wrong clock by the time of
 * the answer. Bytes that were altered on their way are sent again.
 */
const PASSING = new Set(['SlowDown', 'Throttling', 'ThrottlingException', 'TooManyRequests', 'RequestTimeout', 'TimeoutError', 'RequestTimeTooSkewed', 'BadDigest', 'XAmzContentChecksumMismatch', 'XAmzContentSHA256Mismatch', 'IncompleteBody', 'OperationAborted']); // prettier-ignore
const FULL = new Set(['InsufficientStorage', 'XMinioStorageFull', 'QuotaExceeded']);

/** What the library says of a request that failed. */
export interface S3Failure extends Error {
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

export const statusOf = (error: unknown): number | undefined => (error as S3Failure).$metadata?.httpStatusCode;

/** Whether the same request may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  const { name, code = '' } = error as S3Failure;
  const status = statusOf(error) ?? 0;
  if (isFull(error) || status === NOT_IMPLEMENTED) return false;
  return status >= 500 || status === 429 || PASSING.has(name) || NETWORK.has(code);
}

function isFull(error: unknown): boolean {
  return statusOf(error) === 507 || FULL.has((error as S3Failure).name);
}

/** A bucket, or the part of it below a prefix. */
export class Bucket {
  readonly name: string;
  /** Empty, or with a "/" at its end. */
  readonly prefix: string;
  private opened: Promise<{ library: Library; client: S3Client }> | undefined;

  /** Opens nothing. Throws {@link ConfigurationError} without `S3_BUCKET`. */
  constructor(private readonly env: Env) {
    const { S3_BUCKET, S3_PREFIX = '' } = env.variables;
    if (S3_BUCKET === undefined) throw new ConfigurationError('S3_BUCKET: the name of a bucket is expected.');
    this.name = S3_BUCKET;
    this.prefix = S3_PREFIX === '' || S3_PREFIX.endsWith('/') ? S3_PREFIX : `${S3_PREFIX}/`;
  }

  /** For people: where the bucket is. */
  get place(): string {
    const { S3_ENDPOINT } = this.env.variables;
    return `bucket ${this.name}${S3_ENDPOINT === undefined ? '' : ` at ${S3_ENDPOINT}`}`;
  }

  /**
   * Sends a request, and sends it again when it fails and may succeed later: at most {@link ATTEMPTS} times. `send` makes it anew for each attempt, because a
   * body that is a stream is read once.
   * Rejects with {@link StorageUnavailableError} when no attempt succeeds, and with what the library says of other failures.
   */
  async request<T>(
    send: (client: S3Client, library: Library) => Promise<T>,
    signal?: AbortSignal,
    attempts = ATTEMPTS,
  ): Promise<T> {
    const { client, library } = await this.open();
    const began = performance.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(client, library);
      } catch (error) {
        signal?.throwIfAborted();
        if (isFull(error)) throw Object.assign(new Error('The storage is full.', { cause: error }), { code: 'ENOSPC' });
        if (!isPassing(error)) throw error;
        const wait = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
        if (attempt === attempts || performance.now() - began + wait > NO_ATTEMPT_AFTER_MS) {
          throw new StorageUnavailableError(`The ${this.place} does not answer: ${wordsOf(error)}`, { cause: error });
        }
        await sleep(wait, undefined, signal === undefined ? {} : { signal });
      }
    }
  }

  private open(): Promise<{ library: Library; client: S3Client }> {
    return (this.opened ??= this.make());
  }

  private async make(): Promise<{ library: Library; client: S3Client }> {
    const { S3_ENDPOINT, S3_REGION, AWS_REGION } = this.env.variables;
    // What Node.js its later versions need is nothing for operators to read: the version here is fixed.
    // eslint-disable-next-line no-restricted-properties -- a switch of the library, which reads it there
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    const library = await import('@aws-sdk/client-s3');
    const region = S3_REGION ?? AWS_REGION ?? (S3_ENDPOINT === undefined ? undefined : 'us-east-1');
    const client = new library.S3Client({
      ...(region !== undefined && { region }),
      ...(S3_ENDPOINT !== undefined && { endpoint: S3_ENDPOINT, forcePathStyle: true }),
      // Attempts are counted here: the library does not repeat a request whose body is a stream.
      maxAttempts: 1,
      // It would write warnings of its own to standard error for each attempt that fails.
      logger: {
        trace: () => undefined,
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
      },
      // The checksums are our own; what the library adds by itself, other makers do not know.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        socketTimeout: IDLE_MS,
        httpAgent: AGENT,
        httpsAgent: AGENT,
      },
    });
    return { library, client };
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    const opened = await this.opened?.catch(() => undefined);
    opened?.client.destroy();
  }
}

/** In one line: the library leaves some messages empty. */
export function wordsOf(error: unknown): string {
  const { name, message, code } = error as S3Failure;
  return [...new Set([name === 'Error' ? code : name, message].filter((one) => one !== undefined && one !== ''))].join(
    ': ',
  );
}
