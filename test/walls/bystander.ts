// The parent's side of tenant-b.ts: what the other tenant has seen.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../harness/until.js';
import type { SeenRequest, SeenTask, Told } from './tenant-b.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Milliseconds in which a task of a second has to be over when nobody attacks any more. */
const PATIENCE_MS = 60_000;

export class Bystander {
  readonly requests: SeenRequest[] = [];
  readonly tasks: SeenTask[] = [];
  private readonly open = new Set<string>();

  private constructor(private readonly child: ChildProcess) {
    child.on('message', (told: Told) => {
      if ('request' in told) this.requests.push(told.request);
      else if ('created' in told) this.open.add(told.created);
      else {
        this.tasks.push(told.task);
        this.open.delete(told.task.id);
      }
    });
  }

  /** Resolves when its first task is over. */
  static async start(url: string, secret: string): Promise<Bystander> {
    const words = ['--import', './test/harness/typescript-hooks.mjs', 'test/walls/tenant-b.ts', url, secret];
    const env = { PATH: process.env['PATH'] };
    const child = spawn(process.execPath, words, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const bystander = new Bystander(child);
    await until('the first small task to be over', () => bystander.tasks.length > 0, { within: PATIENCE_MS });
    return bystander;
  }

  /** Resolves when no task is open that has been created until now, and one more has been created and finished. */
  async calm(): Promise<void> {
    const before = new Set(this.open);
    const done = this.tasks.length;
    const calm = () => [...before].every((id) => !this.open.has(id)) && this.tasks.length > done;
    await until('the small tasks to be over', calm, { within: PATIENCE_MS });
  }

  /** What went wrong since a time, in words: requests that failed, tasks that failed or were interrupted. */
  wrongs(since: number): string[] {
    const requests = this.requests.filter(({ at, problem }) => at >= since && problem !== null);
    const tasks = this.tasks.filter(
      ({ at, status, results }) => at >= since && !(status === 'completed' && results.join() === 'success'),
    );
    return [
      ...requests.map(({ problem, ms }) => `${problem} after ${Math.round(ms)} ms`),
      ...tasks.map(({ id, status, results }) => `task ${id}: ${status}, results: ${results.join(', ') || 'none'}`),
    ];
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }
}
