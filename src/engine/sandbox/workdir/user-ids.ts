import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { SandboxError } from '../sandbox.js';

/** First of the numbers that sandboxes run under when the service is root; none of them has an account. */
export const FIRST_UID = 64_001;
const LAST_UID = 64_999;

export interface UserId {
  /** Also the number of the group. */
  readonly uid: number;
  release(): void;
}

/**
 * A number for one session, that no other session of this host uses meanwhile, of whatever worker process. The claim
 * is a socket name in Linux's abstract space (unix(7)): the kernel takes it back however the process ends, so there is
 * no stale file. Nobody answers on it.
 */
export async function takeUserId(preferred: number): Promise<UserId> {
  const accounts = accountNumbers();
  // From a random one on: from the first one on, each session would try the numbers of all the others.
  const count = LAST_UID - FIRST_UID + 1;
  const start = randomInt(count);
  const all = Array.from({ length: count }, (_, index) => FIRST_UID + ((start + index) % count));
  const first = all.includes(preferred) ? [preferred] : [];
  for (const uid of [...first, ...all]) {
    if (accounts.has(uid)) continue;
    const claim = await listen(`\0millwright-sandbox-${uid}`);
    if (claim !== null) return { uid, release: () => void claim.close() };
  }
  throw new SandboxError(`No user number from ${FIRST_UID} to ${LAST_UID} is free for a sandbox.`);
}

function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(path, () => resolve(server.unref()));
  });
}

function accountNumbers(): Set<number> {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  return new Set(lines.map((line) => Number(line.split(':')[2])));
}
