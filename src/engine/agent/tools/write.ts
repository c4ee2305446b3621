import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { noNul, toolText } from './tool-text.js';

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul).describe('File, relative to /workdir or absolute below it.'),
  content: z.string().max(2_000_000).describe('The whole new content.'),
});

@Plugin(AgentTool, 'write')
export class WriteTool extends AgentTool<typeof parameters> {
  readonly name = 'write';
  readonly description = toolText('write');
  readonly parameters = parameters;
  readonly repeatable = true;

  async execute({ path, content }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const session = await context.sandbox();
    await session.writeFile(path, content);
    return success({ path, bytes: Buffer.byteLength(content) });
  }

  override approvalQuestion({ path, content }: z.output<typeof parameters>): string {
    return `May the agent write the file ${path}, ${Buffer.byteLength(content)} bytes (write)?`;
  }
}
