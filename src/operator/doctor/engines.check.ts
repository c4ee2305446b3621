// The engines of the configuration: each is started in a sandbox of a trial, where the door itself answers one prompt (reference §30).
import { enginesIn } from '../../platform/config/config-file.js';
import type { EngineConfig } from '../../platform/config/engines.js';
import { redactor, secretsOf } from '../../platform/logging/redaction.js';
import { tryEngine } from '../engines/try-engine.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { inMs, reasonOf } from './words.js';

const ADVICE = 'docs/operating.md says how engines are laid out and configured. Tasks of its models fail.';
const UNKNOWN =
  'Name those that only read in "reads" of the engine, and in "hide" what no task should have; the others are asked about where a task asks.';
const LATE = 'Set its "startSeconds" higher, or give the machine more room: tasks of its models fail.';
const MIB = 1024 ** 2;

export const enginesCheck: Check = {
  name: 'engines',
  limitMs: 900_000,
  async run(at, signal) {
    if (!at.env.runsWork) return [];
    const found: Finding[] = [];
    // One after another: each takes some hundred MiB.
    for (const engine of enginesIn(at.env.file)) found.push(await examined(engine, at, signal));
    return found;
  },
};

async function examined(engine: EngineConfig, at: Examination, signal: AbortSignal): Promise<Finding> {
  const name = `engine ${engine.name}`;
  try {
    const { version, startMs, memoryBytes, tools } = await tryEngine(at.env, engine, at.dataDir?.path ?? null, signal);
    const memory = memoryBytes === null ? '' : `, ${Math.round(memoryBytes / MIB)} MiB`;
    const told = `Version ${version}, ready after ${inMs(startMs)}${memory}, ${tools.length} tools.`;
    const { startSeconds } = engine;
    if (startMs > startSeconds * 1000) return warn(name, `${told} In a task it has ${startSeconds} s for that.`, LATE);
    const unknown = tools.filter((tool) => !engine.reads.includes(tool));
    if (unknown.length === 0) return ok(name, told);
    return warn(name, `${told} Neither in hide nor in reads: ${unknown.join(', ')}.`, UNKNOWN);
  } catch (error) {
    return fail(name, redactor(secretsOf(at.env))(reasonOf(error)), ADVICE);
  }
}
