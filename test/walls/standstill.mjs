// Loaded into a process of the service (`--import`): notes how long its main thread computed without coming round to its
// timers. That is CPU time of this thread alone, so a machine that is busy with other things does not count. Each span of more
// than 10 ms is a line in the file MILLWRIGHT_STANDSTILL: milliseconds since 1970, milliseconds of computing.
import { openSync, readSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;
const WORTH_A_LINE_MS = 10;
const path = process.env['MILLWRIGHT_STANDSTILL'];

if (path !== undefined && isMainThread) {
  const out = openSync(path, 'a');
  // Its first number: nanoseconds that the thread has computed. Opened by the thread that it is about.
  const schedstat = openSync('/proc/thread-self/schedstat', 'r');
  const bytes = Buffer.alloc(80);
  const computed = () => Number(bytes.toString('latin1', 0, readSync(schedstat, bytes, 0, 80, 0)).split(' ')[0]) / 1e6;
  let before = computed();
  setInterval(() => {
    const now = computed();
    if (now - before > WORTH_A_LINE_MS) writeSync(out, `${Date.now()} ${(now - before).toFixed(1)}\n`);
    before = now;
  }, TICK_MS).unref();
}
