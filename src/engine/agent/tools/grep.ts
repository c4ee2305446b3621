import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { nearestNamed } from './nearest-path.js';
import { ripgrep } from './ripgrep.js';
import { FILE_PATH, FOLDER_PATH, noNul, shellPath, shellQuote, toolText, within } from './tool-text.js';

const LINES = 300;

const parameters = z.strictObject({
  pattern: z.string().min(1).max(4_000).refine(noNul).describe('Regular expression (Rust syntax).'),
  path: z.string().min(1).max(4_000).refine(noNul).default('.').describe('File or folder, default /workdir.'),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .refine(noNul)
    .optional()
    .describe('Only files like this, for example `*.{ts,tsx}`.'),
  ignoreCase: z.boolean().default(false),
  literal: z.boolean().default(false),
  filesOnly: z.boolean().default(false),
  context: z.number().transform(within(0, 20)).default(0),
});

type Input = z.output<typeof parameters>;

@Plugin(AgentTool, 'grep')
export class GrepTool extends AgentTool<typeof parameters> {
  readonly name = 'grep';
  readonly description = toolText('grep');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes = false;
  override readonly changesNothing = true;
  override readonly aliases = {
    pattern: ['query', 'regex'],
    path: [...FOLDER_PATH, ...FILE_PATH],
    glob: ['include', 'file_pattern'],
    ignoreCase: ['case_insensitive', '-i'],
    filesOnly: ['files_with_matches'],
    context: ['-C'],
  };

  async execute(input: Input, context: ToolContext): Promise<ToolOutcome> {
    const session = await context.sandbox();
    const found = ripgrep(session, commandFor(input), LINES + 1, context.resultCharacters);
    const { lines, truncated } = await found.catch(nearestNamed(session, input.path));
    if (lines.length === 0) return success(`Nothing matches ${input.pattern} in ${input.path}.`);
    const matches = lines.slice(0, LINES).map((line) => line.replace(/^\.\//, ''));
    if (truncated || lines.length > LINES)
      matches.push(`[Only the first ${matches.length} lines are shown: search more narrowly.]`);
    return success(matches.join('\n'));
  }
}

function commandFor({ pattern, path, glob, ignoreCase, literal, filesOnly, context }: Input): string {
  const target = shellPath(path);
  const search = [
    "rg --hidden --no-require-git --sort path --color never --no-heading --with-filename --line-number --glob '!.git/'",
    '--max-columns 500 --max-columns-preview',
    ...(glob === undefined ? [] : [onlyFiles(glob)]),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(literal ? ['--fixed-strings'] : []),
    ...(filesOnly ? ['--files-with-matches'] : []),
    ...(context > 0 ? [`--context ${context}`] : []),
    `-e ${shellQuote(pattern)} -- ${target}`,
  ].join(' ');
  // Below a folder rg reads regular files alone; what is named it opens, and waits at a pipe for somebody who writes.
  return `if [ -e ${target} ] && [ ! -f ${target} ] && [ ! -d ${target} ]; then echo ${shellQuote(`${path} is not a regular file or a folder.`)} >&2; (exit 2); else ${search}; fi`;
}

/** A file type of our own heeds .gitignore, `--glob` overrides it; but a type knows names only, not folders. */
function onlyFiles(glob: string): string {
  if (glob.includes('/')) return `--glob ${shellQuote(glob)}`;
  return `--type-add ${shellQuote(`wanted:${glob}`)} --type wanted`;
}
