import { z } from 'zod';
import { COMMAND_STATUSES } from '../../../engine/agent/commands/agent-command.js';
import { named, timestampSchema } from '../../../platform/http/schema.js';
import type { TaskCommandRow } from './task-commands.sql.js';

export const commandIdSchema = z.string().describe('`b1`, `b2` and so on, in the order of the task.');

export const commandSchema = named(
  'TaskCommand',
  z.strictObject({
    id: commandIdSchema,
    toolCallId: z.string(),
    command: z.string().nullable().describe('Null where the workspace shows no tool activity.'),
    terminal: z.boolean(),
    status: z
      .enum(COMMAND_STATUSES)
      .describe(
        '`exited`: by itself, or by a limit. `stopped`: by the agent, a person, or the end of its run. `lost`: with its worker or its box.',
      ),
    exitCode: z.int().nullable(),
    output: z
      .string()
      .nullable()
      .describe(
        'The last 16 KiB when it has ended. While it runs, and of one whose run was taken from its worker: the last 2 KiB as of some seconds before; all of it comes as `command.output`. Null as `command`.',
      ),
    outputBytes: z.int().min(0).describe('Of all that it said, as of `output`.'),
    startedAt: timestampSchema,
    endedAt: timestampSchema.nullable(),
  }),
  { description: 'A command of the agent that goes on, or went on, beyond the call that began it.' },
);

/** @param shows whether tool activity is shown. */
export function commandView(row: TaskCommandRow, shows: boolean): z.output<typeof commandSchema> {
  const { number, toolCallId, command, terminal, status, exitCode, output, outputBytes, createdAt, endedAt } = row;
  return {
    id: `b${number}`,
    toolCallId,
    command: shows ? command : null,
    terminal,
    status,
    exitCode,
    output: shows ? output : null,
    outputBytes,
    startedAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}
