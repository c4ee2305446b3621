// The processes of one round: the api, and all workers in as few processes as hold them.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Program } from '../processes.mjs';

const PROCESS = fileURLToPath(new URL('./process.mjs', import.meta.url));
/** Workers of a process. Its event loop must come round in time to renew their leases. */
const TOGETHER = 10;
const PATIENCE_MS = 300_000;

export class Crew {
  constructor(api, workers) {
    this.api = api;
    this.workers = workers;
    for (const { child } of [api, ...workers])
      child.once('exit', (code, signal) => (this.ended ??= `${code ?? signal}`));
  }

  /**
   * @param variables of the service, for all.
   * @param apiVariables over those, for the api.
   */
  static async start(count, { turns, thinkMs, variables, apiVariables }) {
    const names = Array.from({ length: count }, (_, n) => `worker-${n}`);
    const programs = [];
    try {
      // One after the other: a worker that waits for a core for 5 s while it boots gives PostgreSQL up.
      programs.push(await start(['api'], { turns, thinkMs, variables: { ...variables, ...apiVariables } }));
      for (let n = 0; n < count; n += TOGETHER) {
        const some = { turns, thinkMs, variables: { ...variables, ROLE: 'worker' } };
        programs.push(await start(names.slice(n, n + TOGETHER), some));
      }
      return new Crew(programs[0], programs.slice(1));
    } catch (error) {
      await Promise.all(programs.map((program) => program.stop()));
      throw error;
    }
  }

  get origin() {
    return `http://127.0.0.1:${this.api.port}`;
  }

  /** CPU seconds of all workers so far. */
  get cpu() {
    return this.workers.reduce((sum, { cpu }) => sum + cpu, 0);
  }

  get residentMiB() {
    return this.workers.reduce((sum, { residentMiB }) => sum + residentMiB, 0);
  }

  /** What was counted since it was last asked, of all workers together. */
  async figures() {
    const all = await this.#ask('figures');
    return Object.fromEntries(
      Object.keys(all[0]).map((name) => [
        name,
        Array.isArray(all[0][name]) ? all.flatMap((one) => one[name]) : all.reduce((sum, one) => sum + one[name], 0),
      ]),
    );
  }

  /** What the model has answered more than once, of all workers together. */
  async answeredTwice() {
    const times = new Map();
    for (const { answers } of await this.#ask('answers'))
      for (const [which, count] of answers) times.set(which, (times.get(which) ?? 0) + count);
    return [...times].filter(([, count]) => count > 1).map(([which]) => which);
  }

  /** Throws when one of them has ended. */
  check() {
    if (this.ended !== undefined) throw new Error(`A process of the simulation has ended with ${this.ended}.`);
  }

  async stop() {
    await Promise.all([this.api, ...this.workers].map((program) => program.stop()));
  }

  #ask(ask) {
    this.check();
    return Promise.all(
      this.workers.map(async ({ child }) => {
        child.send({ ask });
        const [answer] = await once(child, 'message');
        return answer;
      }),
    );
  }
}

async function start(names, simulation) {
  let port;
  const program = await Program.node(PROCESS, {
    env: { NODE_ENV: 'production', SIMULATION: JSON.stringify({ names, ...simulation }) },
    ipc: true,
    patienceMs: PATIENCE_MS,
    ready: ({ child }) => {
      if (port === undefined && child.listenerCount('message') === 0)
        child.once('message', (said) => (port = said.port));
      return port !== undefined;
    },
  });
  return Object.assign(program, { port });
}
