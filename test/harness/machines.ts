// Machines of one installation in a test: workers, each with a DATA_DIR of its own. What they share are the database and the stored files.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workdirsOf } from '../../src/operator/backup/workdirs.js';
import { removeReachable, removeTree } from '../../src/platform/config/reachable.js';
import { ServiceProcess, temporaryFolder } from './service.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

/** The services of one installation, and the folders of its machines. */
export class Machines {
  private readonly folder = temporaryFolder();
  private readonly running = new Map<number, ServiceProcess>();
  private made = 0;

  constructor(private readonly env: Record<string, string>) {}

  /** A service that serves alone, before all others: it makes the installation. */
  async first(): Promise<ServiceProcess> {
    return this.start(this.newFolder(), { ROLE: 'api' });
  }

  /** A further one that serves, on a new disk: for files that lie elsewhere. */
  async api(): Promise<ServiceProcess> {
    return this.start(this.newFolder(), { ROLE: 'api' });
  }

  /** A worker on a new disk. Where files lie in DATA_DIR, it is told which installation they are of, and where. */
  another(more: Record<string, string> = {}): Promise<ServiceProcess> {
    const nth = this.newFolder();
    if (this.env['STORAGE'] === undefined) {
      const [path, first] = [this.path(nth), this.path(1)];
      mkdirSync(join(first, 'files'), { recursive: true, mode: 0o700 });
      cpSync(join(first, 'installation'), join(path, 'installation'));
      symlinkSync(join(first, 'files'), join(path, 'files'));
    }
    return this.start(nth, { ROLE: 'worker', ...more });
  }

  /** The nth machine, a worker that has ended, with the disk that it had. */
  again(nth: number): Promise<ServiceProcess> {
    return this.start(nth, { ROLE: 'worker' });
  }

  /** The id of the nth machine; of a machine that only serves there is none. */
  id(nth: number): string {
    return readFileSync(join(this.path(nth), 'machine'), 'utf8').trim();
  }

  /** The number of the one that was made last. */
  get newest(): number {
    return this.made;
  }

  /** The one that was made last. */
  get last(): ServiceProcess {
    const last = this.running.get(this.made);
    if (last === undefined) throw new Error('No machine was started.');
    return last;
  }

  /** Puts an empty file into the workdir of a task. */
  touch(nth: number, taskId: string, name: string): void {
    writeFileSync(join(workdirsOf(this.path(nth)), taskId, name), '');
  }

  /** Ends the process of the nth machine. */
  async kill(nth: number, signal: NodeJS.Signals): Promise<void> {
    await this.running.get(nth)?.end(signal);
  }

  /** Whether its process has. */
  ended(nth: number): boolean {
    return this.running.get(nth)?.ended ?? true;
  }

  /** Its disk is gone. */
  lose(nth: number): void {
    removeReachable(this.path(nth));
    removeTree(this.path(nth));
  }

  async end(): Promise<void> {
    await Promise.all([...this.running.values()].map((one) => one.end('SIGKILL')));
    for (let nth = 1; nth <= this.made; nth++) removeReachable(this.path(nth));
    rmSync(this.folder.path, { recursive: true, force: true });
  }

  private path(nth: number): string {
    return join(this.folder.path, `machine-${nth}`);
  }

  private newFolder(): number {
    mkdirSync(this.path(++this.made), { mode: 0o711 });
    return this.made;
  }

  private async start(nth: number, more: Record<string, string>): Promise<ServiceProcess> {
    const service = await ServiceProcess.start({ SECRET_KEY, ...this.env, ...more, DATA_DIR: this.path(nth) });
    this.running.set(nth, service);
    return service;
  }
}
