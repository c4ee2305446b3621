import { literal } from '../../../platform/text/literal.js';

const TOKENS: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

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
