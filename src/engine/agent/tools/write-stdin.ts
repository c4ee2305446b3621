import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { statusOf } from '../commands/input-commands.js';
import { give, INTERRUPT } from './bash-input.js';
import { commandsOf } from './bash-output.js';
import { progressNote, recordNote } from './command-text.js';
import { asSession, charactersOf, named } from './exec-command.js';
import { toolText, within } from './tool-text.js';

const parameters = z.strictObject({
  session_id: z.number(),
  chars: z.string().default(''),
  yield_time_ms: z.number().transform(within(250, 120_000)).optional(),
  max_output_tokens: z.number().transform(within(1, 1_000_000)).optional(),
});

/** In place of `bash_output` and `bash_input` for the models that were trained on it. */
@Plugin(AgentTool, 'write_stdin')
export class WriteStdinTool extends AgentTool<typeof parameters> {
  readonly name = 'write_stdin';
  readonly description = toolText('write_stdin');
  readonly parameters = parameters;
  readonly repeatable = false;
  override readonly patches = true;
  override readonly standsFor = 'bash_input';

  override needsCommands(): boolean {
    return true;
  }

  async execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { session_id: id, chars, yield_time_ms: ms, max_output_tokens: tokens } = input;
    const commands = commandsOf(context);
    const earlier = commands.earlierOf(`b${id}`);
    if (earlier !== undefined && chars === '') return asSession(success(recordNote(earlier)));
    if (earlier !== undefined) throw new Error(`The session ${id} does not run any more (${statusOf(earlier)}).`);
    const command = commands.numbered(id);
    if (command === undefined) throw new Error(`There is no session ${id} in this run: ${named(commands)}.`);
    // These models have nothing else that ends what does not heed it.
    if (chars === INTERRUPT && !command.terminal && command.interrupted) await command.stop(true);
    else if (chars !== '') give(command, chars, false, `session ${id}`);
    await command.wait((ms ?? (chars === '' ? 5_000 : 1_000)) / 1000, context, chars !== '');
    return asSession(success(progressNote(command, { most: charactersOf(tokens, context) })));
  }
}
