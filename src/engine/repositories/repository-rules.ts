import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { DataDir } from '../../platform/config/data-dir.js';
import { basicCredential, type Hosting, hostingOf, type RepositoryHost } from '../../platform/config/repositories.js';
import { Env } from '../../platform/config/env.js';
import { ownFolders } from '../../platform/disk/own-folders.js';
import { Egress } from '../../platform/egress/egress.js';
import type { Sql } from '../../platform/database/sql.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Asked } from './repository-error.js';
import {
  allows,
  type ConnectionsOf,
  type RepositoryAccess,
  type SecretToken,
  type SecretTokenOf,
} from './repository-access.js';

/** From where a repository is cloned: over the network, or from a folder of this host with all links resolved. */
export type RepositorySource = { type: 'https'; url: URL } | { type: 'file'; url: URL; path: string };

/** What upload-pack(1) adds to a path to find a repository there (`enter_repo` of git's path.c). */
const SUFFIXES = ['', '/.git', '.git', '.git/.git'];
/** Of a host name. curl reads more in the name of `http.curloptResolve`: a sign before it, `*`, a dot after it. */
const HOST = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$|^\[/;

/** Which repositories a task may name, and which of them are read with a credential (reference §15). */
@Injectable()
export class RepositoryRules {
  /** The way to hosts of repositories. */
  readonly egress: Egress;
  private readonly hosts: Readonly<Record<string, RepositoryHost>>;
  private readonly folders: readonly string[];
  private readonly tokens: ReadonlyMap<string, string>;
  private connections: ConnectionsOf = () => Promise.resolve([]);
  private secretToken: SecretTokenOf = () => Promise.resolve(null);

  constructor(
    env: Env,
    private readonly dataDir: DataDir,
  ) {
    const { repositories = {}, repositoryNetworks = [], repositoryFiles = [] } = env.file;
    this.egress = new Egress(repositoryNetworks);
    this.hosts = repositories;
    this.folders = repositoryFiles;
    this.tokens = env.repositoryTokens;
  }

  /**
   * Throws 400 `repository_not_allowed`, and `invalid_field` for what is no URL. A host name is not resolved here: its addresses
   * are checked when the repository is cloned.
   */
  async source(text: string): Promise<RepositorySource> {
    if (!URL.canParse(text)) throw refusal('must be a URL', { ...URL_OF, code: 'invalid_field' });
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') {
      throw refusal('must have no user name and no password: credentials are the operator’s to configure');
    }
    if (url.search !== '' || url.hash !== '') throw refusal('must have no query and no fragment');
    if (url.protocol === 'https:') return { type: 'https', url: this.checkedHttps(url) };
    if (url.protocol === 'file:') return { type: 'file', url, path: await this.checkedFile(url) };
    throw refusal('must begin with https://, or with file:// where the operator allows that');
  }

  /** Says where the connections of workspaces are: the engine knows no table of them. */
  useConnections(connections: ConnectionsOf): void {
    this.connections = connections;
  }

  /** Says where the secrets of workspaces are. */
  useSecrets(secretToken: SecretTokenOf): void {
    this.secretToken = secretToken;
  }

  /**
   * What a workspace may use: first the operator's entries that have a credential for it, then its own connections, oldest first.
   * @param sql the transaction of a request that writes, the pool of one that reads; null for a worker.
   */
  async accesses(sql: Sql | null, workspaceSlug: string): Promise<RepositoryAccess[]> {
    const own = await Promise.all(Object.keys(this.hosts).map((host) => this.operators(sql, host, workspaceSlug)));
    return [...own.filter((one) => one !== null), ...(await this.connections(sql, workspaceSlug))];
  }

  /**
   * What a repository is read with, or a branch of it written; null when nothing is for all of that. The operator's entry wins for its
   * host and paths, also where it allows no such branch. Of the connections it is the oldest.
   */
  async access(
    sql: Sql | null,
    url: URL,
    workspaceSlug: string,
    branch: string | null = null,
  ): Promise<RepositoryAccess | null> {
    const path = pathAt(url);
    const fits = ({ host, paths, push }: RepositoryAccess) =>
      host === url.host && allows(paths, path) && (branch === null || allows(push, branch));
    const own = await this.operators(sql, url.host, workspaceSlug);
    if (own !== null && allows(own.paths, path)) return fits(own) ? own : null;
    return (await this.connections(sql, workspaceSlug)).find(fits) ?? null;
  }

  /** What is known of a host from the operator, and what such a host has elsewhere; null for a host of which nothing is known. */
  hosting(host: string, given: Pick<RepositoryHost, 'kind' | 'api'> = {}): Hosting | null {
    const entry = this.entry(host);
    return (entry === undefined ? null : hostingOf(host, entry)) ?? hostingOf(host, given);
  }

  /** The file of certificates that a host is checked against; null for the system's. */
  caFile(host: string): string | null {
    return this.entry(host)?.caFile ?? null;
  }

  /** Settings of git(1) that lead it to a host: the addresses that were checked, and the credential if there is one. */
  async settings(
    url: URL,
    workspaceSlug: string,
    access: RepositoryAccess | null,
    signal: AbortSignal,
  ): Promise<Record<string, string>> {
    const addresses = await this.egress.addresses(url, workspaceSlug, signal);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // The addresses that were checked; curl asks nobody else for those of this name.
    const shown = addresses.map((address) => (address.includes(':') ? `[${address}]` : address));
    const [token, caFile] = [await access?.token(pathAt(url), signal), this.caFile(url.host)];
    return {
      ...(addresses.includes(host) ? {} : { 'http.curloptResolve': `${host}:${url.port || '443'}:${shown.join(',')}` }),
      ...(caFile === null ? {} : { [`http.${url.origin}/.sslCAInfo`]: caFile }),
      ...(token === undefined
        ? {}
        : { [`http.${url.origin}/.extraHeader`]: `Authorization: Basic ${basicCredential(token)}` }),
    };
  }

  /** What a failure to read a repository is told with. */
  async asked(url: URL, workspaceSlug: string, access: RepositoryAccess | null): Promise<Asked> {
    const others = access === null ? await this.connections(null, workspaceSlug) : [];
    const otherPaths = others.filter(({ host }) => host === url.host).flatMap(({ paths }) => paths);
    return { url, path: pathAt(url), access, otherPaths };
  }

  /** Throws 400 `repository_not_allowed` for what a task may not push. */
  async checkPush(
    sql: Sql,
    { type, url }: RepositorySource,
    workspaceSlug: string,
    push: { branch: string; pullRequest?: object },
  ): Promise<void> {
    const access = type === 'https' ? await this.access(sql, url, workspaceSlug, push.branch) : null;
    if (access === null) {
      throw refusal(
        'names a branch that neither the operator nor a connection of this workspace allows for this repository',
        PUSH,
      );
    }
    if (push.pullRequest !== undefined && access.hosting === null) {
      throw refusal('is for a host whose pull requests this service cannot open', {
        ...PUSH,
        param: `${PUSH.param}.pullRequest`,
      });
    }
  }

  /** The operator's credential for a host, when there is one for the workspace. */
  private async operators(sql: Sql | null, host: string, workspaceSlug: string): Promise<RepositoryAccess | null> {
    const entry = this.entry(host);
    if (entry === undefined || !entry.workspaces.includes(workspaceSlug)) return null;
    const found = await this.tokenOf(sql, host, entry, workspaceSlug);
    if (found === null) return null;
    const { paths, push } = entry;
    return {
      connectionId: null,
      name: null,
      credential: found.version,
      host,
      hosting: this.hosting(host),
      paths,
      push,
      caFile: this.caFile(host),
      token: () => Promise.resolve(found.token),
      accepted: () => found.used(),
      refused: () => Promise.resolve(false),
    };
  }

  private async tokenOf(
    sql: Sql | null,
    host: string,
    { tokenEnv, secret }: RepositoryHost,
    workspaceSlug: string,
  ): Promise<SecretToken | null> {
    if (secret !== undefined) return this.secretToken(sql, workspaceSlug, secret, new URL(`https://${host}`));
    const token = tokenEnv === undefined ? undefined : this.tokens.get(tokenEnv);
    return token === undefined ? null : { token, version: '', used: () => Promise.resolve() };
  }

  private entry(host: string): RepositoryHost | undefined {
    return Object.hasOwn(this.hosts, host) ? this.hosts[host] : undefined;
  }

  private checkedHttps(url: URL): URL {
    if (namesOf(url) === null)
      throw refusal('must name a repository, without escaped slashes, dots and control characters');
    if (!HOST.test(url.hostname)) throw refusal('must name a host by letters, digits and dots');
    if (this.egress.refuses(url)) throw refusal('leads to an address that is not public');
    return url;
  }

  /**
   * The path that git(1) is given. All that it looks at from there lies inside a folder that the operator allows, and nothing of
   * it where the service keeps its own: upload-pack(1) would run on the host in a tree that an agent writes.
   */
  private async checkedFile(url: URL): Promise<string> {
    const path = await withoutLinks(pathOf(url));
    const [roots, own] = await Promise.all([
      Promise.all(this.folders.map(withoutLinks)),
      ownFolders(this.dataDir.path).then((folders) => Promise.all(folders.map(withoutLinks))),
    ]);
    for (const suffix of SUFFIXES) {
      const real = await withoutLinks(path + suffix);
      const allowed = roots.some((root) => real !== root && contains(root, real));
      if (!allowed || own.some((folder) => contains(folder, real))) {
        throw refusal('lies in no folder that the operator allows');
      }
      // A file names another folder (`gitdir:`), or is a bundle.
      const found = await stat(real).catch(() => null);
      if (found !== null && !found.isDirectory()) throw refusal('must be a folder, with its own .git or without one');
    }
    return path;
  }
}

function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(join(folder, sep));
}

function pathOf(url: URL): string {
  try {
    return resolve(fileURLToPath(url));
  } catch {
    throw refusal('must be a path of this host');
  }
}

/**
 * It does not reveal what exists: that comes out when it is cloned, if it is allowed. It would lie where the last
 * folder on its way that exists does.
 */
async function withoutLinks(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await withoutLinks(dirname(path)), basename(path)),
  );
}

/**
 * The names in the path of a repository, decoded; null when a server could take it for another path than the patterns of the
 * operator are compared with.
 */
function namesOf({ pathname }: URL): string[] | null {
  try {
    const names = pathname
      .replace(/^\/|\/$/g, '')
      .split('/')
      .map(decodeURIComponent);
    return names.some((name) => name === '' || /^\.{1,2}$/.test(name) || /[/\\\p{Cc}]/u.test(name)) ? null : names;
  } catch {
    return null;
  }
}

/** As patterns are compared with it, and as the host knows it. */
export function pathAt(url: URL): string {
  return (namesOf(url) ?? []).join('/').replace(/\.git$/, '');
}

interface About {
  code: 'repository_not_allowed' | 'invalid_field';
  param: string;
}
const URL_OF: About = { code: 'repository_not_allowed', param: 'repository.url' };
const PUSH: About = { code: 'repository_not_allowed', param: 'repository.push' };

function refusal(what: string, { code, param }: About = URL_OF): ApiError {
  return new ApiError(code, `${param} ${what}.`, { param });
}
