import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolOutcome } from '../agent-tool.js';
import { toolText } from './tool-text.js';

const option = z.strictObject({
  id: z.string().min(1).max(100),
  label: z.string().min(1).max(200),
  description: z.string().max(1_000).optional(),
});
const parameters = z.strictObject({
  question: z.string().min(1).max(10_000),
  options: z
    .array(option)
    .min(1)
    .max(20)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'every option needs an id of its own')
    .optional()
    .describe('Without them the answer is text.'),
  multiple: z.boolean().default(false),
  allowText: z.boolean().default(false).describe('With options: a text of their own is an answer too.'),
});

@Plugin(AgentTool, 'ask')
export class AskTool extends AgentTool<typeof parameters> {
  readonly name = 'ask';
  readonly description = toolText('ask');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes = false;

  execute({ question, options, multiple, allowText }: z.output<typeof parameters>): Promise<ToolOutcome> {
    const choices = options?.map(({ id, label, description }) => ({ id, label, description: description ?? null }));
    return Promise.resolve({
      status: 'question',
      question: {
        question,
        options: choices ?? null,
        multiple: choices !== undefined && multiple,
        allowText: choices === undefined || allowText,
      },
    });
  }
}
