import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { program } from '../../src/operator/verbs/program.js';
import type { Extension } from '../../src/platform/plugins/extension.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface CommandResult {
  code: number | null;
  out: string;
  err: string;
}

/** The operator command on the database of a booted service. */
export class Operator {
  private readonly env: Record<string, string>;

  /** @param extensions those of {@link run}; a process has those of `src/extensions.ts`. */
  constructor(
    { db }: { db: { url: string } },
    env: Record<string, string> = {},
    private readonly extensions: readonly Extension[] = [],
  ) {
    const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
    this.env = { NODE_ENV: 'test', DATABASE_URL: db.url, SECRET_KEY, ...env };
  }

  /** As a process of its own, which takes a second or more to load: where the process is what matters. */
  spawn(...args: string[]): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const env = { PATH: process.env['PATH'], ...this.env };
      const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const result: CommandResult = { code: null, out: '', err: '' };
      child.stdout.on('data', (chunk) => (result.out += String(chunk)));
      child.stderr.on('data', (chunk) => (result.err += String(chunk)));
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...result, code }));
    });
  }

  /** In this process, with services of its own all the same. One at a time. Resolves with what it printed. */
  async run(...args: string[]): Promise<string> {
    const before = { ...process.env };
    const print = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    Object.assign(process.env, this.env);
    try {
      await program(new ExtensionSet(this.extensions)).parseAsync(args, { from: 'user' });
      return print.mock.calls.map((values) => values.join(' ')).join('\n');
    } finally {
      print.mockRestore();
      for (const name of Object.keys(this.env)) delete process.env[name];
      Object.assign(process.env, before);
    }
  }

  /** {@link run} with `--json`: one object on one line. */
  async json<T>(...args: string[]): Promise<T> {
    const out = await this.run(...args, '--json');
    expect(out.split('\n')).toHaveLength(1);
    return JSON.parse(out) as T;
  }
}
