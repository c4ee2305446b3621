// The memory of a service after a full collection. Loaded into it before all else, this file writes it down at SIGWINCH: Nest takes the
// usual signals for a request to stop.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const FILE = process.env.BENCH_MEMORY_FILE;
const WAIT_MS = 30_000;

if (FILE !== undefined) {
  process.on('SIGWINCH', async () => {
    // Each takes what the finalizers of the one before have let go, and its pages are given back beside the program.
    for (let n = 0; n < 5; n++) {
      globalThis.gc();
      await delay(500);
    }
    writeFileSync(`${FILE}.part`, JSON.stringify(process.memoryUsage()));
    renameSync(`${FILE}.part`, FILE);
  });
}

export class MemoryFile {
  /** What the service is started with. */
  flags = ['--expose-gc', `--import=${import.meta.url}`];

  constructor(folder) {
    this.file = join(folder, 'memory.json');
    this.env = { BENCH_MEMORY_FILE: this.file };
  }

  /** `process.memoryUsage()` of it. */
  async of(service) {
    rmSync(this.file, { force: true });
    service.child.kill('SIGWINCH');
    const until = performance.now() + WAIT_MS;
    while (!existsSync(this.file)) {
      if (performance.now() > until) throw new Error('The service does not say how much memory it has.');
      await delay(20);
    }
    return JSON.parse(readFileSync(this.file, 'utf8'));
  }
}
