import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

/** The block of the README, as a reader pastes it. */
function tour(): string {
  const [, block = ''] = /^````bash\n(.*?)^````$/ms.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  return block;
}

function installed(...programs: string[]): boolean {
  try {
    for (const program of programs) execFileSync(program, ['--version']);
    return true;
  } catch {
    return false;
  }
}

(installed('bash', 'curl', 'jq') ? describe : describe.skip)('The tour of the README, with bash, curl and jq', () => {
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

  it('pastes as it is: every line succeeds, and it ends with what it promises', async () => {
    const pasted = tour();
    expect(pasted).toContain('URL=http://127.0.0.1:3000\n');
    const script = pasted.replace('http://127.0.0.1:3000', service.url);
    const { PATH = '', HOME = '' } = process.env;
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: ROOT,
      env: { PATH, HOME, TMPDIR: folder.path, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
    expect([shell.exitCode, err]).toEqual([0, expect.not.stringMatching(/error/i)]);
    const lines = out.trim().split('\n');
    expect(lines).toEqual(expect.arrayContaining(['runbook', 'awaiting_input', '  "question": "Which order?",']));
    // The answer is taken, the file is sorted, and the next turn is cancelled.
    expect(lines.slice(-5)).toEqual([expect.any(String), 'a', 'b', 'queued', 'cancelled']);
  }, 120_000);
});
