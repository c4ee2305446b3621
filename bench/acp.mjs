// One agent program, driven over its standard input and output as the service drives it, but without a sandbox and without the door.
import { createInterface } from 'node:readline';
import { Program } from './processes.mjs';

/** @param url where it asks its model. @param home a folder of its own, in which it also works. */
export async function startAlone({ definition }, url, home) {
  const filled = (text) => text.replaceAll('{path}', definition.path).replaceAll('{url}', url);
  const env = Object.fromEntries(Object.entries(definition.env ?? {}).map(([name, text]) => [name, filled(text)]));
  const prepare = definition.prepare === undefined ? '' : `{ ${filled(definition.prepare)}\n} </dev/null >&2 && `;
  const words = ['-c', `${prepare}exec "$@"`, 'sh', ...definition.command.map(filled)];
  const options = { env: { ...env, HOME: home }, cwd: home, stdin: 'pipe', ready: () => true };
  const alone = new Alone(await Program.start('sh', words, options), home);
  await alone.begin();
  return alone;
}

class Alone {
  #open = new Map();
  #lastId = 0;

  constructor(program, home) {
    this.program = program;
    this.home = home;
    createInterface({ input: program.child.stdout }).on('line', (line) => this.#take(line));
    // It may be gone.
    program.child.stdin.on('error', () => undefined);
    program.child.once('exit', (code) => {
      for (const { reject } of this.#open.values()) reject(new Error(`The program has ended with ${code}.`));
    });
  }

  async begin() {
    const fs = { readTextFile: false, writeTextFile: false };
    const { agentCapabilities = {} } = await this.#ask('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs, terminal: false },
    });
    ({ sessionId: this.sessionId } = await this.#ask('session/new', { cwd: this.home, mcpServers: [] }));
    if (agentCapabilities.sessionCapabilities?.title)
      await this.#ask('session/set_title', { sessionId: this.sessionId, title: 'A task' });
  }

  async prompt(text) {
    const { sessionId } = this;
    const { stopReason } = await this.#ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
    if (stopReason !== 'end_turn') throw new Error(`The turn ended so: ${stopReason}.`);
  }

  stop() {
    return this.program.stop();
  }

  #write(message) {
    this.program.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #ask(method, params) {
    const id = ++this.#lastId;
    this.#write({ id, method, params });
    return new Promise((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    const { id, method, params, result, error } = message;
    if (method === 'session/request_permission') {
      const chosen = params.options.find(({ kind }) => kind === 'allow_once') ?? params.options[0];
      this.#write({ id, result: { outcome: { outcome: 'selected', optionId: chosen.optionId } } });
    } else if (method === undefined && this.#open.has(id)) {
      const { resolve, reject } = this.#open.get(id);
      this.#open.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error.message));
    }
  }
}
