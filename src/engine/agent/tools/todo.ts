import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { toolText } from './tool-text.js';

const item = z.strictObject({
  text: z.string().min(1).max(500),
  status: z.enum(['pending', 'in_progress', 'done', 'dropped']),
});
const parameters = z.strictObject({ items: z.array(item).max(100) });

@Plugin(AgentTool, 'todo')
export class TodoTool extends AgentTool<typeof parameters> {
  readonly name = 'todo';
  readonly description = toolText('todo');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes = false;
  override readonly aliases = { items: ['todos', 'plan'] };

  execute({ items }: z.output<typeof parameters>, { toolCallId }: ToolContext): Promise<ToolOutcome> {
    const left = items.filter(({ status }) => status === 'pending' || status === 'in_progress').length;
    return Promise.resolve({
      status: 'success',
      output: { items: items.length, left },
      parts: [{ type: 'data', name: 'plan', id: toolCallId, data: { items } }],
    });
  }
}
