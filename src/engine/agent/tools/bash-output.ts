import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import type { JsonValue } from '../../models/conversation.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import type { RunCommands } from '../commands/run-commands.js';
import { statusOf } from '../commands/input-commands.js';
import { progressNote, recordNote } from './command-text.js';
import { toolText, within } from './tool-text.js';

/** The tools for commands that go on beyond their calls: of no use to a task where none does. */
export const GOING_ON = ['bash_input', 'bash_output', 'bash_stop', 'write_stdin'];

const parameters = z.strictObject({
  id: z.string().optional(),
  waitSeconds: z.number().transform(within(0, 120)).default(0),
  from: z.number().transform(within(0, Number.MAX_SAFE_INTEGER)).optional(),
});

/** Reads a command that goes on beyond its call (reference §27.2). */
@Plugin(AgentTool, 'bash_output')
export class BashOutputTool extends AgentTool<typeof parameters> {
  readonly name = 'bash_output';
  readonly description = toolText('bash_output');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes = false;
  override readonly changesNothing = true;
  override readonly patches = false;
  override readonly aliases = { id: ['bash_id', 'command_id'] };

  async execute({ id, waitSeconds, from }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const commands = commandsOf(context);
    if (id === undefined) return success(listed(commands));
    const earlier = commands.earlierOf(id);
    if (earlier !== undefined) return success(recordNote(earlier));
    const command = commands.find(id);
    await command.wait(waitSeconds, context);
    return success(progressNote(command, from === undefined ? {} : { from }));
  }
}

/** Throws an error for the model where no command may go on. */
export function commandsOf({ commands }: ToolContext): RunCommands {
  if (commands == null) throw new Error('No command goes on in this task: each ends with its call.');
  return commands;
}

function listed(commands: RunCommands): JsonValue {
  const earlier = commands.earlier.map((one) => {
    const { number, command, exitCode } = one;
    return { id: `b${number}`, command, status: statusOf(one), exitCode };
  });
  return [...earlier, ...commands.all.map(({ id, command, status, exitCode }) => ({ id, command, status, exitCode }))];
}
