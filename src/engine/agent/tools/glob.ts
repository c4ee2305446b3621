import { z } from 'zod';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { literal } from '../../../platform/text/literal.js';
import { AgentTool, success, type ToolContext, type ToolOutcome } from '../agent-tool.js';
import { nearestNamed } from './nearest-path.js';
import { ripgrep } from './ripgrep.js';
import { FOLDER_PATH, noNul, shellPath, shellQuote, toolText } from './tool-text.js';

const FILES = 300;
const TOKENS: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

const parameters = z.strictObject({
  pattern: z.string().min(1).max(1_000).refine(noNul).describe('For example `**/*.ts` or `src/**/test_*.py`.'),
  path: z.string().min(1).max(4_000).refine(noNul).default('.').describe('Default /workdir.'),
});

@Plugin(AgentTool, 'glob')
export class GlobTool extends AgentTool<typeof parameters> {
  readonly name = 'glob';
  readonly description = toolText('glob');
  readonly parameters = parameters;
  readonly repeatable = true;
  override readonly changes = false;
  override readonly changesNothing = true;
  override readonly aliases = { path: FOLDER_PATH, pattern: ['glob', 'glob_pattern'] };

  async execute({ pattern, path }: z.output<typeof parameters>, context: ToolContext): Promise<ToolOutcome> {
    // Not `rg --glob`: a pattern that matches a folder brings back what .gitignore excludes, node_modules and all.
    const list = 'rg --files --hidden --no-require-git --sort path --glob "!.git/"';
    const filter = `rg --no-line-number --color never -e ${shellQuote(globToRegex(pattern))} -`;
    const script = `if cd -- ${shellPath(path)}; then ${list} | ${filter}; else (exit 2); fi`;
    const session = await context.sandbox();
    const found = ripgrep(session, script, FILES + 1, context.resultCharacters);
    const { lines, truncated } = await found.catch(nearestNamed(session, path));
    if (lines.length === 0) return success(`No file matches ${pattern} below ${path}.`);
    const prefix = path === '.' ? '' : `${path.replace(/\/+$/, '')}/`;
    const paths = lines.slice(0, FILES).map((line) => prefix + line);
    if (truncated || lines.length > FILES)
      paths.push(`[Only the first ${paths.length} are shown: use a narrower pattern.]`);
    return success(paths.join('\n'));
  }
}

/**
 * A pattern on paths as a regular expression that `rg` and JavaScript read alike. Without a slash it matches in every
 * folder. What stands in square brackets is one character of those, or the brackets themselves. Throws when a bracket or brace is not closed.
 */
export function globToRegex(glob: string): string {
  const pattern = glob.replace(/^\.?\//, '');
  const anywhere = pattern.includes('/') ? '' : '(?:.*/)?';
  let depth = 0;
  const body = pattern.replace(/\*\*\/|\*\*|\*|\?|\[[^\]]+\]|\\?[\s\S]/g, (token) => {
    const known = TOKENS[token];
    if (known !== undefined) return known;
    if (token === '{') return (depth++, '(?:');
    if (token === '}' && depth > 0) return (depth--, ')');
    if (token === ',' && depth > 0) return '|';
    if (token.length > 1 && token.startsWith('[')) {
      // Folders of web pages are called so: app/[id]/page.tsx.
      return `(?:${token.replace(/^\[!/, '[^').replaceAll('\\', '\\\\')}|${literal(token)})`;
    }
    return literal(token.length > 1 ? token.slice(1) : token);
  });
  if (depth > 0) throw new Error(`A brace of the pattern ${glob} is not closed.`);
  return `^${anywhere}${body}$`;
}
