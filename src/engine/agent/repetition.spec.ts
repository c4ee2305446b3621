import { assistant, call, user } from '../../../test/harness/agent.js';
import type { ConversationMessage, JsonValue, ToolResult } from '../models/conversation.js';
import { circling, type Circling, forget } from './repetition.js';

/** A step of one call: its name, its input, and what came of it. */
type Made = [name: string, input: JsonValue, result: ToolResult];

const ran = (command: string, stdout = '', exitCode = 0): Made => [
  'bash',
  { command },
  {
    status: 'success',
    output: { exitCode, stdout, stderr: '', truncated: false },
    // It differs from time to time.
    forModel: { ms: Math.round(Math.random() * 10_000) },
  },
];
const read = (path: string, text: string, more: Record<string, JsonValue> = {}): Made => [
  'read',
  { path, ...more },
  { status: 'success', output: text },
];
const edited = (path: string, oldText: string, newText: string): Made => [
  'edit',
  { path, oldText, newText },
  { status: 'success', output: { path, replacements: 1, line: 3 } },
];
const written = (path: string, content: string): Made => [
  'write',
  { path, content },
  { status: 'success', output: { path, bytes: content.length } },
];
const failed = (name: string, input: JsonValue, error = 'No.'): Made => [name, input, { status: 'error', error }];

let ids = 0;
const message = (...made: Made[]) =>
  assistant('', ...made.map(([name, input, result]) => call(`c${++ids}`, name, input, result)));

/** What is said after each step. */
function after(steps: ConversationMessage[]): (Circling | null)[] {
  const conversation = [user('Go.')];
  return steps.map((step) => circling([...conversation, (conversation.push(step), step)]));
}
/** The steps, from 1, after which the model is told, and the one that ends the turn. */
function moments(steps: ConversationMessage[]) {
  const said = after(steps);
  const end = said.findIndex((one) => one?.over != null);
  const hints = said.flatMap((one, index) => (one === null ? [] : [index + 1]));
  return { hints: hints.filter((at) => end < 0 || at <= end + 1), end: end < 0 ? null : end + 1 };
}
const times = (count: number, make: (n: number) => Made | Made[]) =>
  Array.from({ length: count }, (_, n) => {
    const made = make(n);
    return message(...(Array.isArray(made[0]) ? (made as Made[]) : [made as Made]));
  });

describe('A model that goes in circles is told, and then stopped', () => {
  it.each<[string, ConversationMessage[], number[], number]>([
    ['the same call with the same result', times(40, () => ran('ls', 'a\n')), [4, 5, 6, 7, 8], 8],
    [
      'the same call, whose result differs in figures alone',
      times(40, (n) => ran('date', `10:00:${n}, ${n / 7} s\n`)),
      [4, 5, 6, 7, 8],
      8,
    ],
    [
      'the same call, whose long result differs in figures at its beginning and its end',
      times(40, (n) => ran('build', `${n}\n${'- '.repeat(30_000)}\n${n} s\n`)),
      [4, 5, 6, 7, 8],
      8,
    ],
    ['the same step of two calls', times(40, () => [ran('true'), ran('echo', '\n')]), [4, 5, 6, 7, 8], 8],
    ['the same failing call', times(40, (n) => ran('npm test', 'x'.repeat(n), 1)), [3, 4, 5, 6], 6],
    [
      'the same failing call of another tool',
      times(40, (n) => failed('edit', { path: 'a' }, 'e'.repeat(n))),
      [3, 4, 5, 6],
      6,
    ],
    ['two steps in turn', times(40, (n) => ran(['ls', 'pwd'][n % 2] ?? '', `${n % 2}`)), [6, 8, 10, 12], 12],
    ['three steps in turn', times(40, (n) => read(['a', 'b', 'c'][n % 3] ?? '', 'text')), [9, 12, 15, 18], 18],
    ['four steps in turn', times(40, (n) => read(['a', 'b', 'c', 'd'][n % 4] ?? '', 'text')), [12, 16, 20, 24], 24],
    [
      'an edit that is made and undone',
      times(40, (n) => (n % 2 === 0 ? edited('a', 'x', 'y') : edited('a', 'y', 'x'))),
      [6, 8, 10, 12],
      12,
    ],
    ['calls that only count', times(40, (n) => ran(`echo ${n}`, `${n}\n`)), [12, 16, 20, 24], 24],
    [
      'calls that only count, two in turn',
      times(40, (n) => (n % 2 === 0 ? ran(`echo ${n}`) : read(`f${n}`, 'x'))),
      [12, 16, 20, 24],
      24,
    ],
    [
      'calls that name other ids',
      times(40, (n) => ran(`git show ${(n + 2) * 123_456_789}abcdef`, `commit 0a1b2c3d${n}ffff\n`)),
      [12, 16, 20, 24],
      24,
    ],
    [
      'calls that all fail, each in another way',
      times(40, (n) => failed('edit', { oldText: 'x'.repeat(n) }, 'e'.repeat(n))),
      [12, 16, 20, 24, 25],
      25,
    ],
  ])('%s', (_, steps, hints, end) => {
    expect(moments(steps)).toEqual({ hints, end });
  });

  it('a step whose result was recorded in other words counts as it is on record', () => {
    const steps = times(4, (n) => failed('publish', { path: 'a' }, `No room for ${'x'.repeat(n)}.`));
    const last = steps[3] as ConversationMessage;
    expect(after(steps)[3]?.hint).toContain('failed 4 times in a row');
    const [call] = last.invocations;
    if (call !== undefined) call.result = { status: 'success', output: 'Stored.' };
    forget(last);
    expect(circling(steps)).toBeNull();
  });

  it('in words, and why the turn ended', () => {
    const said = after(times(8, () => ran('ls', 'a\n')));
    expect(said[3]).toEqual({
      hint:
        'The same call came 4 times in a row, with the same result. It will not change by itself: do something else, or finish ' +
        'and say what is open. After 8 times the task fails.',
      over: null,
    });
    expect(said[7]?.over).toBe('The same call came 8 times in a row, with the same result.');
  });

  it('sees the same from the record alone', () => {
    const steps = times(8, () => ran('ls', 'a\n'));
    const reloaded = JSON.parse(JSON.stringify([user('Go.'), ...steps])) as ConversationMessage[];
    for (const one of reloaded.flatMap(({ invocations }) => invocations)) {
      // As jsonb gives it back.
      if (one.result?.status === 'success')
        one.result.output = { stderr: '', stdout: 'a\n', exitCode: 0, truncated: false };
    }
    expect(circling(reloaded)).toEqual(after(steps).at(-1));
  });

  it('begins anew with a message of the user, and says nothing of a step that is not over', () => {
    const steps = times(7, () => ran('ls'));
    expect(circling([...steps, user('Go on.'), ...times(3, () => ran('ls'))])).toBeNull();
    const open = assistant('', call('open', 'bash', { command: 'ls' }));
    expect(circling([user('Go.'), ...steps, open])).toBeNull();
    expect(circling([user('Go.'), ...steps, assistant('Done.')])).toBeNull();
  });

  it('never counts calls that are meant', () => {
    const steps = times(60, () => ran('sleep 1', '', 1)).map((step) => ({
      ...step,
      parts: step.parts.map((part) => (part.type === 'tool' ? { ...part, deliberate: true as const } : part)),
    }));
    expect(moments(steps)).toEqual({ hints: [], end: null });
  });

  it('looks at long results in time that grows with their length alone', () => {
    for (const odd of ['a-', '0-', 'abcdef01-', '00000000-0000-', 'f', '1']) {
      const text = odd.repeat(Math.ceil(131_072 / odd.length));
      expect(moments(times(8, () => read('a', `${text}g`))).end).toBe(8);
    }
  });
});

describe('Work that goes on is left alone:', () => {
  const test = (failing: number) =>
    ran('npm test', `Tests: ${failing} failed, 20 total\nTime: ${failing}.2 s\n`, failing > 0 ? 1 : 0);
  const transcripts: Record<string, Made[]> = {
    'a repair, with the tests after each change': [
      ran('ls', 'package.json\nsrc\n'),
      read('src/a.ts', 'const a = 1;'),
      test(3),
      edited('src/a.ts', 'const a = 1;', 'const a = 2;'),
      test(3),
      edited('src/a.ts', 'const a = 2;', 'const a = b();'),
      test(2),
      edited('src/b.ts', 'return 1', 'return 3'),
      test(2),
      edited('src/b.ts', 'return 3', 'return 4'),
      test(0),
    ],
    'the same tests three times, with another result': [
      ran('npm test', 'FAIL a\n', 1),
      ran('npm test', 'FAIL b\n', 0),
      ran('npm test', 'ok\n'),
      ran('npm test', 'ok, all\n'),
    ],
    'a long file, page by page': Array.from({ length: 30 }, (_, n) =>
      read('big.log', `     ${n * 2000}\tline about ${'abcdefghij'[n % 10]}${'klm'[n % 3]}`, { offset: n * 2000 + 1 }),
    ),
    'numbered files that are made one by one': Array.from({ length: 10 }, (_, n) =>
      written(`fixtures/${n}.json`, `{"id": ${n}}`),
    ),
    'numbered files that are renamed one by one': Array.from({ length: 11 }, (_, n) =>
      ran(`git mv chapter${n}.md ${n}.md`),
    ),
    'one file after another': Array.from({ length: 30 }, (_, n) =>
      read(`src/${'abcdefghijklmnopqrstuvwxyzäöüß'[n]}.ts`, `export const x${'y'.repeat(n)} = 1;`),
    ),
    'an edit of each of many files': Array.from({ length: 30 }, (_, n) =>
      edited(`src/${'f'.repeat(n + 1)}.ts`, 'old', 'new'),
    ),
    'a hunt for a place, most searches in vain': Array.from({ length: 24 }, (_, n) =>
      n % 3 === 2
        ? read(`src/m${'o'.repeat(n)}.ts`, 'x'.repeat(n))
        : ran(`grep -rn ${'needle'.slice(0, 1 + (n % 6))}${'s'.repeat(n)} src`, '', 1),
    ),
    'a plan that is kept up to date beside the work': Array.from({ length: 24 }, (_, n): Made =>
      n % 2 === 0
        ? [
            'todo',
            { items: [{ text: `Step ${'i'.repeat(n)}`, status: 'done' }] },
            { status: 'success', output: { items: 1, left: 0 } },
          ]
        : edited('src/a.ts', 'a'.repeat(n), 'b'.repeat(n)),
    ),
    'tests, a change of one word, the tests again': Array.from({ length: 24 }, (_, n) =>
      n % 2 === 0
        ? ran('npm test', 'FAIL src/a.spec.ts\n', 1)
        : edited('src/a.ts', `colour${'u'.repeat(n)}`, `color${'u'.repeat(n)}`),
    ),
    'a search by halves': Array.from({ length: 10 }, (_, n) =>
      ran(
        `git bisect ${n % 3 === 0 ? 'bad' : 'good'}`,
        `Bisecting: ${512 >> n} revisions left\n[${'abcdef'.repeat(n)}] ${'fix '.repeat(n)}\n`,
      ),
    ),
  };

  it.each(Object.entries(transcripts))('%s', (_, steps) => {
    expect(moments(steps.map((made) => message(made)))).toEqual({ hints: [], end: null });
  });
});
