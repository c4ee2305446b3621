import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { MAX_OUTPUT, HostGit } from './host-git.js';
import { apiFetch } from './hosting/api-fetch.js';
import type { HostReads } from './hosting/host-client.js';
import { HostError } from './hosting/host-error.js';
import { askHost } from './hosting/host-reads.js';
import type { RepositoryAccess } from './repository-access.js';
import { RepositoryRules } from './repository-rules.js';
import { RepositoryStore } from './repository-store.js';
import { wantsCredential } from './repository-error.js';

/** What git(1) says of the branches of a repository. */
export interface RemoteBranches {
  branches: { name: string; commit: string }[];
  defaultBranch: string | null;
  /** Whether these are all. */
  whole: boolean;
}

/** Long enough for a list, which nobody waits for so long. */
const SECONDS = 30;

/** What is read of hosts of repositories for a workspace, beside clones. All reject with {@link HostError}, and with the reason of the signal. */
@Injectable()
export class HostReader {
  constructor(
    private readonly rules: RepositoryRules,
    private readonly store: RepositoryStore,
  ) {}

  /**
   * Asks the API of a host with a credential; a token that the host refuses is made anew once.
   * @param path of the repository that it is about; null for lists.
   */
  async ask<T>(
    access: RepositoryAccess,
    workspace: string,
    path: string | null,
    signal: AbortSignal,
    read: (reads: HostReads) => Promise<T>,
  ): Promise<T> {
    const { hosting, caFile } = access;
    if (hosting === null) throw new HostError('not_found', null);
    const fetch = apiFetch(this.rules.egress, workspace, caFile, signal);
    for (let tries = 1; ; tries++) {
      const token = await access.token(path, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new HostError('unreachable', null, { cause });
      });
      try {
        const found = await askHost(hosting.kind, { api: hosting.api, token, fetch }, signal, read);
        await access.accepted();
        return found;
      } catch (error) {
        if (!(error instanceof HostError) || error.code !== 'refused') throw error;
        if (!(await access.refused()) || tries === 2) throw error;
      }
    }
  }

  /** By git(1) itself, with the credential if there is one: for hosts without an API that is known, and for repositories that everybody may read. */
  async branches(
    access: RepositoryAccess | null,
    workspace: string,
    url: URL,
    signal: AbortSignal,
  ): Promise<RemoteBranches> {
    let folder: string | null = null;
    try {
      folder = await this.store.draft(randomUUID());
      const settings = await this.rules.settings(url, workspace, access, signal);
      const limits = { ...this.store.gitLimits(signal), seconds: SECONDS };
      const git = new HostGit({ folder, protocol: 'https', settings, ...limits });
      return read(await git.run(['ls-remote', '--symref', '--', url.href, 'HEAD', 'refs/heads/*']));
    } catch (error) {
      signal.throwIfAborted();
      throw failed(error);
    } finally {
      if (folder !== null) await this.store.discard(folder);
    }
  }
}

function read(printed: string): RemoteBranches {
  const whole = Buffer.byteLength(printed) < MAX_OUTPUT;
  // The last line may be a part of one.
  const lines = printed.split('\n').slice(0, -1);
  const defaultBranch = /^ref: refs\/heads\/(\S{1,255})\tHEAD$/m.exec(printed)?.[1] ?? null;
  const branches = lines.flatMap((line) => {
    const [, commit, name] = /^([0-9a-f]{40,64})\trefs\/heads\/(\S{1,255})$/.exec(line) ?? [];
    return commit === undefined || name === undefined ? [] : [{ name, commit }];
  });
  return { branches, defaultBranch, whole };
}

function failed(error: unknown): HostError {
  const said = error instanceof Error ? error.message : '';
  if (wantsCredential(error) || /not found|does not exist|returned error: 40[34]/i.test(said)) {
    return new HostError('not_found', null, { cause: error });
  }
  return new HostError(/returned error: 30[1278]/.test(said) ? 'moved' : 'unreachable', null, { cause: error });
}
