// Loaded before a program that is measured: at SIGWINCH it writes to a file of `BENCH_HEAP_FOLDER` how many bytes the program has allocated on its heap since
// the signal before, and how many are in use when what nobody refers to is gone. It needs `--expose-gc`.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GCProfiler, getHeapStatistics } from 'node:v8';

const file = join(process.env.BENCH_HEAP_FOLDER, `heap-${process.pid}.json`);
const used = () => getHeapStatistics().used_heap_size;
let profiler;
let atStart;

function begin() {
  profiler = new GCProfiler();
  profiler.start();
  atStart = used();
}

/** What a collection frees was allocated before it: the sum of what came between them. */
function allocated() {
  let [bytes, last] = [0, atStart];
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - last;
    last = afterGC.heapStatistics.usedHeapSize;
  }
  return bytes + used() - last;
}

begin();
process.on('SIGWINCH', () => {
  const bytes = allocated();
  globalThis.gc();
  writeFileSync(`${file}.new`, JSON.stringify({ allocated: bytes, kept: used() }));
  renameSync(`${file}.new`, file);
  begin();
});
