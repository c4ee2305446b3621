import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { globToRegex } from '../../engine/agent/tools/glob.js';
import { HostGit } from '../../engine/repositories/host-git.js';
import { RepositoryStore } from '../../engine/repositories/repository-store.js';
import type { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { newId } from '../../platform/database/ids.js';
import type { Definition } from '../../resources/environments/definition.js';
import type { BuildToMake } from './builds.sql.js';

/** The kind of machine that a build fits: what was made under one sandbox, or for one processor, is of no use under another. */
export function driverOf(sandboxes: SandboxSelector): string {
  return `${sandboxes.report.driver} ${process.arch}`;
}

/** What a build was made from besides the version of its environment: while that is the same, it is used (reference §25, `refresh`). */
@Injectable()
export class BuildKeys {
  constructor(private readonly repositories: RepositoryStore) {}

  /** Null: the files of the repository decide. */
  plain({ refresh, repository }: Definition, now = new Date()): string | null {
    if (refresh === 'daily') return now.toISOString().slice(0, 10);
    return refresh === 'never' || repository === null ? '' : null;
  }

  /**
   * By the files of a commit that is cloned for a task or a build already. Rejects as git(1) does, and with the reason of the signal.
   */
  async ofClone(cloneId: string, commit: string, { refresh }: Definition, signal: AbortSignal): Promise<string> {
    const globs = typeof refresh === 'string' ? [] : refresh.onLockfile;
    const patterns = globs.map((glob) => new RegExp(globToRegex(glob), 'u'));
    const draft = await this.repositories.draft(newId());
    try {
      const git = new HostGit({
        folder: draft,
        protocol: 'file',
        settings: {},
        ...this.repositories.gitLimits(signal),
      });
      await git.run(['init', '--quiet', '--bare', '--template=', git.repository]);
      await git.run(['index-pack', '--stdin'], { inputFile: this.repositories.files(cloneId) });
      const list = join(draft, 'files');
      await git.run(['ls-tree', '-r', '-z', '--format=%(objectname) %(path)', commit], { output: list });
      const entries = (await readFile(list, 'utf8')).split('\0').filter((entry) => entry !== '');
      const matching = entries.filter((entry) => {
        const path = entry.slice(entry.indexOf(' ') + 1);
        return patterns.some((pattern) => pattern.test(path));
      });
      return createHash('sha256').update(matching.join('\0')).digest('hex');
    } finally {
      await this.repositories.discard(draft);
    }
  }

  /** Of a build that is about to be made; it is cloned for that. */
  async ofBuild(build: BuildToMake, commit: string | null, signal: AbortSignal): Promise<string> {
    const { id, workspace, definition } = build;
    const plain = this.plain(definition);
    if (plain !== null || definition.repository === null) return plain ?? '';
    const { url, ref } = definition.repository;
    const base = await this.repositories.clone(
      { taskId: id, title: '', workspace, url, ref, commit, push: null },
      signal,
    );
    return this.ofClone(id, base.commit, definition, signal);
  }
}
