// What the door of an engine adds to each step of its program: the program alone beside a model that answers at once, and the same program as the
// engine of tasks. Measured by the model: from the end of its answer to the next request. Beside them what two bare commits take in the same minutes.
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { wireOf } from '../eval/wires.mjs';
import { startAlone } from './acp.mjs';
import { ENGINE_ENV, engineConfig, enginePrograms } from './engine-programs.mjs';
import { inRounds, median, percentile } from './figures.mjs';
import { taker } from './tasks.mjs';

const TURNS = 30;
const TRIAL_MS = 180_000;
/** Other words at each step: what is alike but for its figures counts as going in circles, and is looked at more closely. */
const says = (n) => `echo ${'x'.repeat(n + 1)}`;
/** Of the least work. */
const CALLS = {
  small: (n) =>
    n === 0
      ? { name: 'shell', arguments: '{"command":"echo hello > a.txt"}' }
      : { name: 'look', arguments: JSON.stringify({ path: `${'./'.repeat(n)}a.txt` }) },
  codex: (n) => ({ name: 'exec_command', arguments: JSON.stringify({ cmd: says(n) }) }),
  'claude-code': (n) => ({ name: 'Bash', arguments: JSON.stringify({ command: says(n), description: 'Says' }) }),
  opencode: (n) => ({ name: 'bash', arguments: JSON.stringify({ command: says(n), description: 'Says' }) }),
};

/** Answers {@link TURNS} calls of a program, then words. */
class Steps {
  /** Milliseconds between an answer and the next request. */
  gaps = [];
  /** Told of the first answer and of the last one. */
  onEnds = () => undefined;
  #answeredAt = null;

  static async start() {
    const steps = new Steps();
    steps.server = createServer((request, response) => void steps.#serve(request, response));
    steps.server.listen(0, '127.0.0.1');
    await once(steps.server, 'listening');
    steps.origin = `http://127.0.0.1:${steps.server.address().port}`;
    return steps;
  }

  begin(name, onEnds) {
    Object.assign(this, { name, onEnds, gaps: [] });
    this.#answeredAt = null;
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  async #serve(request, response) {
    const at = performance.now();
    if (request.method !== 'POST') return response.writeHead(404).end();
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const wire = wireOf(request.url);
    const { offersTools, results } = wire.read(JSON.parse(Buffer.concat(chunks).toString()));
    const n = results.size;
    const isStep = offersTools && n <= TURNS;
    if (isStep && this.#answeredAt !== null) this.gaps.push(at - this.#answeredAt);
    if (isStep && (n === 0 || n === TURNS)) this.onEnds();
    const calls = isStep && n < TURNS ? [{ id: `call_${n}`, ...CALLS[this.name](n) }] : [];
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const text = calls.length === 0 ? 'Done.' : '';
    response.end(wire.events({ text, calls }, { inputTokens: 100, outputTokens: 10 }));
    if (isStep) this.#answeredAt = performance.now();
  }
}

export async function engine(world, { rounds }) {
  const programs = await enginePrograms();
  const model = await Steps.start();
  try {
    const service = await world.service({ ...ENGINE_ENV, CONFIG_FILE: configFile(world, programs, model) });
    try {
      await tried(service, programs);
      const rows = [];
      for (const program of programs) rows.push(...(await beside(world, service, { program, model, rounds })));
      return rows;
    } finally {
      await service.stop();
    }
  } finally {
    await model.stop();
  }
}

function configFile(world, programs, model) {
  const file = join(world.folder, 'engines.json');
  const given = JSON.parse(readFileSync(join(world.folder, 'config.json'), 'utf8'));
  writeFileSync(file, JSON.stringify({ ...given, titles: false, ...engineConfig(programs, `${model.origin}/v1`) }));
  return file;
}

/** The service has tried all of them, which it does once after its boot. */
async function tried(service, programs) {
  const memory = (text, name) => text.includes(`millwright_engine_memory_bytes{engine="${name}"}`);
  for (const began = performance.now(); ; await delay(500)) {
    const text = await (await fetch(`${service.origin}/metrics`)).text();
    const left = programs.filter(({ name }) => !memory(text, name)).map(({ name }) => name);
    if (left.length === 0) return;
    if (performance.now() - began > TRIAL_MS) throw new Error(`These engines did not start: ${left.join(', ')}.`);
  }
}

/** The program alone, and as an engine, in turns. */
async function beside(world, service, { program, model, rounds }) {
  const { name } = program;
  const perform = taker(world, service.origin, { model: name });
  let made = 0;
  const alone = async () => {
    const home = join(world.folder, `alone-${name}-${made++}`);
    mkdirSync(home);
    const running = await startAlone(program, model.origin, home);
    try {
      return await measured(running.program, () => running.prompt('Begin.'), 'residentMiB');
    } finally {
      await running.stop();
    }
  };
  const measured = async (of, work, memory) => {
    const marks = [];
    model.begin(name, () => marks.push({ cpu: of.cpu * 1000, MiB: of[memory] }));
    await work();
    const [first, last] = marks;
    if (marks.length !== 2 || model.gaps.length !== TURNS)
      throw new Error(`${name} made ${model.gaps.length} steps instead of ${TURNS}.`);
    return {
      'ms/step': median(model.gaps),
      'p90 ms': percentile(model.gaps, 0.9),
      'CPU ms/step': (last.cpu - first.cpu) / TURNS,
      MiB: last.MiB,
    };
  };
  // What a step writes to the record, at the least: itself, and the result of its call.
  const twoCommits = async () => {
    const each = [];
    for (let n = 0; n < TURNS; n++) {
      const began = performance.now();
      for (const note of ['step', 'result']) await world.db.query('INSERT INTO floor.notes VALUES ($1)', [note]);
      each.push(performance.now() - began);
    }
    return { 'ms/step': median(each), 'p90 ms': percentile(each, 0.9) };
  };
  const atDoor = () => measured(service, () => perform('Begin.'), 'startedMiB');
  await world.db.query('CREATE TABLE IF NOT EXISTS floor.notes (text text)');
  for (const warm of [alone, atDoor]) await warm();
  const figures = await inRounds({ alone, 'two bare commits': twoCommits, 'at the door': atDoor }, rounds);
  const [floor, door] = [figures.alone, figures['at the door']];
  const over = { 'ms over alone': door['ms/step'] - floor['ms/step'], 'of alone': door['ms/step'] / floor['ms/step'] };
  return [
    { subject: `${name}, alone`, ...floor },
    { subject: 'two bare commits', ...figures['two bare commits'] },
    { subject: `${name}, at the door`, ...door, ...over },
  ];
}
