import { applyHunks } from './apply-hunks.js';
import { parsePatch } from './patch-grammar.js';

/** The text after an update whose hunks are these lines. */
function updated(text: string, ...lines: string[]): Promise<string> {
  const [operation] = parsePatch(['*** Begin Patch', '*** Update File: f', ...lines, '*** End Patch'].join('\n'));
  if (operation?.type !== 'update') throw new Error('An update is expected.');
  return applyHunks(text, operation.hunks, 'f');
}

const TWINS = 'class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n';

describe('The hunks of a patch', () => {
  it('are applied in their order', async () => {
    const text = 'one\ntwo\nthree\nfour\n';
    expect(await updated(text, '@@', '-two', '+2', '@@', ' three', '-four', '+4')).toBe('one\n2\nthree\n4\n');
  });

  it('stand below their anchors', async () => {
    const changed = await updated(
      TWINS,
      '@@ class B:',
      '@@     def f(self):',
      '-        return 1',
      '+        return 2',
    );
    expect(changed).toBe(TWINS.slice(0, -2) + '2\n');
  });

  it('stand behind the hunk before them', async () => {
    const changed = await updated(
      TWINS,
      ' class B:',
      '     def f(self):',
      '-        return 1',
      '+        return 2',
      '@@',
      '+# end',
    );
    expect(changed).toBe(`${TWINS.slice(0, -2)}2\n# end\n`);
  });

  it('add behind their anchor, and without one at the end', async () => {
    expect(await updated('a\nb\n', '@@ a', '+new')).toBe('a\nnew\nb\n');
    expect(await updated('a\nb\n', '+new')).toBe('a\nb\nnew\n');
    expect(await updated('', '+new')).toBe('new\n');
  });

  it('stand at the end where they say so', async () => {
    expect(await updated('x\ny\nx\n', '-x', '+z', '*** End of File')).toBe('x\ny\nz\n');
  });

  it('keep how lines end, and a last line without an end', async () => {
    expect(await updated('a\r\nb\r\n', '-b', '+c', '+d')).toBe('a\r\nc\r\nd\r\n');
    expect(await updated('a\nb', '-b', '+c')).toBe('a\nc');
    expect(await updated('a\r\nb\r\n', '@@ a', '+n')).toBe('a\r\nn\r\nb\r\n');
  });

  it('move their indentation as edit does', async () => {
    const text = 'if x:\n        a()\n        b()\n';
    expect(await updated(text, '-    a()', '-    b()', '+    a()', '+    c()')).toBe(
      'if x:\n        a()\n        c()\n',
    );
  });

  it('take the header of a unified diff by its words', async () => {
    expect(
      await updated(TWINS, '@@ -5,3 +5,3 @@ class B:', '     def f(self):', '-        return 1', '+        return 2'),
    ).toBe(TWINS.slice(0, -2) + '2\n');
    expect(await updated('a\nb\n', '@@ -1,2 +1,2 @@', '-b', '+c')).toBe('a\nc\n');
  });

  it('delete lines, and change nothing where they only name some', async () => {
    expect(await updated('a\nb\nc\n', '-b')).toBe('a\nc\n');
    expect(await updated('a\nb\n', ' a', '@@', '-b', '+c')).toBe('a\nc\n');
  });

  it.each([
    [
      'two places',
      TWINS,
      ['-        return 1', '+        return 2'],
      /hunk at line 3 of the patch: its old text occurs 2 times in f \(lines 3, 7\)/,
    ],
    ['no place', 'a\n', ['-x', '+y'], /hunk at line 3 of the patch: its old text does not occur in f/],
    [
      'an anchor that is not there',
      'a\n',
      ['@@ def g():', '-a', '+b'],
      /line 3 of the patch: its line "@@ def g\(\):" is not in f\./,
    ],
    [
      'a place before the hunk before it',
      'a\nb\n',
      ['-b', '+c', '@@', '-a', '+d'],
      /hunk at line 5 of the patch: its old text does not occur/,
    ],
    ['an end that is not there', 'x\ny\n', ['-x', '+z', '*** End of File'], /its old text does not occur/],
  ])('are refused at %s', async (_, text, lines, message) => {
    await expect(updated(text, ...lines)).rejects.toThrow(message);
  });
});
