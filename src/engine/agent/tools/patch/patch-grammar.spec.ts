import { toolText } from '../tool-text.js';
import { parsePatch } from './patch-grammar.js';

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

describe('The grammar of apply_patch', () => {
  it('has files that are added, deleted, changed and moved, in their order', () => {
    const text = patch(
      '*** Add File: nested/new.txt',
      '+first',
      '+',
      '*** Delete File: old.txt',
      '',
      '*** Update File: src/a.py',
      '*** Move to: src/b.py',
      '@@ class A',
      '@@ def f(self):',
      ' context',
      '',
      '-old',
      '+new',
      '*** End of File',
    );
    expect(parsePatch(text)).toEqual([
      { type: 'add', path: 'nested/new.txt', content: 'first\n\n' },
      { type: 'delete', path: 'old.txt' },
      {
        type: 'update',
        path: 'src/a.py',
        moveTo: 'src/b.py',
        hunks: [
          {
            line: 9,
            anchors: ['class A', 'def f(self):'],
            before: ['context', '', 'old'],
            after: ['context', '', 'new'],
            atEnd: true,
          },
        ],
      },
    ]);
  });

  it('lets the first hunk of a file go without "@@", and a moved file without a hunk', () => {
    const [changed, moved] = parsePatch(
      patch('*** Update File: a', '-x', '+y', '@@', '-p', '+q', '*** Update File: b', '*** Move to: c'),
    );
    expect(changed).toMatchObject({ hunks: [{ before: ['x'] }, { before: ['p'], anchors: [] }] });
    expect(moved).toEqual({ type: 'update', path: 'b', moveTo: 'c', hunks: [] });
  });

  it.each([
    [
      'white space around the markers',
      `  ${patch('  *** Delete File: a  ').replace('*** Begin Patch', ' *** Begin Patch ')}\n\n`,
    ],
    ['CRLF', patch('*** Delete File: a').replaceAll('\n', '\r\n')],
    ['a here-document', `apply_patch <<'EOF'\n${patch('*** Delete File: a')}\nEOF`],
    ['a here-document alone', `<<PATCH\n${patch('*** Delete File: a')}\nPATCH\n`],
  ])('takes %s', (_, text) => {
    expect(parsePatch(text)).toEqual([{ type: 'delete', path: 'a' }]);
  });

  it.each([
    ['no beginning', '*** Delete File: a\n*** End Patch', 'The first line of a patch is "*** Begin Patch"'],
    ['no end', '*** Begin Patch\n*** Delete File: a', 'The last line of a patch is "*** End Patch"'],
    ['no file', patch(), 'The patch changes no file'],
    [
      'an unknown operation',
      patch('*** Frobnicate File: a'),
      'line 2 ("*** Frobnicate File: a"): expected is "*** Add File: path"',
    ],
    ['no path', patch('*** Add File:', '+x'), 'line 2 ("*** Add File:"): a path is missing'],
    [
      'an added line without "+"',
      patch('*** Add File: a', 'x'),
      'line 3 ("x"): each line of an added file begins with "+"',
    ],
    [
      'an update without a hunk',
      patch('*** Update File: a'),
      'line 2 ("*** Update File: a"): the update of a has no hunk',
    ],
    ['an empty hunk', patch('*** Update File: a', '@@ f'), 'line 3 ("@@ f"): the hunk has no lines'],
    [
      'a line of nothing',
      patch('*** Update File: a', '@@', 'x'),
      'line 4 ("x"): each line of a hunk begins with " ", "-" or "+"',
    ],
    [
      'lines behind the end of the file',
      patch('*** Update File: a', '-x', '*** End of File', '+y'),
      'line 5 ("+y"): a further hunk begins with "@@"',
    ],
    ['a long line', patch(`*** ${'x'.repeat(200)}`), `${'x'.repeat(96)}…"): expected is`],
  ])('refuses %s, and names the line', (_, text, message) => {
    expect(() => parsePatch(text)).toThrow(message);
  });
});

describe('The grammar for models that write a patch as plain text', () => {
  /** It has no recursion, so that it is a regular expression too. */
  function expressionOf(lark: string): RegExp {
    const rules = new Map(lark.split('\n').map((rule) => /^(\w+): (.*)$/.exec(rule)?.slice(1, 3) as [string, string]));
    const TOKEN = /"([^"]*)"|\/(.+)\/|(\w+)| /g;
    const sourceOf = (name: string): string => {
      const source = rules.get(name)?.replace(TOKEN, (_, text?: string, expression?: string, rule?: string) => {
        return text?.replace(/[*+]/g, '\\$&') ?? expression ?? (rule === undefined ? '' : sourceOf(rule));
      });
      if (source === undefined) throw new Error(`There is no rule ${name}.`);
      return `(?:${source})`;
    };
    return new RegExp(`^${sourceOf('start')}$`);
  }
  const grammar = expressionOf(toolText('patch/grammar'));

  it.each([
    ['an added file', ['*** Add File: a b.txt', '+first', '+', '++']],
    ['an empty file', ['*** Add File: a']],
    ['a deleted file', ['*** Delete File: a']],
    ['a moved file', ['*** Update File: a', '*** Move to: b']],
    ['a hunk without "@@"', ['*** Update File: a', ' x', '-y', '+z', ' ', '+']],
    [
      'hunks',
      ['*** Update File: a', '*** Move to: b', '@@ class A', '@@ def f(self):', '-x', '@@', '+y', '*** End of File'],
    ],
    [
      'all of them',
      [
        '*** Update File: a',
        '-x',
        '*** End of File',
        '@@',
        '+y',
        '*** Delete File: b',
        '*** Add File: c',
        '+*** End Patch',
      ],
    ],
  ])('has %s, as it is parsed', (_, lines) => {
    for (const text of [patch(...lines), `${patch(...lines)}\n`]) {
      expect(text).toMatch(grammar);
      expect(parsePatch(text).length).toBeGreaterThan(0);
    }
  });

  it.each([
    ['no file', []],
    ['an unknown operation', ['*** Frobnicate File: a']],
    ['no path', ['*** Add File: ', '+x']],
    ['an added line without "+"', ['*** Add File: a', 'x']],
    ['an update without a hunk', ['*** Update File: a']],
    ['an empty hunk', ['*** Update File: a', '@@ f']],
    ['lines behind the end of the file', ['*** Update File: a', '-x', '*** End of File', '+y']],
  ])('has not what is refused: %s', (_, lines) => {
    expect(patch(...lines)).not.toMatch(grammar);
    expect(() => parsePatch(patch(...lines))).toThrow();
  });
});
