// The parent's side of tenant-b.ts: what the other tenant has seen.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Connected } from '../../src/resources/integrations/connections.service.js';
import { until } from '../harness/until.js';
import type { SeenRequest, SeenTask, Told } from './tenant-b.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Milliseconds in which a task of a second has to be over when nobody attacks any more. */
const PATIENCE_MS = 150_000;

export class Bystander {
  readonly requests: SeenRequest[] = [];
  readonly tasks: SeenTask[] = [];
  private readonly open = new Set<string>();

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (told: Told) => {
      if ('request' in told) this.requests.push(told.request);
      else if ('created' in told) this.open.add(told.created);
      else if ('task' in told) {
        this.tasks.push(told.task);
        this.open.delete(told.task.id);
      }
    });
  }

  /** Resolves when its first task is over. */
  static async start(url: string, secret: string, hook: Connected): Promise<Bystander> {
    const words = [
      '--import',
      './test/harness/typescript-hooks.mjs',
      'test/walls/tenant-b.ts',
      url,
      secret,
      hook.path,
      hook.secret,
    ];
    const env = { PATH: process.env['PATH'] };
    const child = spawn(process.execPath, words, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const bystander = new Bystander(child);
    await until('the first small task to be over', () => bystander.tasks.length > 0, { within: PATIENCE_MS });
    return bystander;
  }

  /** Resolves when every request and every task that has begun until now is over, whatever came of them. */
  async calm(): Promise<void> {
    const answered = new Promise((resolve) => {
      const hear = (told: Told) => {
        if ('answered' in told) resolve(this.child.off('message', hear));
      };
      this.child.on('message', hear).send('answer');
    });
    await answered;
    const before = new Set(this.open);
    const over = () => [...before].every((id) => !this.open.has(id));
    await until('the small tasks to be over', over, { within: PATIENCE_MS });
  }

  /** What went wrong since a time, in words: requests that failed, tasks that failed or were interrupted. */
  wrongs(since: number): string[] {
    const requests = this.requests.filter(({ at, problem }) => at >= since && problem !== null);
    const tasks = this.tasks.filter(
      ({ at, status, results, checked }) =>
        at >= since &&
        !(status === 'completed' && results.join() === 'success' && ['none', 'passed'].includes(checked)),
    );
    return [
      ...requests.map(({ problem, ms }) => `${problem} after ${Math.round(ms)} ms`),
      ...tasks.map(
        ({ id, status, results, checked }) =>
          `task ${id}: ${status}, results: ${results.join(', ') || 'none'}, check: ${checked}`,
      ),
    ];
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }
}
