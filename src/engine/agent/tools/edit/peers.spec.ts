// What the tests of other agents expect of their edit tools, as facts, and what ours does. Where it differs, the reason
// stands beside it. Read in November 2026: opencode `test/tool/edit.test.ts`, Codex `apply-patch` (its scenarios and
// `seek_sequence.rs`; a hunk's old and new lines are the texts), Gemini CLI `edit.test.ts`, Cline `diff*.test.ts`, OpenHands
// `test_oh_editor.py` and `test_gemini_editor.py`.
import { replaced } from './edit-diff.js';
import { Lines } from './lines.js';
import { matched } from './match.js';

interface Case {
  peer: 'opencode' | 'Codex' | 'Gemini' | 'Cline' | 'OpenHands';
  what: string;
  file: string;
  old: string;
  new: string;
  all?: true;
  /** The file afterwards; null: refused. */
  theirs: string | null;
  /** Ours, where it differs, and why. */
  ours?: [file: string | null, why: string];
}

const SIMILAR = 'the text is similar, not the same: it may be another place, or have changed';
const OTHER_TOOL = '`write` makes files';
const crlf = (text: string) => text.replaceAll('\n', '\r\n');

const CASES: Case[] = [
  { peer: 'opencode', what: 'a text of a line', file: 'old content here', old: 'old content', new: 'new content', theirs: 'new content here' },
  { peer: 'opencode', what: 'a new file', file: '', old: '', new: 'new content', theirs: 'new content', ours: [null, OTHER_TOOL] },
  { peer: 'opencode', what: 'the first line after a mark', file: 'using System;\nclass Test {}\n', old: 'using System;', new: 'using Up;', theirs: 'using Up;\nclass Test {}\n' },
  { peer: 'opencode', what: 'no change', file: 'content', old: 'same', new: 'same', theirs: null },
  { peer: 'opencode', what: 'another text', file: 'actual content', old: 'not in file', new: 'replacement', theirs: null },
  { peer: 'opencode', what: 'all of them', file: 'foo bar foo baz foo', old: 'foo', new: 'qux', all: true, theirs: 'qux bar qux baz qux' },
  { peer: 'opencode', what: 'more lines', file: 'line1\nline2\nline3', old: 'line2', new: 'new line 2\nextra line', theirs: 'line1\nnew line 2\nextra line\nline3' },
  { peer: 'opencode', what: 'a word among CRLF', file: 'line1\r\nold\r\nline3', old: 'old', new: 'new', theirs: 'line1\r\nnew\r\nline3' },
  { peer: 'opencode', what: 'LF in CRLF', file: crlf('alpha\nbeta\ngamma\n'), old: 'alpha\nbeta\ngamma', new: 'alpha\nbeta-updated\ngamma', theirs: crlf('alpha\nbeta-updated\ngamma\n') },
  { peer: 'opencode', what: 'CRLF in LF', file: 'alpha\nbeta\ngamma\n', old: crlf('alpha\nbeta\ngamma'), new: crlf('alpha\nbeta-updated\ngamma'), theirs: 'alpha\nbeta-updated\ngamma\n' },
  { peer: 'opencode', what: 'a new CRLF in LF', file: 'alpha\nbeta\ngamma\n', old: 'alpha\nbeta\ngamma', new: crlf('alpha\nbeta-updated\ngamma'), theirs: 'alpha\nbeta-updated\ngamma\n' },
  { peer: 'opencode', what: 'a new LF in CRLF', file: crlf('alpha\nbeta\ngamma\n'), old: crlf('alpha\nbeta\ngamma'), new: 'alpha\nbeta-updated\ngamma', theirs: crlf('alpha\nbeta-updated\ngamma\n') },
  { peer: 'opencode', what: 'both in LF', file: 'alpha\nbeta\ngamma\n', old: 'alpha\nbeta\r\ngamma', new: 'alpha\r\nbeta\nomega', theirs: 'alpha\nbeta\nomega\n' },
  { peer: 'opencode', what: 'both in CRLF', file: crlf('alpha\nbeta\ngamma\n'), old: 'alpha\r\nbeta\ngamma', new: 'alpha\nbeta\r\nomega', theirs: crlf('alpha\nbeta\nomega\n') },
  { peer: 'opencode', what: 'all blocks in CRLF', file: crlf('alpha\nbeta\nalpha\nbeta\n'), old: 'alpha\nbeta', new: 'alpha\nbeta-updated', all: true, theirs: crlf('alpha\nbeta-updated\nalpha\nbeta-updated\n') },
  { peer: 'Codex', what: 'accents', file: 'line1\nnaïve café\nline3\n', old: 'line1\nnaïve café', new: 'line1\nnaïve café ✅', theirs: 'line1\nnaïve café ✅\nline3\n' },
  { peer: 'Codex', what: 'no line end at the end', file: 'no newline at end', old: 'no newline at end\n', new: 'first line\nsecond line\n', theirs: 'first line\nsecond line\n' },
  { peer: 'Codex', what: 'the end of a file', file: 'first\nsecond\n', old: 'first\nsecond\n', new: 'first\nsecond updated\n', theirs: 'first\nsecond updated\n' },
  { peer: 'Codex', what: 'a line taken out', file: 'line1\nline2\nline3\n', old: 'line1\nline2\nline3\n', new: 'line1\nline3\n', theirs: 'line1\nline3\n' },
  { peer: 'Codex', what: 'missing lines', file: 'line1\nline2\n', old: 'missing\n', new: 'changed\n', theirs: null },
  { peer: 'Codex', what: 'white space at the ends', file: 'foo   \nbar\t\t\n', old: 'foo\nbar', new: 'foo\nbaz', theirs: 'foo\nbaz\n', ours: ['foo   \nbaz\t\t\n', 'what the edit did not change stays'] },
  { peer: 'Codex', what: 'any indentation', file: '    foo   \n   bar\t\n', old: 'foo\nbar', new: 'foo\nbaz', theirs: 'foo\nbaz\n', ours: [null, 'one indentation would be two'] },
  { peer: 'Codex', what: 'more lines than there are', file: 'just one line', old: 'too\nmany\nlines', new: 'x', theirs: null },
  { peer: 'Codex', what: 'typographic characters', file: 'import asyncio  # local import \u2013 avoids top\u2011level dep\n', old: 'import asyncio  # local import - avoids top-level dep', new: 'import asyncio  # HELLO', theirs: 'import asyncio  # HELLO\n' },
  { peer: 'Gemini', what: 'a word', file: 'hello world', old: 'world', new: 'moon', theirs: 'hello moon' },
  { peer: 'Gemini', what: 'no indentation', file: '  hello\n    world\n', old: 'hello\nworld', new: 'goodbye\nmoon', theirs: '  goodbye\n  moon\n', ours: [null, 'one indentation would be two; theirs moved the second line'] },
  { peer: 'Gemini', what: 'white space within a line', file: '  function  myFunc( a, b ) {\n    return a + b;\n  }', old: 'function myFunc(a, b) {', new: 'const yourFunc = (a, b) => {', theirs: '  const yourFunc = (a, b) => {\n    return a + b;\n  }', ours: [null, SIMILAR] },
  { peer: 'Gemini', what: 'a comma forgotten', file: 'const c = {\n  enable: true,\n  retries: 3\n};', old: 'const c = {\n  enable: true\n  retries: 3\n};', new: 'const c = {\n  enable: false,\n  retries: 5\n};', theirs: 'const c = {\n  enable: false,\n  retries: 5\n};', ours: [null, SIMILAR] },
  { peer: 'Gemini', what: 'something else', file: 'const c = {\n  enable: true,\n};', old: 'function other() {\n  return false;\n}', new: 'x', theirs: null },
  { peer: 'Gemini', what: 'other quotes, twice', file: 'f() {\n  log("hi");\n}\n\nf() {\n  log("hi");\n}\n', old: "f() {\n  log('hi');\n}", new: 'f() {\n  log("bye");\n}', theirs: 'f() {\n  log("bye");\n}\n\nf() {\n  log("bye");\n}\n', ours: [null, SIMILAR] },
  { peer: 'Gemini', what: 'a block at the margin', file: '    if (a) {\n        foo();\n    }\n', old: 'if (a) {\n    foo();\n}', new: 'if (a) {\n    bar();\n}', theirs: '    if (a) {\n        bar();\n    }\n' },
  { peer: 'Gemini', what: 'a blank line before', file: '  // some comment\n\n  function oldFunc() {}', old: '\nfunction oldFunc() {}', new: '\n  function newFunc() {}', theirs: '  // some comment\n\n  function newFunc() {}', ours: [null, 'the new text is indented as the file, the old one is not: it may be meant as a level'] },
  { peer: 'Gemini', what: 'a pattern of replacement', file: 'hello world', old: 'hello', new: "$&-$'-$1-$$", theirs: "$&-$'-$1-$$ world" },
  { peer: 'Gemini', what: 'methods left out', file: 'old content', old: 'old content', new: '(rest of methods ...)', theirs: null },
  { peer: 'Gemini', what: 'words that are left', file: '(rest of methods ...)\n(unchanged code ...)', old: '(rest of methods ...)\n(unchanged code ...)', new: '(unchanged code ...)\n(rest of methods ...)', theirs: '(unchanged code ...)\n(rest of methods ...)' },
  { peer: 'Gemini', what: 'such words in a string', file: 'const msg = "old";', old: 'const msg = "old";', new: 'const msg = "(rest of methods ...)";', theirs: 'const msg = "(rest of methods ...)";' },
  { peer: 'Gemini', what: 'one of two', file: 'one one two', old: 'one', new: 'new', theirs: null },
  { peer: 'Gemini', what: 'all of none', file: 'baz', old: 'foo', new: 'bar', all: true, theirs: null },
  { peer: 'Cline', what: 'a trimmed line', file: 'line1\n line2 \nline3', old: 'line2\n', new: 'replaced\n', theirs: 'line1\nreplaced\nline3', ours: ['line1\n replaced \nline3', 'the line keeps its white space'] },
  { peer: 'Cline', what: 'a block', file: 'line1\nstart\nmiddle\nend\nline5', old: 'start\nmiddle\nend\n', new: 'replaced\n', theirs: 'line1\nreplaced\nline5' },
  { peer: 'Cline', what: 'a whole file', file: 'any content', old: '', new: 'inserted\n', theirs: 'inserted\n', ours: [null, OTHER_TOOL] },
  { peer: 'Cline', what: 'a CRLF taken out', file: 'line1\r\nline2', old: 'line1\r\n', new: 'line1\n', theirs: 'line1\nline2' },
  { peer: 'Cline', what: 'characters of patterns', file: 'text with $^.*\nend', old: '$^.*', new: 'replaced', theirs: 'text with replaced\nend' },
  { peer: 'Cline', what: 'tabs', file: 'f() {\n\tconst a = 1;\n\treturn a;\n}', old: '\tconst a = 1;\n\treturn a;\n', new: '\tconst a = 42;\n\treturn a;\n', theirs: 'f() {\n\tconst a = 42;\n\treturn a;\n}' },
  { peer: 'OpenHands', what: 'a word of a line', file: 'This is a test file.\nThis file is for testing purposes.', old: 'test file', new: 'sample file', theirs: 'This is a sample file.\nThis file is for testing purposes.' },
  { peer: 'OpenHands', what: 'tabs', file: 'def test():\n\tprint("Hello, World!")', old: 'def test():\n\tprint("Hello, World!")', new: 'def test():\n\tprint("Hello, Universe!")', theirs: 'def test():\n\tprint("Hello, Universe!")' },
  { peer: 'OpenHands', what: 'a word twice', file: 'This is a test file.\nThis file is for testing purposes.', old: 'test', new: 'sample', theirs: null },
  { peer: 'OpenHands', what: 'a block twice', file: 'def f():\n    return True\n\nx\n\ndef f():\n    return True', old: 'def f():\n    return True', new: 'def g():\n    return 1', theirs: null },
  { peer: 'OpenHands', what: 'CRLF', file: 'A\r\nB\r\nC\r\n', old: 'B', new: 'X', theirs: 'A\r\nX\r\nC\r\n' },
]; // prettier-ignore

it.each(CASES)('$peer: $what', async ({ file, old, new: newText, all, theirs, ours }) => {
  const lines = await Lines.of(file);
  const edit = { oldText: old, newText, replaceAll: all === true };
  const made = old === '' ? null : await matched(lines, edit, 'file').catch(() => null);
  const after = made === null ? null : await replaced(lines.text, made.changes);
  expect(after).toBe(ours === undefined ? theirs : ours[0]);
});
