// Other agents as subjects: installed outside of the repository, driven by the same player through their own tools. Their commands run on
// this machine without our sandbox; they are the player's, which are known.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readTree, writeTree } from './checks.mjs';
import { companions } from './repairs.mjs';
import { CODEX, OPENCODE } from './tools.mjs';

const PACKAGES = ['opencode-ai@1.18.33', '@openai/codex@0.169.0'];
const TASK_MS = 300_000;

/** Installs what is missing, once for all evaluations of this user. Resolves with the folder of the programs. */
export async function installPeers() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(cache, 'millwright-eval', PACKAGES.join(' ').replace(/[^\w.]+/g, '-'));
  const done = join(folder, 'installed');
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', ...PACKAGES];
    await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
    writeFileSync(done, '');
  }
  return join(folder, 'node_modules', '.bin');
}

/** One agent program. `tools` are the player's names for its tools, `line` the command line and environment of a task. */
export class Peer {
  #child = null;

  constructor(name, { tools, line }) {
    this.name = name;
    this.tools = tools;
    this.line = line;
    this.home = mkdtempSync(join(tmpdir(), 'millwright-peer-'));
  }

  /** The files lie in the folder where the program is started; nothing is unpacked and nothing handed over. */
  place({ name }) {
    return { root: join(this.home, 'work', name), folder: 'files', unpack: null, handOver: () => [] };
  }

  async make(repair) {
    const { root, folder } = this.place(repair);
    rmSync(root, { recursive: true, force: true });
    writeTree(join(root, folder), new Map([...repair.files, ...companions(repair)]));
    const began = performance.now();
    const status = await this.#run(root, `${repair.title}\n\n${repair.problem}\n\nThe files are in the folder files.`);
    return { files: readTree(join(root, folder)), wallMs: performance.now() - began, status };
  }

  async #run(cwd, words) {
    const { command, args, env } = this.line(this.home);
    const own = { PATH: process.env.PATH, HOME: this.home, ...env };
    this.#child = spawn(command, [...args, words], { cwd, env: own, stdio: 'ignore', detached: true });
    const late = setTimeout(() => this.#end(), TASK_MS);
    try {
      const [code, signal] = await once(this.#child, 'exit');
      return code === 0 ? 'completed' : `exit ${code ?? signal}`;
    } finally {
      clearTimeout(late);
      this.#end();
    }
  }

  /** Ends the program with all that it started: they are a group of their own. */
  #end() {
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // It was never started, or nothing of it is left.
    }
  }

  async stop() {
    this.#end();
    // What ends may write until it has ended.
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Both, as they ask the model server at `url`. Nothing is updated, shared or reported. */
export function peers(programs, url) {
  return [new Peer('opencode', opencode(programs, url)), new Peer('codex', codex(programs, url))];
}

function opencode(programs, url) {
  const config = {
    provider: {
      player: {
        npm: '@ai-sdk/openai-compatible',
        name: 'player',
        options: { baseURL: url, apiKey: 'none' },
        models: { player: { name: 'player', limit: { context: 200_000, output: 32_000 } } },
      },
    },
    model: 'player/player',
    small_model: 'player/player',
    autoupdate: false,
    share: 'disabled',
    lsp: false,
    permission: { '*': 'allow' },
  };
  const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' };
  return { tools: OPENCODE, line: () => ({ command: join(programs, 'opencode'), args: ['run'], env }) };
}

/** With a model that Codex knows, because only to those it offers its tool for patches. */
function codex(programs, url) {
  const settings = {
    model: '"gpt-5.5"',
    model_provider: '"player"',
    'model_providers.player': `{name="player",base_url="${url}",wire_api="responses"}`,
    check_for_update_on_startup: 'false',
    'analytics.enabled': 'false',
  };
  const words = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...words];
  return { tools: CODEX, line: (home) => ({ command: join(programs, 'codex'), args, env: { CODEX_HOME: home } }) };
}
