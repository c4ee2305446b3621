// Reads of hosts of repositories, by the clients that are kept for them.
import type { Hosting } from '../../../platform/config/repositories.js';
import type { ApiFetch } from './api-fetch.js';
import { HostError, refusalOf } from './host-error.js';
import type { HostApi, HostReads } from './host-client.js';

/** Few installations need either: a client is loaded with the first question. */
const CLIENTS: Record<Hosting['kind'], () => Promise<(host: HostApi) => HostReads>> = {
  github: async () => (await import('./github.js')).readsOfGitHub,
  gitlab: async () => (await import('./gitlab.js')).readsOfGitLab,
};

/** Asks a host one thing: `read` calls one method. Rejects with {@link HostError}, and with the reason of the signal. */
export async function askHost<T>(
  kind: Hosting['kind'],
  host: HostApi,
  signal: AbortSignal,
  read: (reads: HostReads) => Promise<T>,
): Promise<T> {
  const client = await CLIENTS[kind]();
  try {
    return await read(client({ ...host, fetch: successful(host.fetch) }));
  } catch (error) {
    signal.throwIfAborted();
    throw asHostError(error);
  }
}

/** The clients see answers with JSON alone: what else a host says is decided here, for both alike. */
function successful(fetch: ApiFetch): ApiFetch {
  return async (input, init) => {
    const response = await fetch(input, init).catch((cause: unknown) => {
      throw new HostError('unreachable', null, { cause });
    });
    if (response.status !== 200) throw refusalOf(response);
    const type = response.headers.get('content-type') ?? '';
    if (!/^application\/json\s*(;|$)/i.test(type)) throw new HostError('unreadable', null);
    return response;
  };
}

/** Octokit wraps what its `fetch` throws; all else is about the shape of the answer. */
function asHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof HostError ? cause : new HostError('unreadable', null, { cause: error });
}
