// What the service adds to a check: node bench/checks.mjs [ROUNDS]. After `npm run build`. The command of the check is `true`, its repository has 2,000 files.
// Asked: 400 ms, median, on a quiet machine. The floor is the same by hand: git makes the same files of the same pack in an empty folder, and bubblewrap
// runs `true` in it. The ways take turns; `between` is the time between `check.started` and `check.completed` in the log.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../scripts/free-port.mjs';
import { median, percentile, table } from './figures.mjs';
import { Program } from './processes.mjs';

const ROUNDS = Number(process.argv[2] ?? 30);
const ASKED_MS = 400;
const dist = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));

const base = mkdtempSync(join(tmpdir(), 'bench-checks-'));
// The users of sandboxes pass through it.
chmodSync(base, 0o711);
const repositories = join(base, 'repositories');
const origin = join(repositories, 'api');
const author = ['AUTHOR', 'COMMITTER'].flatMap((who) => [[`GIT_${who}_NAME`, 'Ada'], [`GIT_${who}_EMAIL`, 'ada@example.com']]); // prettier-ignore
const gitEnv = { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsync', GIT_CONFIG_VALUE_0: 'none', ...Object.fromEntries(author) }; // prettier-ignore
const shell = (script, options = {}) =>
  execFileSync('sh', ['-euc', script], { env: gitEnv, stdio: ['pipe', 'pipe', 'inherit'], ...options }).toString();

/** 2,000 files of some 4 KB in 100 folders, no two alike. */
function makeRepository() {
  for (let folder = 0; folder < 100; folder++) {
    mkdirSync(join(origin, 'src', `${folder}`), { recursive: true });
    for (let at = 0; at < 20; at++)
      writeFileSync(
        join(origin, 'src', `${folder}`, `${at}.js`),
        `export const x${at} = ${folder * 20 + at};\n`.repeat(150),
      );
  }
  shell('git init -q --initial-branch=main; git add -A; git commit -qm First', { cwd: origin });
  return shell('git rev-parse HEAD', { cwd: origin }).trim();
}

/** By hand, from the pack to the end of `true`. */
function floor(commit, pack) {
  const folder = mkdtempSync(join(base, 'floor-'));
  const began = performance.now();
  shell(
    `git init -q --template= r; cd r; git index-pack --stdin <${pack} >/dev/null; git update-ref HEAD ${commit}
     echo ${commit} >.git/shallow; git read-tree ${commit}; git checkout-index -qfa
     bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc --bind "$PWD" /tmp --chdir /tmp true`,
    { cwd: folder },
  );
  rmSync(folder, { recursive: true });
  return performance.now() - began;
}

const commit = makeRepository();
const pack = join(base, 'files.pack');
shell(`git pack-objects --stdout --revs -q >${pack}`, { cwd: origin, input: `${commit}\n` });
const config = join(base, 'config.json');
writeFileSync(config, JSON.stringify({ repositoryFiles: [repositories], transparency: { tool_activity: true } }));
const env = { DATA_DIR: join(base, 'data'), CONFIG_FILE: config, REDIS_URL: '', DEFAULT_PLAN: 'paid' };
mkdirSync(env.DATA_DIR);
chmodSync(env.DATA_DIR, 0o711);
const port = String(await freePort());
const at = `http://127.0.0.1:${port}`;
const service = await Program.node(dist('main'), { env: { ...env, PORT: port }, url: `${at}/health/ready` });
try {
  const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
  const made = execFileSync(process.execPath, [dist('cli'), ...words], { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit'] }); // prettier-ignore
  const { secret } = JSON.parse(made).key;
  const call = async (method, path, body) => {
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }; // prettier-ignore
    const answer = await fetch(at + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(json)}`);
    return json;
  };
  /** The check of a task whose agent has run this command. */
  const checked = async (does, protect) => {
    const checks = [{ name: 'nothing', command: 'true', protect }];
    const content = `\`\`\`bash\n${does}\n\`\`\``;
    const { task } = await call('POST', '/v1/tasks', { content, model: 'runbook', repository: { url: `file://${origin}` }, checks }); // prettier-ignore
    for (let now = task; now.status !== 'completed'; { task: now } = await call('GET', `/v1/tasks/${task.id}`)) {
      if (now.status === 'failed') throw new Error(JSON.stringify(now.statusReason));
      await delay(100);
    }
    const { events } = await call('GET', `/v1/tasks/${task.id}/events?limit=100`);
    const of = (type) => events.find((event) => event.type === type && event.data.phase === 'after');
    const between = Date.parse(of('check.completed').createdAt) - Date.parse(of('check.started').createdAt);
    await call('DELETE', `/v1/tasks/${task.id}`);
    return [of('check.completed').data.durationMs, between];
  };
  const change =
    'cd repo && for n in 1 2 3 4 5; do echo more >>src/$n/$n.js; done; echo new >src/new.js; rm src/9/9.js';
  const ways = {
    'by hand': () => [floor(commit, pack)],
    'no changes': () => checked('true', []),
    '7 changes': () => checked(change, []),
    '7 changes, 3 protected': () => checked(change, ['src/[123]/*.js']),
  };
  const took = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const [way, measure] of Object.entries(ways)) {
      const figures = await measure();
      // The first one of each warms up.
      if (round >= 0) took[way].push(figures);
    }
  }
  const rows = Object.entries(took).map(([way, all]) => {
    const [whole, between] = [0, 1].map((at) => all.map((figures) => figures[at]));
    return { way, 'median ms': median(whole), p90: percentile(whole, 0.9), ...(way !== 'by hand' && { between: median(between) }) }; // prettier-ignore
  });
  console.log(table(`A check, ${ROUNDS} times each; asked: at most ${ASKED_MS} ms; load ${loadavg()[0]}`, rows));
} finally {
  await service.stop();
  rmSync(base, { recursive: true, force: true });
}
