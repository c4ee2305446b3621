import { z } from 'zod';
import { sandboxLimitsOf } from '../../../platform/config/config-file.js';
import { Env } from '../../../platform/config/env.js';
import { isJsonObject, type JsonValue } from '../../models/conversation.js';
import { MOST_CHARACTERS } from '../../models/result-text.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import type { RunCommands } from '../commands/run-commands.js';
import { runCommand } from './run-command.js';
import { noNul, toolText, within } from './tool-text.js';

const parameters = z.strictObject({
  cmd: z.string().min(1).max(200_000).refine(noNul, 'a NUL character cannot be part of a command'),
  workdir: z.string().min(1).refine(noNul).optional(),
  tty: z.boolean().optional(),
  yield_time_ms: z.number().transform(within(250, 120_000)).default(10_000),
  max_output_tokens: z.number().transform(within(1, 1_000_000)).optional(),
});

/** In place of `bash` for the models that were trained on it. */
@Plugin(AgentTool, 'exec_command')
export class ExecCommandTool extends AgentTool<typeof parameters> {
  readonly name = 'exec_command';
  readonly description = toolText('exec_command');
  readonly parameters = parameters;
  readonly repeatable = false;
  override readonly patches = true;
  override readonly standsFor = 'bash';
  override readonly aliases = { cmd: ['command', 'script'], workdir: ['cwd'], yield_time_ms: ['yieldSeconds'] };
  private readonly most: number;

  constructor(env: Env) {
    super();
    this.most = sandboxLimitsOf(env.file).wallClockSeconds;
  }

  async execute(input: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const { cmd: command, workdir: cwd, tty: terminal = false, yield_time_ms: ms, max_output_tokens: tokens } = input;
    const after = ms / 1000;
    const { commands } = context;
    const isFull = commands?.isFull === true;
    if (isFull && terminal) throw new Error(`No more sessions may go on: ${named(commands)}. End one of them first.`);
    // Where none may go on it runs to its end, in all the time there is: it cannot ask for more. With it those that go on can be ended.
    const goesOn = (commands == null || isFull) && !terminal ? null : { after, terminal, takesInput: terminal };
    const fitting = { resultCharacters: charactersOf(tokens, context) };
    const limits = { usual: this.most, most: this.most };
    return asSession(await runCommand({ command, cwd, goesOn }, { ...context, ...fitting }, limits));
  }

  /** One that does not end in time runs to its end where none may go on. */
  override needsCommands({ tty }: z.output<typeof parameters>): boolean {
    return tty === true;
  }

  override approvalQuestion({ cmd }: z.output<typeof parameters>): string {
    return `May the agent run this command (exec_command)?\n\n${cmd}`;
  }
}

/** How much of a result is shown when it is to have at most so many tokens. */
export function charactersOf(
  tokens: number | undefined,
  { resultCharacters = MOST_CHARACTERS }: Pick<ToolContext, 'resultCharacters'>,
): number {
  return tokens === undefined ? resultCharacters : Math.min(resultCharacters, Math.max(400, tokens * 4));
}

/** The sessions, for the model. */
export function named(commands: RunCommands): string {
  const numbers = commands.all.map(({ number, status }) => `${number} (${status})`);
  return numbers.length === 0 ? 'there are none' : `there are ${numbers.join(', ')}`;
}

/** With the number of the session in place of the id, when it goes on. */
export function asSession(outcome: ToolOutcome): ToolOutcome {
  if (outcome.status !== 'success' || !isJsonObject(outcome.output)) return outcome;
  const { id, ...rest } = outcome.output as Record<string, JsonValue>;
  if (typeof id !== 'string') return outcome;
  return { ...outcome, output: { session_id: Number(id.slice(1)), ...rest } };
}
