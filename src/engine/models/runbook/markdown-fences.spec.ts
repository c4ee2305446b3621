import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { type Fence, fencesOf } from './markdown-fences.js';

const library = new MarkdownIt('commonmark', { maxNesting: 1000 } as object);
library.core.ruler.disable(['inline', 'text_join']);

function byLibrary(text: string): Fence[] {
  return library
    .parse(text, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content, map }) => ({ info: info.trim(), line: (map?.[0] ?? 0) + 1, content }));
}

const piece = fc.constantFrom('- ', '-', '1. ', '2) ', '* ', '> ', '>', ' ', '  ', '   ', '    ', '\t', '```', '```sh', '~~~', '````', '``', '# ', '---', '===', 'a', '<div>', '<b>', '`', '***', '_ _ _'); // prettier-ignore
const line = fc.array(piece, { maxLength: 6, size: 'max' }).map((all) => all.join(''));
const document = fc.array(line, { maxLength: 12, size: 'max' }).map((lines) => `${lines.join('\n')}\n`);
/** Where the library takes another way than the specification: tabs and four spaces before and behind the mark of a quote, tags behind one. */
const differs = (text: string) => /\t *>|>\t| {4}>|>[^]*<b>/.test(text);

describe('the fences of a CommonMark text', () => {
  it('are those that a library finds, in whatever quotes and lists', () => {
    const texts = document.filter((text) => !differs(text));
    fc.assert(
      fc.property(texts, (text) => expect(fencesOf(text)).toEqual(byLibrary(text))),
      { numRuns: 4_000 },
    );
  });

  const told = (text: string) => fencesOf(text).map(({ info, content, line }) => [info, content, line]);
  it.each([
    ['a tab of which the quote takes a part', '> ```sh\n>\ta\n', [['sh', '  a\n', 1]]],
    ['four spaces before a quote', '>\n    > ~~~\n', []],
    ['HTML with an empty line in it', '- <pre>\n\n\t```sh\n', []],
    ['a tag that does not interrupt a paragraph', '> a\n<b>\n~~~\n', [['', '', 3]]],
    ['line ends of other systems, and none at the end', '```sh\r\na\r```\r\n~~~ x\nb', [['sh', 'a\n', 1], ['x', 'b\n', 4]]],
    ['the deepest container', `${'> '.repeat(32)}\`\`\`\n`, [['', '', 1]]],
    ['what would stand deeper', `${'> '.repeat(33)}\`\`\`\n`, []],
  ])('%s', (_what, text, fences) => expect(told(text)).toEqual(fences)); // prettier-ignore
});
