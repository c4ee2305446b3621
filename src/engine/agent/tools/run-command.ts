// How a command of the agent is carried out, by whatever tool it is asked for: to its end, or until it goes on beyond the call.
import { isTruncatedCommand, MOST_CHARACTERS } from '../../models/result-text.js';
import type { RunResult } from '../../sandbox/run-result.js';
import type { RunOptions, SandboxSession } from '../../sandbox/sandbox.js';
import type { ToolContext, ToolOutcome } from '../agent-tool.js';
import type { AgentCommand } from '../commands/agent-command.js';
import type { RunCommands } from '../commands/run-commands.js';
import { progressNote } from './command-text.js';
import { WholeOutput } from './whole-output.js';

/** Bytes of a stream that are on record: a little more than the third and the two thirds that a model reads. */
const KEPT = { first: 10_923, last: 21_845 };
/** Below the 256 KiB of the loop, because truncating there would break the result's JSON. */
const RESULT_BYTES = 240 * 1024;
const OUT_OF_BUDGET = 'the time that the budget gives the turn was over';
/** Why a command cannot go on beyond its call. */
const ENDS_WITH_CALL =
  'This task asks a person before each command, and that ends the run and all that runs in it: no command goes on in the background here. Run it to its end.';

interface GoingOn<T> {
  /** It goes on when it still runs after so many seconds; null of them: after its time limit. */
  after: T;
  /** Seconds after which it is ended; undefined: those of the run. */
  timeoutSeconds?: number | undefined;
  terminal: boolean;
  takesInput: boolean;
}

export interface AskedCommand {
  command: string;
  env?: Record<string, string> | undefined;
  cwd?: string | undefined;
  timeoutSeconds?: number | undefined;
  /** Null: it ends with the call. */
  goesOn: GoingOn<number | null> | null;
}

/** @param limits seconds that a command has by default, and at most where the session does not say it. */
export async function runCommand(
  asked: AskedCommand,
  context: ToolContext,
  limits: { usual: number; most: number },
): Promise<ToolOutcome> {
  const { goesOn, command, env, cwd } = asked;
  const commands = context.commands ?? null;
  if (goesOn !== null && commands === null) throw new Error(ENDS_WITH_CALL);
  const session = await context.sandbox();
  // It may read what the others have said so far.
  await commands?.logsWritten();
  const most = session.wallClockSeconds ?? limits.most;
  const seconds = Math.min(asked.timeoutSeconds ?? limits.usual, most);
  const timeoutSeconds = Math.min(seconds, context.secondsLeft ?? seconds);
  const begun = performance.now();
  const { resultCharacters = MOST_CHARACTERS, keepWhole, progress, signal } = context;
  const whole = keepWhole === undefined ? null : new WholeOutput(resultCharacters, keepWhole);
  const options: RunOptions = {
    keep: KEPT,
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    onOutput: (which, chunk) => {
      progress?.(which === 0 ? 'stdout' : 'stderr', chunk);
      return whole?.add(which, chunk);
    },
  };
  try {
    const ended =
      goesOn === null || commands === null
        ? await toItsEnd(session, command, { ...options, timeoutSeconds, keepsOutput: () => whole?.isKept === true })
        : await untilItGoesOn(commands, { ...goesOn, after: goesOn.after ?? timeoutSeconds });
    if ('going' in ended) {
      whole?.destroy();
      return { status: 'success', output: progressNote(ended.going, { most: resultCharacters }) };
    }
    const { streams } = ended;
    const ms = Math.round(performance.now() - begun);
    const output = outputOf(ended, timeoutSeconds < seconds ? OUT_OF_BUDGET : overtime(seconds, most));
    const forModel = { ms, ...(streams === undefined ? {} : { streams }) };
    const file = (await whole?.end(() => isTruncatedCommand(output, forModel, resultCharacters))) ?? null;
    return { status: 'success', output, forModel: { ...forModel, ...(file === null ? {} : { whole: file }) } };
  } catch (error) {
    whole?.destroy();
    throw error;
  }

  async function untilItGoesOn(
    all: RunCommands,
    { after, ...how }: GoingOn<number>,
  ): Promise<RunResult | { going: AgentCommand }> {
    const { command: going, ended } = await all.launch(session, command, { ...options, ...how });
    await going.wait(after, { signal });
    if (going.status !== 'running' && !how.terminal) return ended;
    all.keep(going, context.toolCallId);
    return { going };
  }
}

function toItsEnd(session: SandboxSession, command: string, options: RunOptions): Promise<RunResult> {
  return session.run(command, { ...options, shared: true, prepared: true });
}

/** What is said of a command that took longer, for the model. @param most what it could have had. */
function overtime(seconds: number, most: number): string {
  const advice =
    seconds < most
      ? `Give it more by timeoutSeconds, at most ${most}, or run a part of it`
      : 'That is the most there is: run a part of it';
  return `its time limit of ${seconds} s was reached. ${advice}`;
}

function outputOf(result: RunResult, overtime: string) {
  const { exitCode, stdout, stderr, truncated } = result;
  const output = { exitCode, stdout, stderr: stderr + killNote(result, overtime), truncated };
  if (Buffer.byteLength(JSON.stringify(output)) <= RESULT_BYTES) return output;
  // Control characters take six bytes each in JSON. Binary output is full of them, and says nothing to anybody.
  return { ...output, stdout: withoutControls(stdout), stderr: withoutControls(output.stderr) };
}

// eslint-disable-next-line no-control-regex -- they are what is looked for
const withoutControls = (text: string) => text.replace(/[\0-\x08\x0b-\x1f\x7f]/g, '\uFFFD');

const REASONS = {
  output:
    'there was no room for its output any more. The folder /tmp/output takes it, when it is one. If a file with the output is named here, read what you need of it and delete it. ' +
    'Run the command again with less output: use quieter flags, or send it through head, tail or grep',
  disk: 'the workdir with /tmp and ~ was full, or the disk of the service. Delete files that are not needed, its own output too',
  memory: 'its processes held more memory than allowed',
};

function killNote({ killed, stderr }: RunResult, overtime: string): string {
  if (killed === null) return '';
  return `${stderr === '' || stderr.endsWith('\n') ? '' : '\n'}[The command was killed: ${killed === 'timeout' ? overtime : REASONS[killed]}.]`;
}
