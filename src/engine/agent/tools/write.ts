import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { changed } from './syntax/syntax-check.js';
import { FILE_PATH, noNul, toolText } from './tool-text.js';

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul),
  content: z.string().max(2_000_000),
});

@Plugin(AgentTool, 'write')
export class WriteTool extends AgentTool<typeof parameters> {
  readonly name = 'write';
  readonly description = toolText('write');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly patches = false;
  override readonly aliases = { path: FILE_PATH, content: ['contents', 'file_text', 'text'] };

  async execute({ path, content }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const session = await context.sandbox();
    await session.writeFile(path, content);
    return changed({ path, bytes: Buffer.byteLength(content) }, [{ path, text: content, before: null }], context);
  }

  override approvalQuestion({ path, content }: z.output<typeof parameters>): string {
    return `May the agent write the file ${path}, ${Buffer.byteLength(content)} bytes (write)?`;
  }
}
