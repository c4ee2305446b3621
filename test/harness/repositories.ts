// Repositories of the tests, made by git(1) without anything of the machine's own configuration.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../../src/platform/config/reachable.js';

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** What git(1) prints, without the last line break. */
export function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { env: ENVIRONMENT, encoding: 'utf8' }).trimEnd();
}

/** A folder in which repositories lie; {@link remove} deletes it. */
export class RepositoryFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'repositories-')));

  /** Makes one with one commit on the branch `main`, and returns its path. */
  make(name: string, files: Record<string, string | Buffer>): string {
    const path = join(this.path, name);
    mkdirSync(path, { recursive: true });
    git(path, 'init', '--quiet', '--template=', '--initial-branch=main');
    asTheyAre(path);
    this.commit(path, 'The first', files);
    return path;
  }

  /** Returns the commit. */
  commit(path: string, message: string, files: Record<string, string | Buffer>): string {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), content);
    }
    git(path, 'add', '--all');
    git(path, 'commit', '--quiet', '--allow-empty', '-m', message);
    return git(path, 'rev-parse', 'HEAD');
  }

  /** A clone of its own, at a commit, on which patches are tried. */
  clone(path: string, name: string, commit = 'HEAD'): string {
    const target = join(this.path, name);
    git(this.path, 'clone', '--quiet', '--template=', '--no-checkout', path, target);
    asTheyAre(target);
    git(target, 'checkout', '--quiet', '--detach', commit);
    return target;
  }

  remove(): void {
    removeTree(this.path);
  }
}

/** Files are stored as they are, whatever `.gitattributes` asks for. */
function asTheyAre(path: string): void {
  mkdirSync(join(path, '.git/info'), { recursive: true });
  writeFileSync(join(path, '.git/info/attributes'), '* -text -filter\n');
}
