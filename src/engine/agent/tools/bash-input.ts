import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import type { AgentCommand } from '../commands/agent-command.js';
import { isKey, KEYS, typed } from '../commands/keys.js';
import { commandsOf } from './bash-output.js';
import { progressNote } from './command-text.js';
import { toolText, within } from './tool-text.js';

/** Bytes of input of one call. */
const MOST = 64 * 1024;
export const INTERRUPT = '\x03';
const END = '\x04';

const parameters = z.strictObject({
  id: z.string(),
  text: z.string().optional(),
  keys: z
    .array(z.string().refine(isKey, `there is no such key; there are ${KEYS}`))
    .max(1_000)
    .optional(),
  end: z.boolean().optional(),
  waitSeconds: z.number().transform(within(0, 120)).default(1),
});

/** Gives input to a command that goes on beyond its call (reference §27.2). */
@Plugin(AgentTool, 'bash_input')
export class BashInputTool extends AgentTool<typeof parameters> {
  readonly name = 'bash_input';
  readonly description = toolText('bash_input');
  readonly parameters = parameters;
  readonly repeatable = false;
  override readonly patches = false;
  override readonly aliases = { id: ['bash_id', 'command_id'], text: ['input', 'chars'] };

  override needsCommands(): boolean {
    return true;
  }

  async execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { id, text = '', keys = [], end = false, waitSeconds } = input;
    const command = commandsOf(context).find(id);
    give(command, text + typed(keys), end);
    await command.wait(waitSeconds, context, true);
    return success(progressNote(command, {}));
  }

  override approvalQuestion({ id, text = '', keys = [] }: z.output<typeof parameters>): string {
    return `May the agent type this in the command ${id} (bash_input)?\n\n${text}${keys.join(' ')}`;
  }
}

/**
 * Throws an error for the model when the command takes none. Without a terminal, what interrupts and what ends it are no bytes.
 * @param name of the command, as the model knows it.
 */
export function give(command: AgentCommand, bytes: string, end: boolean, name = `command ${command.id}`): void {
  const { terminal, status } = command;
  if (Buffer.byteLength(bytes) > MOST) {
    throw new Error(
      `One call gives at most ${MOST} bytes of input, this one had ${Buffer.byteLength(bytes)}. Nothing was given.`,
    );
  }
  if (status !== 'running') throw new Error(`The ${name} does not run any more (${status}). Nothing was given.`);
  if (!terminal && bytes === INTERRUPT) return command.interrupt();
  const ends = end || (!terminal && bytes.endsWith(END));
  const text = bytes.endsWith(END) ? bytes.slice(0, -1) : bytes;
  const given = terminal ? bytes : text.replaceAll('\r', '\n');
  if (given !== '' && !command.write(given)) {
    throw new Error(
      `The ${name} takes no input: its input has ended, or it has not read what it was given before. Nothing was given.`,
    );
  }
  if (ends) command.endInput();
}
