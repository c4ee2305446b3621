// Before a worker is told to stop: `machine drain` of its own machine, then the time until it has handed over what runs and has ended. Both
// together take at most 45 s of the minute that a pod has. What is left then, SIGTERM ends within ten seconds.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const WITHIN_MS = 45_000;
const ANSWER_MS = 2_000;
// Counted from the start of this process.
const left = () => Math.max(1, Math.floor(WITHIN_MS - performance.now()));

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const id = readFileSync(`${process.env.DATA_DIR}/machine`, 'utf8').trim();
const { status } = spawnSync(process.execPath, [cli, 'machine', 'drain', id], {
  stdio: 'inherit',
  timeout: left(),
  killSignal: 'SIGKILL',
});
// Whatever went wrong, SIGTERM comes next: no run is lost by it.
if (status !== 0) process.exit(1);

const url = `http://127.0.0.1:${process.env.PORT || '3000'}/health/live`;
/** One that is busy answers late, and has not ended. */
async function lives() {
  try {
    await fetch(url, { signal: AbortSignal.timeout(Math.min(ANSWER_MS, left())) });
    return true;
  } catch (error) {
    return error.name === 'TimeoutError';
  }
}
while (left() > 1 && (await lives())) await wait(Math.min(500, left()));
