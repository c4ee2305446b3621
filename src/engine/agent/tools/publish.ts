import { basename } from 'node:path/posix';
import { z } from 'zod';
import { newId } from '../../../platform/database/ids.js';
import { isShown } from '../../../platform/text/names.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { SandboxFileError } from '../../sandbox/sandbox.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { noNul, toolText } from './tool-text.js';

const FILE_NAME = 'a file name without slashes and hidden characters is expected';

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul).describe('File, relative to /workdir or absolute below it.'),
  name: z
    .string()
    .max(255)
    .refine((name) => /^[^/\\]+$/.test(name) && isShown(name), FILE_NAME)
    .optional()
    .describe('Name for the people who receive it; default: the name of the file.'),
});

@Plugin(AgentTool, 'publish')
export class PublishTool extends AgentTool<typeof parameters> {
  readonly name = 'publish';
  readonly description = toolText('publish');
  readonly parameters = parameters;
  readonly repeatable = true;
  // It copies what is there for people who see the task anyway; the workdir stays as it is.
  override readonly changes = false;

  async execute({ path, name }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const shownName = name ?? (basename(path) || 'file');
    if (!isShown(shownName)) throw new Error('The name has hidden characters: give it another `name`.');
    const session = await context.sandbox();
    const { size, content } = await session.readFile(path).catch((error: unknown) => {
      if (!(error instanceof SandboxFileError) || error.code !== 'not_a_file') throw error;
      throw new Error(`${error.message} Only a file can be published: pack a folder first (tar -czf).`, {
        cause: error,
      });
    });
    const file = { id: newId(), name: shownName, content };
    return { status: 'success', output: { id: file.id, name: file.name, size }, files: [file] };
  }
}
