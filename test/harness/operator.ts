import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { operate } from '../../src/operator/verbs/operate.js';
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
  /** What the command reads, where it is carried out in this process. */
  input = '';

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
    return this.start(...args).result;
  }

  /** {@link spawn}, with the process. */
  start(...args: string[]): { child: ChildProcess; result: Promise<CommandResult> } {
    const env = { PATH: process.env['PATH'], ...this.env };
    const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const result = new Promise<CommandResult>((resolve, reject) => {
      const said: CommandResult = { code: null, out: '', err: '' };
      child.stdout.on('data', (chunk) => (said.out += String(chunk)));
      child.stderr.on('data', (chunk) => (said.err += String(chunk)));
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...said, code }));
    });
    return { child, result };
  }

  /** In this process, with services of its own all the same. One at a time. Resolves with what it printed; throws what is wrong. */
  async run(...args: string[]): Promise<string> {
    const print = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    try {
      await this.inOurEnvironment(() =>
        program(new ExtensionSet(this.extensions))
          .parseAsync(args, { from: 'user' })
          .then(() => undefined),
      );
      return print.mock.calls.map((values) => values.join(' ')).join('\n');
    } finally {
      print.mockRestore();
    }
  }

  /** {@link run} as the command's own file does it: what is wrong is printed, and ends in an exit code. */
  async attempt(...args: string[]): Promise<CommandResult> {
    const said = { out: '', err: '' };
    const keep =
      (stream: keyof typeof said, end = '') =>
      (text: unknown) => {
        said[stream] += `${String(text)}${end}`;
        return true;
      };
    const spies = [
      jest.spyOn(console, 'log').mockImplementation(keep('out', '\n')),
      jest.spyOn(console, 'error').mockImplementation(keep('err', '\n')),
      jest.spyOn(process.stdout, 'write').mockImplementation(keep('out')),
      jest.spyOn(process.stderr, 'write').mockImplementation(keep('err')),
    ];
    const { exitCode } = process;
    try {
      const code = await this.inOurEnvironment(() => operate(args, this.extensions));
      return { ...said, code: code === 0 ? Number(process.exitCode ?? 0) : code };
    } finally {
      process.exitCode = exitCode;
      for (const spy of spies) spy.mockRestore();
    }
  }

  private async inOurEnvironment<T>(act: () => Promise<T>): Promise<T> {
    const before = { ...process.env };
    Object.assign(process.env, this.env);
    const stdin = jest
      .spyOn(process, 'stdin', 'get')
      .mockReturnValue(Readable.from([this.input]) as typeof process.stdin);
    try {
      return await act();
    } finally {
      stdin.mockRestore();
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
