import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isAlive, Lines, query, serverPid, temporaryDataDir } from '../harness/embedded.js';
import { until } from '../harness/until.js';
import { tryLock } from '../../src/platform/database/embedded/embedded-lock.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';

const WRITER = resolve('test/harness/embedded-writer.mjs');

/** A service of its own process that writes rows; `acknowledged` are those that it was told are written. */
class Writer {
  readonly acknowledged: number[] = [];
  private said = '';
  private readonly ended: Promise<unknown>;
  private readonly child: ChildProcess;

  constructor(dataDir: string) {
    this.child = spawn(process.execPath, [WRITER, dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.child, 'close');
    let rest = '';
    this.child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      this.acknowledged.push(...lines.map(Number));
    });
    this.child.stderr?.on('data', (chunk: Buffer) => (this.said += chunk.toString()));
  }

  async wrote(rows: number): Promise<void> {
    await until(
      `${rows} rows of the writer`,
      () => {
        if (this.child.exitCode !== null) throw new Error(`The writer ended: ${this.said}`);
        return this.acknowledged.length >= rows;
      },
      { within: 150_000 },
    );
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

// About 5 s alone; a busy disk makes each recovery several times slower, and a busy machine took 35 s.
const TIMEOUT_MS = 120_000;

describe('kill -9 of the process that runs the embedded PostgreSQL', () => {
  const dirs: ReturnType<typeof temporaryDataDir>[] = [];
  const newDataDir = () => {
    const dir = temporaryDataDir();
    dirs.push(dir);
    return dir.path;
  };
  const dataDir = newDataDir();
  const folder = join(dataDir, 'postgres');
  const options = { dataDir, logger: new Lines() };
  const writers: Writer[] = [];
  const writer = (of = dataDir) => {
    const made = new Writer(of);
    writers.push(made);
    return made;
  };

  afterEach(() => Promise.all(writers.splice(0).map((one) => one.kill())));
  afterAll(async () => {
    for (const { path, remove } of dirs) {
      const ended = () => tryLock(join(path, 'postgres.lock'));
      closeSync(await until('the end of every server process', ended, { within: 150_000 }));
      remove();
    }
  }, TIMEOUT_MS);

  /** A `DATA_DIR` whose first boot was killed while initdb worked, or after it when the look came too late. */
  const halfMade = async () => {
    const path = newDataDir();
    const [draft, data] = [join(path, 'postgres', 'draft', 'data', 'PG_VERSION'), join(path, 'postgres', 'data')];
    const killed = writer(path);
    await until('initdb at work', () => existsSync(draft) || existsSync(data), { within: 150_000 });
    await killed.kill();
    return { path, tooLate: existsSync(data) };
  };

  it(
    'during the first boot: the half-made database is made again',
    async () => {
      let made = await halfMade();
      for (let tries = 1; made.tooLate && tries < 5; tries++) made = await halfMade();
      expect(made.tooLate).toBe(false);
      const server = await EmbeddedPostgres.start({ ...options, dataDir: made.path });
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await server.stop();
    },
    TIMEOUT_MS,
  );

  it(
    'ten times while it writes: the next one starts, no acknowledged row is lost, no server stays',
    async () => {
      const servers: number[] = [];
      const acknowledged: number[] = [];
      for (let round = 0; round < 10; round++) {
        const current = writer();
        await current.wrote(50);
        const server = serverPid(folder);
        servers.push(server);
        // Every other time the server is killed too, and has to recover from its log.
        if (round % 2 === 1) process.kill(server, 'SIGKILL');
        await current.kill();
        acknowledged.push(...current.acknowledged);
      }
      const server = await EmbeddedPostgres.start(options);
      const rows = await query<{ n: string }>(server.url, 'SELECT n FROM written');
      await server.stop();
      const written = new Set(rows.map((row) => Number(row.n)));
      expect(acknowledged.length).toBeGreaterThanOrEqual(500);
      expect(acknowledged.filter((n) => !written.has(n))).toEqual([]);
      expect(new Set(servers).size).toBe(10);
      expect(servers.filter(isAlive)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'refuses a second process while the first runs, and names it',
    async () => {
      const first = writer();
      await first.wrote(1);
      const holder = readFileSync(join(dataDir, 'service.lock'), 'utf8').trim();
      await expect(EmbeddedPostgres.start(options)).rejects.toThrow(`(process ${holder})`);
      expect(isAlive(Number(holder))).toBe(true);
      const joined = await EmbeddedPostgres.joinOrStart(options);
      expect(await query(joined.url, 'SELECT count(*) > 0 AS some FROM written')).toEqual([{ some: true }]);
      await joined.stop();
    },
    TIMEOUT_MS,
  );
});
