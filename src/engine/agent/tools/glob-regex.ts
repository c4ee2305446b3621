import { literal } from '../../../platform/text/literal.js';

const PIECES: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

/**
 * A pattern on paths as a regular expression that `rg` and JavaScript read alike. Without a slash it matches in every
 * folder. What stands in square brackets is one character of those, or the brackets themselves. Throws when a bracket or brace is not closed.
 */
export function globToRegex(glob: string): string {
  const pattern = glob.replace(/^\.?\//, '');
  const anywhere = pattern.includes('/') ? '' : '(?:.*/)?';
  let depth = 0;
  const body = pattern.replace(/\*\*\/|\*\*|\*|\?|\[[^\]]+\]|\\?[\s\S]/g, (piece) => {
    const known = PIECES[piece];
    if (known !== undefined) return known;
    if (piece === '{') return (depth++, '(?:');
    if (piece === '}' && depth > 0) return (depth--, ')');
    if (piece === ',' && depth > 0) return '|';
    if (piece.length > 1 && piece.startsWith('[')) {
      // Folders of web pages are called so: app/[id]/page.tsx.
      return `(?:${piece.replace(/^\[!/, '[^').replaceAll('\\', '\\\\')}|${literal(piece)})`;
    }
    return literal(piece.length > 1 ? piece.slice(1) : piece);
  });
  if (depth > 0) throw new Error(`A brace of the pattern ${glob} is not closed.`);
  return `^${anywhere}${body}$`;
}
