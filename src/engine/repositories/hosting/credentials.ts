// Who a credential is at a host, and the tokens that a GitHub App is given: a few requests that need no client.
import githubAppJwt from 'universal-github-app-jwt';
import { z } from 'zod';
import { hostFailure, RepositoryError } from '../repository-error.js';
import type { ApiFetch } from './api-fetch.js';

/** The host does not take a credential at all. The message is for people of the workspace. */
export class CredentialError extends RepositoryError {}

export interface AppCredential {
  appId: string;
  /** PEM, PKCS#8. */
  privateKey: string;
  installationId: string;
}

export interface Api {
  kind: 'github' | 'gitlab';
  /** The address that its paths begin with, without a slash at the end. */
  address: string;
  fetch: ApiFetch;
}

interface Asked {
  method?: 'POST';
  path: string;
  headers: Record<string, string>;
  body?: object;
}

const LATER = 'Try again later.';
const NAME = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u);
const GITHUB_USER = z.object({ login: NAME });
const GITLAB_USER = z.object({ username: NAME });
const INSTALLATION = z.object({ account: z.object({ login: NAME }), suspended_at: z.string().nullish() });
const MADE = z.object({
  token: z.string().regex(/^[\x21-\x7e]{1,2000}$/),
  expires_at: z.iso.datetime({ offset: true }),
});

/** The account that a token is of. Rejects with {@link CredentialError} when the host does not take it, else with {@link RepositoryError}. */
export async function accountOfToken(api: Api, token: string): Promise<string> {
  const refused = `${hostOf(api)} refused the token (401): it is wrong, has ended or was revoked. Give the connection a new one.`;
  if (api.kind === 'gitlab') {
    const answer = await ask(api, { path: '/user', headers: { 'private-token': token } }, { 401: refused });
    return read(api, GITLAB_USER, answer).username;
  }
  const answer = await ask(api, { path: '/user', headers: { authorization: `Bearer ${token}` } }, { 401: refused });
  return read(api, GITHUB_USER, answer).login;
}

/** The account that an App is installed for. Rejects as {@link accountOfToken}. */
export async function accountOfApp(api: Api, app: AppCredential): Promise<string> {
  const path = `/app/installations/${app.installationId}`;
  const answer = await ask(api, { path, headers: await asApp(app) }, appRefusals(api, app));
  const { account, suspended_at } = read(api, INSTALLATION, answer);
  if (suspended_at != null) throw new CredentialError(suspended(api, app));
  return account.login;
}

/**
 * A token of an App's installation for an hour, for one repository; with null for lists of repositories and nothing else. Rejects as
 * {@link accountOfToken}.
 */
export async function installationToken(
  api: Api,
  app: AppCredential,
  path: string | null,
): Promise<{ token: string; expiresAt: number }> {
  const name = path?.split('/').at(-1) ?? null;
  const body = name === null ? { permissions: { metadata: 'read' } } : { repositories: [name] };
  const asked = { path: `/app/installations/${app.installationId}/access_tokens`, headers: await asApp(app), body };
  const answer = await ask(api, { method: 'POST', ...asked }, appRefusals(api, app), {
    422: `The installation ${app.installationId} of the GitHub App at ${hostOf(api)} does not include ${path}. Add the repository to it, or check the address.`,
  });
  const made = read(api, MADE, answer);
  return { token: made.token, expiresAt: Date.parse(made.expires_at) };
}

function appRefusals(api: Api, app: AppCredential): Record<number, string> {
  const host = hostOf(api);
  return {
    401: `${host} refused the GitHub App ${app.appId} (401): its id and private key do not belong together, or the key was deleted. Give the connection a new key.`,
    403: suspended(api, app),
    404: `${host} has no installation ${app.installationId} of the GitHub App ${app.appId}. Install the App, and give the connection the number of its installation.`,
  };
}

function suspended(api: Api, app: AppCredential): string {
  return `The installation ${app.installationId} of the GitHub App ${app.appId} at ${hostOf(api)} is suspended. An owner of the account can end that there.`;
}

async function asApp({ appId: id, privateKey }: AppCredential): Promise<Record<string, string>> {
  const { token } = await githubAppJwt({ id, privateKey });
  return { authorization: `Bearer ${token}` };
}

/**
 * @param refusals of the credential, by status.
 * @param others of what was asked for.
 */
async function ask(
  { address, kind, fetch }: Api,
  { method, path, headers, body }: Asked,
  refusals: Record<number, string>,
  others: Record<number, string> = {},
): Promise<unknown> {
  const url = new URL(address + path);
  const accept = kind === 'github' ? 'application/vnd.github+json' : 'application/json';
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(url, {
      method: method ?? 'GET',
      headers: { accept, 'user-agent': 'Millwright', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    text = await answer.text();
  } catch (error) {
    throw new RepositoryError(hostFailure(error, url, LATER) ?? strange(url.host), { cause: error });
  }
  const { status } = answer;
  if (answer.ok) return parsed(url.host, text);
  const limited = status === 429 || /rate limit/i.test(text);
  if (limited) throw new RepositoryError(`${url.host} takes no more requests for a while (${status}). ${LATER}`);
  if (refusals[status] !== undefined) throw new CredentialError(refusals[status]);
  if (others[status] !== undefined) throw new RepositoryError(others[status]);
  const why =
    status >= 500 ? `${url.host} answers with an error of its own (${status}). ${LATER}` : strange(url.host, status);
  throw new RepositoryError(why);
}

function parsed(host: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new RepositoryError(strange(host), { cause: error });
  }
}

function read<T>(api: Api, schema: z.ZodType<T>, answer: unknown): T {
  const { data, success, error } = schema.safeParse(answer);
  if (success) return data;
  throw new RepositoryError(strange(hostOf(api)), { cause: error });
}

function strange(host: string, status?: number): string {
  const what = status === undefined ? '' : ` (${status})`;
  return `${host} does not answer as its API does${what}. Check the address of the API and what serves the host.`;
}

const hostOf = ({ address }: Api) => new URL(address).host;
