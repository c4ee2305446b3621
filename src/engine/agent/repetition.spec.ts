import { assistant, call, user } from '../../../test/harness/agent.js';
import { after, edited, failed, type Made, moments, ran, read, times } from '../../../test/harness/circles.js';
import type { ConversationMessage, JsonValue } from '../models/conversation.js';
import { circling, forget } from './repetition.js';

describe('A model that goes in circles is told, and then stopped', () => {
  it.each<[string, ConversationMessage[], number[], number]>([
    ['the same call with the same result', times(40, () => ran('ls', 'a\n')), [4, 5, 6, 7, 8], 8],
    [
      'the same call, whose result differs in figures alone',
      times(40, (n) => ran('date', `10:00:${n}, ${n / 7} s\n`)),
      [16, 20, 24, 28, 32],
      32,
    ],
    [
      'the same call, whose long result differs in figures at its beginning and its end',
      times(40, (n) => ran('build', `${n}\n${'- '.repeat(30_000)}\n${n} s\n`)),
      [16, 20, 24, 28, 32],
      32,
    ],
    ['the same step of two calls', times(40, () => [ran('true'), ran('echo', '\n')]), [4, 5, 6, 7, 8], 8],
    ['the same failing call', times(40, () => ran('npm test', 'FAIL', 1)), [3, 4, 5, 6], 6],
    ['the same failing call of another tool', times(40, () => failed('edit', { path: 'a' })), [3, 4, 5, 6], 6],
    ['two steps in turn', times(40, (n) => ran(['ls', 'pwd'][n % 2] ?? '', `${n % 2}`)), [6, 8, 10, 12], 12],
    ['three steps in turn', times(40, (n) => read(['a', 'b', 'c'][n % 3] ?? '', 'text')), [9, 12, 15, 18], 18],
    ['four steps in turn', times(40, (n) => read(['a', 'b', 'c', 'd'][n % 4] ?? '', 'text')), [12, 16, 20, 24], 24],
    [
      'an edit that is made and undone',
      times(40, (n) => (n % 2 === 0 ? edited('a', 'x', 'y') : edited('a', 'y', 'x'))),
      [6, 8, 10, 12],
      12,
    ],
    ['calls that only count', times(40, (n) => ran(`echo ${n}`, `${n}\n`)), [16, 20, 24, 28, 32], 32],
    [
      'calls that only count, two in turn',
      times(40, (n) => (n % 2 === 0 ? ran(`echo ${n}`) : read(`f${n}`, 'x'))),
      [16, 20, 24, 28, 32],
      32,
    ],
    [
      'calls that name other ids',
      times(40, (n) => ran(`git show ${(n + 2) * 123_456_789}abcdef`, `commit 0a1b2c3d${n}ffff\n`)),
      [16, 20, 24, 28, 32],
      32,
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
    const steps = times(4, () => failed('publish', { path: 'a' }, 'No room.'));
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

  describe('does not count a step that waits for a command which goes on', () => {
    const waited = (name: string, input: JsonValue, output = '', status = 'running'): Made => [
      name,
      input,
      { status: 'success', output: { id: 'b1', status, next: 9, output } },
    ];

    it.each<[string, Made]>([
      ['a command that is silent for long', waited('bash_output', { id: 'b1', waitSeconds: 30 })],
      ['the same, in another spelling', waited('bash_output', { id: 'b1', wait_seconds: '30' })],
      ['a session', waited('write_stdin', { session_id: 1 })],
      ['a session, for so long', waited('write_stdin', { session_id: 1, chars: '', yield_time_ms: 30_000 })],
    ])('%s', (_, wait) => {
      expect(moments(times(60, () => wait))).toEqual({ hints: [], end: null });
      // What comes in between counts as without it.
      expect(moments(times(16, (n) => (n % 2 === 0 ? ran('ls', 'a\n') : wait)))).toEqual({
        hints: [7, 9, 11, 13, 15],
        end: 15,
      });
    });

    it.each<[string, Made]>([
      ['one that looks again at once', waited('bash_output', { id: 'b1', waitSeconds: 1 })],
      ['one that has ended', waited('bash_output', { id: 'b1', waitSeconds: 30 }, '', 'exited')],
      ['one that types', waited('write_stdin', { session_id: 1, chars: 'y\n' })],
    ])('but %s', (_, look) => {
      expect(moments(times(40, () => look)).end).toBe(8);
    });
  });

  it('looks at long results in time that grows with their length alone', () => {
    for (const odd of ['a-', '0-', 'abcdef01-', '00000000-0000-', 'f', '1']) {
      const text = odd.repeat(Math.ceil(131_072 / odd.length));
      expect(moments(times(8, () => read('a', `${text}g`))).end).toBe(8);
    }
  });
});
