import { z } from 'zod';
import { sandboxLimitsOf } from '../../../platform/config/config-file.js';
import { Env } from '../../../platform/config/env.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { runCommand } from './run-command.js';
import { noNul, toolText, within } from './tool-text.js';

const parameters = z.strictObject({
  command: z.string().min(1).max(200_000).refine(noNul, 'a NUL character cannot be part of a command'),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name is expected'),
      z.string().max(100_000).refine(noNul),
    )
    .optional(),
  timeoutSeconds: z.int().positive().max(86_400).optional(),
  cwd: z.string().min(1).refine(noNul).optional(),
  repeatable: z.boolean().optional(),
  background: z.boolean().optional(),
  terminal: z.boolean().optional(),
  yieldSeconds: z.number().transform(within(0, 120)).optional(),
  onTimeout: z.enum(['background']).optional(),
});

/** What a command in the background has said by then comes with the result of its call. */
const BACKGROUND_SECONDS = 1;
/** For a command that is given no time of its own: what takes longer was seldom meant to. */
export const COMMAND_SECONDS = 120;

@Plugin(AgentTool, 'bash')
export class BashTool extends AgentTool<typeof parameters> {
  readonly name = 'bash';
  readonly description: string;
  readonly parameters = parameters;
  readonly repeatable = false;
  override readonly patches = false;
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

  execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { background = false, terminal = false, yieldSeconds, onTimeout, ...asked } = input;
    const interactive = background || terminal;
    const after = yieldSeconds ?? (interactive ? BACKGROUND_SECONDS : null);
    const timeoutSeconds = onTimeout === undefined ? asked.timeoutSeconds : undefined;
    const how = this.needsCommands(input) ? { after, timeoutSeconds, terminal, takesInput: interactive } : null;
    return runCommand({ ...asked, goesOn: how }, context, { usual: this.usual, most: this.most });
  }

  /** What goes on is never started again by itself, and may have come to that. */
  override mayRunAgain(input: z.output<typeof parameters>): boolean {
    return input.repeatable === true && !this.needsCommands(input);
  }

  override needsCommands({ background, terminal, yieldSeconds, onTimeout }: z.output<typeof parameters>): boolean {
    return background === true || terminal === true || yieldSeconds !== undefined || onTimeout !== undefined;
  }

  override approvalQuestion({ command, repeatable }: z.output<typeof parameters>): string {
    const again = repeatable ? ', and again from its beginning if the service is interrupted meanwhile' : '';
    return `May the agent run this command (bash)${again}?\n\n${command}`;
  }
}
