// The service as a child process of the demo, and the operator command beside it.
import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from './setup.mjs';

const HOST = '127.0.0.1';
const BOOT_MS = 60_000;
/** The service hands running work back within 10 s of a SIGTERM. */
const STOP_MS = 20_000;

export class Service {
  url = '';
  #env = {};
  #child = null;
  /** Resolves with the reason when the process has ended. */
  exited = new Promise((resolve) => (this.onExit = resolve));

  constructor(logPath) {
    this.logPath = logPath;
  }

  /** Starts it and waits until it answers. */
  async start(env, progress) {
    const port = await choosePort(process.env.PORT);
    this.#env = { ...process.env, ...env, HOST, PORT: String(port) };
    this.url = `http://${HOST}:${port}`;
    const log = openSync(this.logPath, 'w', 0o600);
    this.#child = spawn(process.execPath, [join(ROOT, 'dist', 'main.js')], {
      cwd: ROOT,
      env: this.#env,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child.once('error', (error) => this.onExit(error.message));
    this.#child.once('exit', (code, signal) => this.onExit(signal ?? `exit code ${code}`));
    // However this program ends, short of a SIGKILL, the service ends with it.
    process.once('exit', () => this.kill());
    await this.#ready(progress);
  }

  async #ready(progress) {
    const started = Date.now();
    while (Date.now() - started < BOOT_MS) {
      progress(`booting · ${Math.round((Date.now() - started) / 1000)} s`);
      // The port is opened only when everything is ready, so any answer will do.
      const asked = fetch(`${this.url}/health/live`, { signal: AbortSignal.timeout(2000) }).then(
        (response) => response.body?.cancel().then(() => 'ready') ?? 'ready',
        () => 'not yet',
      );
      const state = await Promise.race([asked, this.exited.then((reason) => ({ reason }))]);
      if (state === 'ready') return;
      if (typeof state === 'object') throw new Error(`the service did not start (${state.reason})`);
      await delay(100);
    }
    throw new Error(`the service did not answer at ${this.url} within ${BOOT_MS / 1000} s`);
  }

  /** Runs the operator command on the same configuration; its JSON object. */
  async cli(...args) {
    const command = [join(ROOT, 'dist', 'cli.js'), ...args, '--json'];
    const options = { cwd: ROOT, env: this.#env, timeout: 60_000 };
    try {
      const { stdout } = await promisify(execFile)(process.execPath, command, options);
      return JSON.parse(stdout);
    } catch (error) {
      const said = (error.stderr ?? '').trim() || error.message;
      throw new Error(`${args.slice(0, 2).join(' ')}: ${said}`, { cause: error });
    }
  }

  /** Stops it and waits for its end. */
  async stop() {
    if (this.#child === null || !this.#running()) return;
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.kill(), STOP_MS);
    await this.exited;
    clearTimeout(late);
  }

  kill() {
    if (this.#running()) this.#child?.kill('SIGKILL');
  }

  #running() {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of its log, for a failure. */
  tail(lines = 40) {
    try {
      const end = readFileSync(this.logPath, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
      return `The end of ${this.logPath}:\n${end}`;
    } catch {
      return 'The service has written no log.';
    }
  }
}

/** The port that was asked for; without one 3000, or any free one when that is taken. */
async function choosePort(wanted) {
  if (wanted !== undefined && wanted !== '' && wanted !== '0') return Number(wanted);
  if (wanted !== '0' && (await listenOnce(3000)) !== null) return 3000;
  return listenOnce(0);
}

function listenOnce(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, HOST, () => {
      const free = server.address().port;
      server.close(() => resolve(free));
    });
  });
}
