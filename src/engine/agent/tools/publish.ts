import { basename } from 'node:path/posix';
import { z } from 'zod';
import { Env } from '../../../platform/config/env.js';
import { newId } from '../../../platform/database/ids.js';
import { isShown } from '../../../platform/text/names.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { type OpenedFile, SandboxFileError } from '../../sandbox/sandbox.js';
import { AgentTool, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { openNamed } from './nearest-path.js';
import { FILE_PATH, noNul, toolText } from './tool-text.js';

const FILE_NAME = 'a file name without slashes and hidden characters is expected';

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul),
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
  override readonly aliases = { path: FILE_PATH };

  constructor(private readonly env: Env) {
    super();
  }

  async execute({ path, name }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const shownName = name ?? (basename(path) || 'file');
    if (!isShown(shownName)) throw new Error('The name has hidden characters: give it another `name`.');
    const session = await context.sandbox();
    const opened = await openNamed(session, path).catch((error: unknown) => {
      if (!(error instanceof SandboxFileError) || error.code !== 'not_a_file') throw error;
      throw new Error(`${error.message} Only a file can be published: pack a folder first (tar -czf).`, {
        cause: error,
      });
    });
    this.checkSize(path, opened);
    const { size, content } = opened;
    const file = { id: newId(), name: shownName, size, content };
    return { status: 'success', output: { id: file.id, name: file.name, size }, files: [file] };
  }

  /** A sparse file is stored with all its zeros, so its apparent size counts: 2 GB of nothing were 2 GB in the storage. */
  private checkSize(path: string, { size, sizeOnDisk, content }: OpenedFile): void {
    const maxBytes = this.env.variables.MAX_UPLOAD_BYTES;
    if (size <= maxBytes) return;
    content.destroy();
    const onDisk = sizeOnDisk === undefined ? '' : `, of which ${sizeOnDisk} lie on disk`;
    throw new Error(`${path} has ${size} bytes${onDisk}; a published file may have at most ${maxBytes} bytes.`);
  }
}
