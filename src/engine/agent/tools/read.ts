import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { SandboxFileError, type SandboxSession } from '../../sandbox/sandbox.js';
import { MOST_CHARACTERS } from '../../models/result-text.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { LineWindow } from './line-window.js';
import { openNamed } from './nearest-path.js';
import { show, sniffed } from './read-media.js';
import { FILE_PATH, noNul, shellPath, toolText, within } from './tool-text.js';

const LINES = 2_000;
const ENTRIES = 500;

const parameters = z.strictObject({
  path: z.string().min(1).refine(noNul),
  offset: z.number().transform(within(1, Number.MAX_SAFE_INTEGER)).default(1).describe('First line, from 1.'),
  limit: z.number().transform(within(1, LINES)).default(LINES),
});

@Plugin(AgentTool, 'read')
export class ReadTool extends AgentTool<typeof parameters> {
  readonly name = 'read';
  readonly description = toolText('read');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes = false;
  override readonly changesNothing = true;
  override readonly aliases = { path: FILE_PATH, offset: ['start_line'], limit: ['lines', 'max_lines'] };

  async execute({ path, offset, limit }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    const session = await context.sandbox();
    try {
      const opened = await openNamed(session, path);
      const { type, content } = await sniffed(opened.content);
      if (type !== null) return await show({ path, type, size: opened.size, content }, context);
      const window = new LineWindow(offset, limit, context.resultCharacters ?? MOST_CHARACTERS);
      try {
        for await (const chunk of content) if (window.add(chunk as Buffer)) break;
      } finally {
        content.destroy();
      }
      if (window.binary)
        throw new Error(`${path} is a binary file of ${opened.size} bytes. Look at it with bash (file, xxd, strings).`);
      return { ...success(describe(window, path, offset)), paths: [path] };
    } catch (error) {
      if (error instanceof SandboxFileError && error.code === 'not_a_file') return await list(session, path, error);
      throw error;
    }
  }
}

function describe(window: LineWindow, path: string, offset: number): string {
  const lines = window.finish();
  if (lines.length === 0) {
    if (window.total === 0) return `[${path} is empty.]`;
    throw new Error(`${path} has ${window.total} lines; offset ${offset} is after its end.`);
  }
  const numbered = lines.map((line, index) => `${String(offset + index).padStart(6)}\t${line}`).join('\n');
  const next = offset + lines.length;
  return window.more ? `${numbered}\n[There is more: use offset=${next} to continue.]` : numbered;
}

async function list(session: SandboxSession, path: string, error: Error): Promise<ToolOutcome> {
  const command = `[ -d ${shellPath(path)} ] && LC_ALL=C ls -1Ap ${shellPath(path)} | head -n ${ENTRIES + 1}`;
  const { exitCode, stdout } = await session.run(command);
  if (exitCode !== 0) throw error;
  const entries = stdout.split('\n').filter((line) => line !== '');
  const more = entries.length > ENTRIES ? `\n[Only the first ${ENTRIES} are shown: use glob.]` : '';
  return success(`${path} is a folder:\n${entries.slice(0, ENTRIES).join('\n') || '(empty)'}${more}`);
}
