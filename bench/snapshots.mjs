// What a snapshot costs beside tar(1) and zstd(1): node bench/snapshots.mjs [FOLDER of at least 200 MB]. After `npm run build`. Best of three each:
// the time that passes, and the time of processors that this program and all that it starts need. The second one can be compared on a busy machine too.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuOfTree } from './processes.mjs';
import { capture, restore } from '../dist/engine/snapshots/snapshots.js';

const base = mkdtempSync(join(tmpdir(), 'bench-snapshots-'));
const { signal } = new AbortController();
const shell = (command) => execFileSync('bash', ['-c', command], { cwd: base, stdio: ['ignore', 'ignore', 'inherit'] });

/** A storage in memory: that of the service is measured by others. */
function memory() {
  const [objects, blobs] = [new Map(), new Map()];
  return {
    known: async (asked) =>
      JSON.stringify(JSON.parse(asked).flatMap((sha) => (blobs.has(sha) ? [blobs.get(sha)] : []))),
    put: async (bytes, given) => {
      const sha = createHash('sha256').update(bytes).digest('hex');
      objects.set(sha, Buffer.from(bytes));
      for (const [blob, ...place] of JSON.parse(given ?? '[]')) blobs.set(blob, [blob, sha, ...place]);
      return sha;
    },
    open: async (sha) => objects.get(sha),
  };
}

/** Time of processors of this process and of all that it has started, in ms. The kernel counts in ticks of 10 ms. */
const processors = () => cpuOfTree(process.pid) * 1000;

async function best(name, action, goal) {
  const least = { passed: Infinity, worked: Infinity };
  for (let round = 0; round < 3; round++) {
    const [begin, before] = [performance.now(), processors()];
    await action(round);
    least.passed = Math.min(least.passed, performance.now() - begin);
    least.worked = Math.min(least.worked, processors() - before);
  }
  const [passed, worked] = [least.passed, least.worked].map((ms) => `${ms.toFixed(0).padStart(6)} ms`);
  console.log(`${name.padEnd(30)} ${passed} ${worked} of processors  ${goal ?? ''}`);
  return least;
}

try {
  const files = join(base, 'files');
  for (let folder = 0; folder < 400; folder++) {
    mkdirSync(join(files, `${folder}`), { recursive: true });
    for (let at = 0; at < 50; at++)
      writeFileSync(join(files, `${folder}`, `${at}.js`), `export const x${at} = ${folder};\n`.repeat(at));
  }
  shell('sleep 0.1');
  let store = memory();
  const first = await capture({ workdir: files }, null, store, signal);
  await best('20,000 files, unchanged', () => capture({ workdir: files }, first, store, signal), 'goal 250 ms');
  await best(
    '20,000 files, 10 changed',
    (round) => {
      for (let at = 0; at < 10; at++) writeFileSync(join(files, `${at}`, '1.js'), `round ${round} ${at}`);
      return capture({ workdir: files }, first, store, signal);
    },
    'goal 350 ms',
  );

  const large = process.argv[2] ?? join(process.cwd(), 'node_modules');
  shell(`mkdir large && tar -C ${large} -cf - . | head -c 200000000 | tar -C large -xf - 2>/dev/null || true`);
  const folder = join(base, 'large');
  let made;
  const counterpart = await best('200 MB: tar | zstd -3', () =>
    shell('tar -cf - large | zstd -3 -qf -o large.tar.zst'),
  );
  const took = await best(
    '200 MB: first snapshot',
    async () => {
      store = memory();
      made = await capture({ workdir: folder }, null, store, signal);
    },
    'goal 1.3 of it',
  );
  let count = 0;
  const unpacked = await best('200 MB: zstd -d | tar x', () =>
    shell(`mkdir back-${count} && zstd -dqc large.tar.zst | tar -x -C back-${count++}`),
  );
  const restored = await best(
    '200 MB: restore',
    async () => {
      const target = join(base, `target-${count++}`);
      mkdirSync(target);
      await restore({ workdir: target }, made.manifest, store, null, signal);
    },
    'goal 1.5 of it',
  );
  for (const time of ['passed', 'worked']) {
    const [first, back] = [took[time] / counterpart[time], restored[time] / unpacked[time]];
    console.log(`${time}: first ${first.toFixed(2)}, restore ${back.toFixed(2)}`);
  }
} finally {
  rmSync(base, { recursive: true, force: true });
}
