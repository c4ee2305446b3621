import { z } from 'zod';
import { sandboxLimitsOf } from '../../../platform/config/config-file.js';
import { Env } from '../../../platform/config/env.js';
import { isTruncatedCommand, MOST_CHARACTERS } from '../../models/result-text.js';
import type { RunResult } from '../../sandbox/sandbox.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { noNul, toolText } from './tool-text.js';
import { WholeOutput } from './whole-output.js';

const parameters = z.strictObject({
  command: z.string().min(1).max(200_000).refine(noNul, 'a NUL character cannot be part of a command'),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name is expected'),
      z.string().max(100_000).refine(noNul),
    )
    .optional()
    .describe('Extra environment variables.'),
  timeoutSeconds: z.int().positive().max(86_400).optional(),
  cwd: z.string().min(1).refine(noNul).optional().describe('Folder to run in; default /workdir.'),
  repeatable: z.boolean().optional().describe('It may run again.'),
});

/** Bytes of a stream that are on record: a little more than the third and the two thirds that a model reads. */
const KEPT = { first: 10_923, last: 21_845 };
/** Below the 256 KiB of the loop, because truncating there would break the result's JSON. */
const RESULT_BYTES = 240 * 1024;

const OUT_OF_BUDGET = 'the time that the budget gives the turn was over';
/** For a command that is given no time of its own: what takes longer was seldom meant to. */
export const COMMAND_SECONDS = 120;

@Plugin(AgentTool, 'bash')
export class BashTool extends AgentTool<typeof parameters> {
  readonly name = 'bash';
  readonly description: string;
  readonly parameters = parameters;
  readonly repeatable = false;
  override readonly aliases = { command: ['cmd', 'script'], cwd: ['workdir', 'working_directory', 'directory', 'dir'] };
  /** Seconds that a command may have at most, and those that it has by default. */
  private readonly most: number;
  private readonly usual: number;

  constructor(env: Env) {
    super();
    this.most = sandboxLimitsOf(env.file).wallClockSeconds;
    this.usual = Math.min(COMMAND_SECONDS, this.most);
    this.description = toolText('bash').replace('{usual}', String(this.usual)).replace('{most}', String(this.most));
  }

  async execute({ command, ...options }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const session = await context.sandbox();
    const { env, cwd } = options;
    const most = session.wallClockSeconds ?? this.most;
    const asked = Math.min(options.timeoutSeconds ?? this.usual, most);
    const timeoutSeconds = Math.min(asked, context.secondsLeft ?? asked);
    const begun = performance.now();
    const { resultCharacters = MOST_CHARACTERS, keepWhole, progress } = context;
    const whole = keepWhole === undefined ? null : new WholeOutput(resultCharacters, keepWhole);
    try {
      const result = await session.run(command, {
        keep: KEPT,
        network: true,
        prepared: true,
        ...(env === undefined ? {} : { env }),
        timeoutSeconds,
        ...(cwd === undefined ? {} : { cwd }),
        onOutput: (which, chunk) => {
          progress?.(which === 0 ? 'stdout' : 'stderr', chunk);
          return whole?.add(which, chunk);
        },
        keepsOutput: () => whole?.isKept === true,
      });
      const { streams } = result;
      const ms = Math.round(performance.now() - begun);
      const output = outputOf(result, timeoutSeconds < asked ? OUT_OF_BUDGET : overtime(asked, most));
      const forModel = { ms, ...(streams === undefined ? {} : { streams }) };
      const file = (await whole?.end(() => isTruncatedCommand(output, forModel, resultCharacters))) ?? null;
      return { status: 'success', output, forModel: { ...forModel, ...(file === null ? {} : { whole: file }) } };
    } catch (error) {
      whole?.destroy();
      throw error;
    }
  }

  override mayRunAgain({ repeatable }: z.output<typeof parameters>): boolean {
    return repeatable === true;
  }

  override approvalQuestion({ command, repeatable }: z.output<typeof parameters>): string {
    const again = repeatable ? ', and again from its beginning if the service is interrupted meanwhile' : '';
    return `May the agent run this command (bash)${again}?\n\n${command}`;
  }
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
