// PostgreSQL refuses to run as root, so root starts it as another user.
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';

/** Nothing of our own environment: it holds keys, and PG* variables would steer the server. */
const CLEAN_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** A user of this machine that runs the server. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/**
 * The user that the server runs as; `null`: the one that runs this process. For root it is the owner of `owned` (so that
 * root can run a command over the folder of a service that is an ordinary user), else `postgres`, else `nobody`. Throws
 * when root has none of them.
 */
export function databaseAccount(
  owned: string,
  passwd = readFileSync('/etc/passwd', 'utf8'),
  self = process.getuid?.(),
): Account | null {
  if (self !== 0) return null;
  const accounts = passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
  const owner = statSync(owned).uid;
  const usable = accounts.filter((account) => account.uid !== 0);
  const found =
    usable.find((account) => account.uid === owner) ??
    usable.find((account) => account.name === 'postgres') ??
    usable.find((account) => account.name === 'nobody');
  if (found) return found;
  throw new Error(
    'The embedded PostgreSQL cannot run as root, and /etc/passwd has neither a user "postgres" nor "nobody". ' +
      'Add one (useradd --system postgres), start Millwright as an ordinary user, or set DATABASE_URL.',
  );
}

/** Starts a program as the account, in a folder that every user can enter. */
export function spawnAs(account: Account | null, command: string[], stdio: StdioOptions): ChildProcess {
  const [program = '', ...args] = command;
  const user = account === null ? {} : { uid: account.uid, gid: account.gid };
  try {
    // A process group of its own: Ctrl-C in a terminal is for Node, which then ends the server in order.
    return spawn(program, args, { ...user, cwd: '/', env: CLEAN_ENV, detached: true, stdio });
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL cannot be started${account ? ` as user "${account.name}"` : ''} (${String(cause)}). ` +
        'Start Millwright as an ordinary user, or set DATABASE_URL.',
      { cause },
    );
  }
}

/** Waits for a child's end: its exit code (`null` after a signal) and what it wrote to standard error. */
export async function finish(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  const [said] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'exit')]);
  return { code: child.exitCode, said: said.trim() };
}
