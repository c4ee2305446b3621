// A trial of an engine: its program is started, and the door itself answers one prompt (reference §30).
import type { Duplex } from 'node:stream';
import type { EngineConfig } from '../../../platform/config/engines.js';
import type { SandboxSession } from '../../sandbox/sandbox.js';
import { WIRES } from '../wires/wires.js';
import { Door } from './door.js';
import { AcpProgram, ProgramError } from './program.js';
import { textBlock } from './prompts.js';

const MODEL = 'trial';
const PROMPT = 'Say that you are ready.';
const ANSWER = 'Ready.';
/** In front of the last figure that the sampler wrote. */
const MARK = 'memory-of-trial';
const FIGURES = new RegExp(`\\s*\\b${MARK} \\d+`, 'g');
const PAGE = 4096;
/**
 * The most that all processes of the box take, looked at four times a second: nobody outside of it sees them. It says what is more by a 32nd alone, so
 * that what the program says is still there.
 */
const SAMPLER = `(m=0; while :; do n=0; for f in /proc/[0-9]*/statm; do read -r _ r _ < "$f" && n=$((n+r)); done 2>/dev/null
  if [ "$n" -gt $((m+m/32)) ]; then m=$n; echo "${MARK} $m" >&2; fi; sleep 0.25; done) &`;
/** How many times its `startSeconds` a program has: a machine that boots, or has never read it from its disk, is slow, and what is late is not broken. */
const PATIENCE = 4;

export interface TriedProgram {
  version: string;
  /** Until it has a session. */
  startMs: number;
  /** The most of all its processes, to a 32nd, pages that they share counted for each; null: not measured. */
  memoryBytes: number | null;
  /** Those that it offered its model, without the hidden ones. */
  tools: string[];
}

/** Rejects with `ProgramError`, and as the sandbox does. @param open opens a sandbox with the door; it is closed by who opens it. */
export async function tryProgram(
  engine: EngineConfig,
  open: (door: (connection: Duplex) => void) => Promise<SandboxSession>,
  signal: AbortSignal,
): Promise<TriedProgram> {
  const wire = WIRES[engine.wire];
  const tools = new Set<string>();
  const door = new Door(wire, {
    ...{ model: MODEL, hide: engine.hide, mcp: null },
    ask: (request, reply) => {
      for (const name of request.tools) tools.add(name);
      reply.send(wire.say(request, { text: ANSWER, calls: [] }));
      return Promise.resolve();
    },
  });
  const session = await open(door.take);
  const patient = {
    ...engine,
    prepare: `${SAMPLER}\n${engine.prepare ?? ''}`,
    startSeconds: PATIENCE * engine.startSeconds,
  };
  let lost: (error: ProgramError) => void = () => undefined;
  const program = new AcpProgram(session, patient, {
    heard: () => undefined,
    call: () => undefined,
    lost: (error) => lost(error),
  });
  const stop = () => void program.close();
  signal.addEventListener('abort', stop);
  const late = setTimeout(stop, patient.startSeconds * 2_000);
  try {
    const began = performance.now();
    await program.start({ network: true, cwd: '/workdir' });
    await program.begin(null, '/workdir', false);
    const startMs = performance.now() - began;
    const ended = new Promise<never>((_, reject) => (lost = reject));
    const reason = await Promise.race([program.prompt([textBlock(PROMPT)]), ended]);
    signal.throwIfAborted();
    if (reason !== 'end_turn') throw new ProgramError(`The engine ${engine.name} ended its turn so: ${reason}.`);
    if (tools.size === 0) throw new ProgramError(`The engine ${engine.name} offered its model no tools at the door.`);
    await program.close();
    return { version: program.version, startMs, memoryBytes: memoryIn(program.lastWords), tools: [...tools].sort() };
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new ProgramError(error.message.replace(FIGURES, '').trim());
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
    await program.close();
    door.close();
  }
}

function memoryIn(words: string): number | null {
  const [, pages] = [...words.matchAll(new RegExp(`^${MARK} (\\d+)$`, 'gm'))].at(-1) ?? [];
  return pages === undefined ? null : Number(pages) * PAGE;
}
