// From the claim of a task in a prepared environment of 20,000 files to its first command: node bench/environments.mjs. After `npm run build`.
// Asked: 1 s with a spare copy, 3 s with a copy that is made then. The floor is the same task without an environment, in the same run.
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../scripts/free-port.mjs';
import { median } from './figures.mjs';
import { Program } from './processes.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const dist = (name) => fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url));
/** 20,000 files in 400 folders, 230 MB, no two with the same bytes. */
const MAKE = `node -e '
const { mkdirSync, writeFileSync } = require("fs"), { randomBytes } = require("crypto");
for (let d = 0; d < 400; d++) { mkdirSync("f/" + d, { recursive: true }); for (let n = 0; n < 50; n++) writeFileSync("f/" + d + "/" + n + ".js", randomBytes(6000).toString("hex").slice(0, 11500)); }'`;

const dataDir = mkdtempSync(join(tmpdir(), 'bench-environments-'));
// The users of sandboxes pass through it.
chmodSync(dataDir, 0o711);
const env = { DATA_DIR: dataDir, REDIS_URL: '' };
const port = String(await freePort());
const origin = `http://127.0.0.1:${port}`;
const service = await Program.node(dist('main'), { env: { ...env, PORT: port }, url: `${origin}/health/ready` });
try {
  const key = JSON.parse(
    execFileSync(
      process.execPath,
      [dist('cli'), 'key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'],
      { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
    ),
  ).key.secret;
  const call = async (method, path, body) => {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    };
    const answer = await fetch(origin + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(json)}`);
    return json;
  };
  /** Milliseconds from the claim to the time that the first command prints. */
  const first = async (environment) => {
    const content = 'Look.\n\n```bash\ndate +%s%3N\n```\n';
    const { task } = await call('POST', '/v1/tasks', { content, model: 'runbook', environment });
    for (;;) {
      const { task: now } = await call('GET', `/v1/tasks/${task.id}`);
      if (now.status === 'failed') throw new Error(JSON.stringify(now.statusReason));
      if (now.status === 'completed') {
        const { messages } = await call('GET', `/v1/tasks/${task.id}/messages`);
        const [result] = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'));
        return Number(result.output.stdout.trim()) - Date.parse(now.startedAt);
      }
      await delay(20);
    }
  };
  const location = join(dataDir, 'sandbox.location');
  const base = existsSync(location) ? readFileSync(location, 'utf8').trim() : dataDir;
  const prepared = join(base, 'workdirs', '.prepared');
  const [spares, whole] = [/^spare\./, /^whole$/];
  const there = (build, what) => readdirSync(join(prepared, build)).filter((name) => what.test(name));
  const settled = async (build) => {
    while (!existsSync(join(prepared, build)) || there(build, spares).length < 2 || there(build, whole).length < 1)
      await delay(50);
  };

  await call('POST', '/v1/environments', { slug: 'bench', setup: [MAKE] });
  const began = performance.now();
  const { build } = await call('POST', '/v1/environments/bench/build');
  for (let state = ''; state !== 'ready'; await delay(50)) {
    const { builds } = await call('GET', '/v1/environments/bench/builds');
    state = builds[0].state;
    if (state === 'failed') throw new Error(builds[0].log);
  }
  console.log(`build: ${Math.round(performance.now() - began)} ms`);
  const ways = {
    floor: { environment: null, prepare: () => undefined, asked: '' },
    spare: { environment: 'bench', prepare: () => settled(build.id), asked: 'asked 1000' },
    copy: {
      environment: 'bench',
      prepare: async () => {
        await settled(build.id);
        for (const name of there(build.id, spares)) rmSync(join(prepared, build.id, name), { recursive: true });
      },
      asked: 'asked 3000',
    },
    storage: {
      environment: 'bench',
      prepare: async () => {
        await settled(build.id);
        rmSync(join(prepared, build.id), { recursive: true });
      },
      asked: '',
    },
  };
  const took = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [way, { environment, prepare }] of Object.entries(ways)) {
      await prepare();
      took[way].push(await first(environment));
    }
  }
  for (const [way, times] of Object.entries(took)) {
    const all = times.toSorted((a, b) => a - b);
    console.log(`${way.padEnd(8)} median ${Math.round(median(all))} ms, most ${all.at(-1)} ms  ${ways[way].asked}`);
  }
} finally {
  await service.stop();
  execFileSync('chmod', ['-R', 'u+rwX', dataDir]);
  rmSync(dataDir, { recursive: true, force: true });
}
