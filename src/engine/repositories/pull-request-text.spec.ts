import type { CheckResult } from '../checks/check.js';
import { pullRequestText } from './pull-request-text.js';

const result = (name: string, more: Partial<CheckResult> = {}): CheckResult => ({
  ...{ id: '', name, command: 'a secret command', protect: [], network: false, required: true, output: 'an output' },
  ...{
    status: 'passed',
    exitCode: 0,
    durationMs: 61_240,
    outputBytes: 9,
    outputSha256: '',
    workdirSha256: null,
    patchSha256: null,
    original: null,
  },
  protectedChanged: [],
  ...more,
});

describe('The text of a pull request (reference §15)', () => {
  it('ends with the table of the checks, and where their proof is', () => {
    const lint = result('lint', { status: 'timed_out', exitCode: null, durationMs: 0, required: false });
    expect(pullRequestText('the-task', { results: [result('test'), lint], before: [] }).split('\n')).toEqual([
      'Made by Millwright, task `the-task`.',
      '',
      '## Checks',
      '',
      'The service has run these checks itself, in a clean copy of the work:',
      '',
      '| Check | Status | Exit code | Duration | Required |',
      '| --- | --- | --- | --- | --- |',
      '| `test` | passed | 0 | 61.2 s | yes |',
      '| `lint` | timed out |  | 0.0 s | no |',
      '',
      '`GET /v1/tasks/the-task/proof` answers the signed proof of this.',
    ]);
  });

  it('has a column of how each was on the original, where that is known', () => {
    const before = [result('test', { status: 'failed', exitCode: 1 })];
    const text = pullRequestText('the-task', { results: [result('test'), result('lint')], before });
    expect(text.split('\n').filter((line) => line.startsWith('|'))).toEqual([
      '| Check | Before | Status | Exit code | Duration | Required |',
      '| --- | --- | --- | --- | --- | --- |',
      '| `test` | failed | passed | 0 | 61.2 s | yes |',
      '| `lint` |  | passed | 0 | 61.2 s | yes |',
    ]);
  });

  it('names what was changed and not used, as text that Markdown does not read', () => {
    const odd = ['a|b', 'a`b``c', '`', 'x\n| `evil` | passed |', '@octocat #1 <img src=x>', 'a\u202eb', '\ud800'];
    const results = [
      result('test', { protectedChanged: ['test/a.sh', ...odd] }),
      result('lint', { protectedChanged: ['test/a.sh'] }),
    ];
    const lines = pullRequestText('the-task', { results, before: [] }).split('\n');
    const from = lines.indexOf('Changed, but not used by these checks, which protect them:');
    expect(lines.slice(from + 1, -2)).toEqual([
      '',
      '- `test/a.sh`: `test`, `lint`',
      '- `a|b`: `test`',
      '- ``` a`b``c ```: `test`',
      '- `` ` ``: `test`',
      '- `` x\\u{a}| `evil` | passed | ``: `test`',
      '- `@octocat #1 <img src=x>`: `test`',
      '- `a\\u{202e}b`: `test`',
      '- `\\u{d800}`: `test`',
    ]);
  });

  it('stays below what hosts take, and counts what it does not name', () => {
    const paths = (name: string) => Array.from({ length: 100 }, (_, n) => `${name}/${'é'.repeat(400)}/${n}`);
    const names = Array.from({ length: 16 }, (_, n) => `check-${n}`);
    const results = names.map((name) => result(name, { protectedChanged: paths(name) }));
    const text = pullRequestText('the-task', { results, before: [] });
    expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(58_000);
    const named = text.split('\n').filter((line) => line.startsWith('- `')).length;
    expect(text).toContain(`\n- and ${1600 - named} more\n`);
    expect(text).toMatch(/proof` answers the signed proof of this\.$/);
  });
});
