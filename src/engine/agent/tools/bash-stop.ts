import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { commandsOf } from './bash-output.js';
import { progressNote } from './command-text.js';
import { toolText } from './tool-text.js';

const parameters = z.strictObject({ id: z.string() });

/** Stops a command that goes on beyond its call (reference §27.2). */
@Plugin(AgentTool, 'bash_stop')
export class BashStopTool extends AgentTool<typeof parameters> {
  readonly name = 'bash_stop';
  readonly description = toolText('bash_stop');
  readonly parameters = parameters;
  readonly repeatable = false;
  override readonly changes = false;
  override readonly patches = false;
  override readonly aliases = { id: ['bash_id', 'shell_id', 'command_id'] };

  async execute({ id }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const command = commandsOf(context).find(id);
    await command.stop(true);
    return success(progressNote(command, {}));
  }
}
