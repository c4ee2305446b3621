import { z } from 'zod';
import type { RunResult } from '../../sandbox/sandbox.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { cutMiddle, noNul, toolText } from './tool-text.js';

const parameters = z.strictObject({
  command: z.string().min(1).max(200_000).refine(noNul, 'a NUL character cannot be part of a command'),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name is expected'),
      z.string().max(100_000).refine(noNul),
    )
    .optional()
    .describe('Extra environment variables.'),
  timeoutSeconds: z.int().positive().max(86_400).optional().describe('Default and most: the limit of the sandbox.'),
  cwd: z.string().min(1).refine(noNul).optional().describe('Folder to run in; default /workdir.'),
});

/** Characters of a stream that a model is shown: 32,768 are about 8,000 tokens. */
const SHOWN = 32_768;
/** Below the 256 KiB of the loop, because a cut there would lose the shape of the result. */
const RESULT_BYTES = 240 * 1024;

@Plugin(AgentTool, 'bash')
export class BashTool extends AgentTool<typeof parameters> {
  readonly name = 'bash';
  readonly description = toolText('bash');
  readonly parameters = parameters;
  readonly repeatable = false;

  async execute({ command, ...options }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const session = await context.sandbox();
    const { env, timeoutSeconds, cwd } = options;
    const result = await session.run(command, {
      ...(env === undefined ? {} : { env }),
      ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    return success(outputOf(result));
  }

  override approvalQuestion({ command }: z.output<typeof parameters>): string {
    return `May the agent run this command (bash)?\n\n${command}`;
  }
}

function outputOf(result: RunResult) {
  // Control characters take six bytes each in JSON, so a few binary outputs need a shorter cut.
  for (let max = SHOWN; ; max /= 2) {
    const stdout = cutMiddle(result.stdout, max);
    const stderr = cutMiddle(result.stderr, max);
    const output = {
      exitCode: result.exitCode,
      stdout: stdout.text,
      stderr: stderr.text + killNote(result, stderr.text),
      truncated: result.truncated || stdout.cut || stderr.cut,
    };
    if (Buffer.byteLength(JSON.stringify(output)) <= RESULT_BYTES) return output;
  }
}

const REASONS = {
  timeout: 'its time limit was reached',
  output: 'it wrote more output than allowed',
  disk: 'the workdir was full',
  memory: 'its processes held more memory than allowed',
};

function killNote({ killed }: RunResult, before: string): string {
  if (killed === null) return '';
  return `${before === '' || before.endsWith('\n') ? '' : '\n'}[The command was killed: ${REASONS[killed]}.]`;
}
