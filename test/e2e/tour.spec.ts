import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

/** The block below a heading of the README, as a reader pastes it. */
function tour(heading: string): string {
  const [, section = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split(`\n## ${heading}\n`);
  return /^(`{3,4})bash\n(.*?)^\1$/ms.exec(section)?.[2] ?? '';
}

function installed(...programs: string[]): boolean {
  try {
    for (const program of programs) execFileSync(program, ['--version']);
    return true;
  } catch {
    return false;
  }
}

(installed('bash', 'curl', 'jq') ? describe : describe.skip)('The tours of the README, with bash, curl and jq', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let service: ServiceProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    db = await createDatabase();
    env = { DATA_DIR: join(folder.path, 'data'), DATABASE_URL: db.url, SECRET_KEY, LOG_LEVEL: 'fatal' };
    service = await ServiceProcess.start(env);
  });
  afterAll(async () => {
    await service.end();
    await db.drop();
    folder.remove();
  });

  const { PATH = '', HOME = '' } = process.env;
  const options = () => ({ cwd: ROOT, env: { PATH, HOME, TMPDIR: folder.path, SHELL: '/bin/sh', ...env } });
  /** What a tour prints. */
  const pasted = async (script: string) => {
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      ...options(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
    expect([shell.exitCode, err]).toEqual([0, expect.not.stringMatching(/error/i)]);
    return out.trim().split('\n');
  };
  /** The tours after the first one go on in its terminal. */
  const first = () => {
    const [, lines = ''] = /^(URL=.*\nMILLWRIGHT_API_KEY=.*\n)/m.exec(tour('A tour with curl')) ?? [];
    return lines.replace('http://127.0.0.1:3000', service.url);
  };

  it('curl: every line succeeds, and it ends with what it promises', async () => {
    const script = tour('A tour with curl');
    expect(script).toContain('URL=http://127.0.0.1:3000\n');
    // The other tours have the same task.
    expect(script).toContain(`\n${readFileSync(join(ROOT, 'examples/sort-names.md'), 'utf8')}MARKDOWN\n`);
    const lines = await pasted(script.replace('http://127.0.0.1:3000', service.url));
    expect(lines).toEqual(expect.arrayContaining(['runbook', 'awaiting_input', '  "question": "Which order?",']));
    // The stream beside them, from its first frame to its last.
    expect(lines).toEqual(expect.arrayContaining(['- stream.ready', '2 task.created', '- stream.end']));
    // The answer is taken, the file is sorted, the next turn is cancelled, and another task has passed its check.
    const checked = [
      '["completed","passed"]',
      'sorted before: failed, exit code 2',
      'sorted after: passed, exit code 0',
    ];
    expect(lines.slice(-8)).toEqual([expect.any(String), 'a', 'b', 'queued', 'cancelled', ...checked]);
  });

  slowIt('the SDK: its program shows the events, answers and prints the file', async () => {
    const lines = await pasted(first() + tour('A tour with the SDK'));
    expect(lines[0]).toBe('1 message.created');
    expect(lines.slice(-2)).toEqual(['completed a', 'b']);
  });

  slowIt('the command: it asks in place, on a terminal', async () => {
    const file = join(folder.path, 'tour.sh');
    writeFileSync(file, first() + tour('A tour with the command'));
    // script(1) of util-linux makes the terminal.
    const shell = spawn('script', ['-qfec', `bash -euo pipefail ${file}`, '/dev/null'], options());
    let out = '';
    shell.stdout.on('data', (chunk) => (out += String(chunk)));
    const ended = once(shell, 'close');
    await until('the question', () => out.includes('1 … > '));
    shell.stdin.write('1\n');
    await ended;
    expect([shell.exitCode, out]).toEqual([
      0,
      expect.stringMatching(/● completed[^]*Saved .*\/sorted.txt[^]*mw run CONTENT/),
    ]);
  });
});
