import { EgressError } from '../../platform/egress/egress.js';
import { ApiError } from '../../platform/http/api-error.js';
import { GitError } from './host-git.js';
import type { RepositoryAccess } from './repository-access.js';

/** A repository cannot be cloned or handed in. The message is for the client; `cause` has what the operator must know. */
export class RepositoryError extends Error {
  override readonly name = 'RepositoryError';
}

/** Which repository was asked for, and with what. */
export interface Asked {
  url: URL;
  /** As the host knows it. */
  path: string;
  access: RepositoryAccess | null;
  /** The paths of the connections to its host that do not include it. */
  otherPaths: readonly string[];
}

export const TOO_LARGE =
  'The repository is larger than a task may be. Name a smaller one, or ask the operator of the service for more room.';
const AGAIN = 'Send a message to try again.';

/** Whether the host has refused the credential, or wants one. */
export function wantsCredential(error: unknown): boolean {
  return (
    error instanceof GitError &&
    /could not read Username|Authentication failed|returned error: 401/i.test(error.message)
  );
}

/**
 * What the client may read: what happened and what to do about it. Nothing names an address or tells what lies behind it.
 * @param asked null for a repository of this host.
 */
export function asRepositoryError(error: unknown, asked: Asked | null): RepositoryError {
  if (error instanceof RepositoryError) return error;
  const cause = { cause: error };
  if (error instanceof ApiError || error instanceof EgressError) return new RepositoryError(error.message, cause);
  const said = error instanceof GitError ? error.message : '';
  if (/File too large/.test(said)) return new RepositoryError(TOO_LARGE, cause);
  const sentence = asked === null ? missingHere(said) : (refusalOf(error, asked) ?? hostFailure(error, asked.url));
  return new RepositoryError(sentence ?? `The repository could not be read: ${wordsOf(error)} ${AGAIN}`, cause);
}

function missingHere(said: string): string | null {
  return /not found|does not (exist|appear to be)/i.test(said)
    ? 'There is no repository at this path that the service may read. Check the address.'
    : null;
}

/** What the host says of the repository and the credential; null when it is about neither. */
function refusalOf(error: unknown, { url, path, access, otherPaths }: Asked): string | null {
  const said = error instanceof GitError ? error.message : '';
  const { host } = url;
  if (/returned error: 30[1278]/.test(said)) {
    return 'The repository has moved: redirects are not followed, name its new address.';
  }
  const missing = /not found|does not exist|returned error: 404/i.test(said);
  const forbidden = /returned error: 403/.test(said);
  if (!missing && !forbidden && !wantsCredential(error)) return null;
  if (access === null) {
    return otherPaths.length === 0
      ? `${host} has no repository ${path} that everybody may read. Check the address. If it is private, an owner or admin of the workspace connects ${host} (repository connections).`
      : `${host} has no repository ${path} that everybody may read, and no repository connection of this workspace includes it: their paths are ${otherPaths.slice(0, 10).join(', ')}. Check the address, or have an owner or admin add the path.`;
  }
  const credential = credentialOf(access);
  if (missing) {
    return `${host} has no repository ${path}, or the credential of ${credential} does not see it. Check the address, or ${access.connectionId === null ? 'ask the operator of the service' : 'give the credential access to it at the host'}.`;
  }
  if (forbidden) {
    return `${host} does not let the credential of ${credential} use ${path} (403). ${access.connectionId === null ? 'Ask the operator of the service.' : 'Give the credential access to it at the host.'}`;
  }
  return refusedCredential(access);
}

/** Of a credential that its host does not take (401). */
export function refusedCredential(access: Pick<RepositoryAccess, 'host' | 'connectionId' | 'name'>): string {
  const what = `${access.host} refused the credential of ${credentialOf(access)} (401): it is wrong, has ended or was revoked.`;
  return access.connectionId === null
    ? `${what} The operator of the service must replace it.`
    : `${what} An owner or admin gives the connection a new one.`;
}

/** Whose credential it is, for people. */
export function credentialOf({ connectionId, name, host }: Pick<RepositoryAccess, 'host' | 'connectionId' | 'name'>) {
  return connectionId === null ? 'the operator' : `the repository connection ${name ?? host}`;
}

const UNKNOWN_NAME = /Could not resolve host|ENOTFOUND|ENODATA|EBADNAME/;
const CERTIFICATE = /SSL|certificate|CERT_|self.signed/i;
const NOT_REACHED =
  /Failed to connect|connection refused|Could(n't| not) connect|timed? ?out|too slow|reset|Recv failure|Empty reply|early EOF|disconnect|hung up|ECONN|EPIPE|EHOSTUNREACH|ENETUNREACH|ESERVFAIL|aborted/i;

/**
 * Why a host is not reached or does not answer as one; null when that is not what the error says.
 * @param again what to do when it may be otherwise later.
 */
export function hostFailure(error: unknown, { host, hostname }: URL, again = AGAIN): string | null {
  const said = error instanceof Error ? `${error.message} ${String((error as NodeJS.ErrnoException).code)}` : '';
  const [, status = ''] = /returned error: (429|5\d\d)/.exec(said) ?? [];
  if (status === '429') return `${host} takes no more requests for a while (429). ${again}`;
  if (status !== '') return `${host} answers with an error of its own (${status}). ${again}`;
  if (UNKNOWN_NAME.test(said)) return `The name ${hostname} is not found. Check the address.`;
  if (CERTIFICATE.test(said)) {
    return `${host} has no certificate that this service trusts. The operator of the service can name the authority (caFile).`;
  }
  if (/is this a git repository/.test(said)) {
    return `${host} has no Git repository at this address. Name the address that git clone takes.`;
  }
  return NOT_REACHED.test(said) ? `${host} is not reached, or ends the connection. ${again}` : null;
}

/** The last words of git(1), without what tells of this host and its network. For what nobody has thought of. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof GitError))
    return 'the service has failed. If that happens again, ask its operator, whose log says why.';
  const [line = ''] = error.message.trim().split('\n').slice(-1);
  const clean = line
    .replace(/^git \S+ ended with \S+: /, '')
    .replace(/^(fatal|error): /, '')
    .replace(/(?<=:\/\/)[^\s/@]*@/g, '')
    .replace(/\b\d{1,3}(\.\d{1,3}){3}\b|\[?[0-9a-f]{0,4}(:[0-9a-f]{0,4}){3,}\]?/gi, '(address)')
    .replace(/(?<=^|[\s'"(])\/[^\s'")]+/g, '(path)')
    .replace(/\p{Cc}/gu, ' ');
  return `${clean.slice(0, 300).toWellFormed().replace(/\.$/, '')}.`;
}
