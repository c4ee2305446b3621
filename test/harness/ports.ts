import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what a system gives out for `listen(0)` and to those who connect: a port of here is not taken between two looks. */
const FIRST = 20_000;
/** Each of Jest's processes has a slice, and goes round in it. */
const SLICE = 500;
const SLICES = 24;

const slice = Number(process.env['JEST_WORKER_ID'] ?? process.pid) % SLICES;
// Other passes on this machine have the same slices, and begin elsewhere in them.
let next = Math.floor(Math.random() * SLICE);

/**
 * A port of 127.0.0.1 that nobody listens on, nor will but for who asked: a process has the seconds that it needs to boot,
 * and what was killed comes up again where it was.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SLICE; tries++) {
    const port = FIRST + slice * SLICE + (next++ % SLICE);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port is free from ${FIRST + slice * SLICE} on.`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    const listening = once(probe, 'listening');
    probe.listen(port, '127.0.0.1');
    await listening;
  } catch {
    return false;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
