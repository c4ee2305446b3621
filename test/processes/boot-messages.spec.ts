import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { freePort } from '../harness/ports.js';
import { MAIN, ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

describe('A boot that cannot succeed says why in words (reference §16)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    db = await createDatabase();
    const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
    env = { DATA_DIR: join(folder.path, 'data'), DATABASE_URL: db.url, SECRET_KEY, ROLE: 'api' };
  });
  afterAll(async () => {
    await db.drop();
    folder.remove();
  });

  /** The one sentence beside the lines of the log; fails unless it ends by itself, with 1, and nowhere with a stack. */
  async function refusal(change: Record<string, string>, through: string[] = []): Promise<string> {
    const service = await ServiceProcess.spawn({ ...env, ...change }, MAIN, through);
    await until('it to end', () => service.ended, { within: 150_000 });
    expect([service.child.exitCode, service.log]).toEqual([1, expect.not.stringMatching(/^\s+at |"stack"/m)]);
    const said = service.log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(said).toHaveLength(1);
    return said[0] ?? '';
  }

  it('the listen address is in use', async () => {
    const port = await freePort();
    const taken: Server = createServer().listen(port, '127.0.0.1');
    try {
      const said = await refusal({ PORT: String(port) });
      expect(said).toContain(`HOST, PORT: an address that is free is expected, and 127.0.0.1:${port} is not`);
    } finally {
      taken.close();
    }
  });

  it('the listen address is none of this machine, and the database has not been asked for', async () => {
    const said = await refusal({ HOST: '192.0.2.1', DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' });
    expect(said).toContain('HOST: an address of this machine is expected, and 192.0.2.1 is none');
  });

  it.each([
    ['SANDBOX', 'one of auto, bubblewrap, namespaces, none is expected.'],
    ['STORAGE', 'one of local, s3 is expected.'],
    ['BILLING', 'one of operator is expected.'],
    ['AGENT_ENGINE', 'one of loop is expected.'],
  ])(
    '%s names nothing that exists, and the database has not been asked for',
    async (variable, expected) => {
      const said = await refusal({ [variable]: 'foo', ROLE: 'worker', DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' });
      expect(said).toBe(`${variable}: ${expected}`);
    },
    60_000,
  );

  it('DATA_DIR cannot be made', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    expect(await refusal({ DATA_DIR: join(file, 'data') })).toMatch(
      /^DATA_DIR: a folder that can be made is expected \(ENOTDIR/m,
    );
  });

  it('the limit of open files is below the one of a command', async () => {
    expect(await refusal({ ROLE: 'worker' }, ['prlimit', '--nofile=4095:4095'])).toMatch(
      /^nofile: a hard limit of at least 4096 is expected where tasks run\. .* open 4095 files /,
    );
  });

  it('a paid bucket is smaller than the free one', async () => {
    const file = join(folder.path, 'limits.json');
    const paid = { policies: { file_upload: { capacity: 19 } } };
    writeFileSync(file, JSON.stringify({ rateLimits: { paid } }));
    expect(await refusal({ CONFIG_FILE: file })).toMatch(/^CONFIG_FILE, rateLimits.*file_upload/m);
  });

  it('the system does not let it open as many files as are configured', async () => {
    expect(await refusal({ MAX_CONNECTIONS: '9999999' })).toMatch(
      /^MAX_CONNECTIONS: at most \d+ is expected\. The system lets this process open \d+ files \(the hard limit of nofile\)/,
    );
  });

  it('DATABASE_URL leads nowhere; the message holds no password', async () => {
    const port = await freePort();
    const said = await refusal({ DATABASE_URL: `postgres://postgres:top-secret@127.0.0.1:${port}/postgres` });
    expect(said).toMatch(/^DATABASE_URL: a PostgreSQL that answers there is expected \(.*ECONNREFUSED/m);
    expect(said).not.toContain('top-secret');
  });
});

describe('A boot that succeeds (reference §16)', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('says on a terminal where it listens and what it works with, in two lines after what is in force and its warnings', async () => {
    const db = await createDatabase();
    const port = await freePort();
    // An empty database has a third line, once: how to make a key.
    await db.query(
      `INSERT INTO users (id, email, name) VALUES (gen_random_uuid(), 'somebody@example.test', 'Somebody')`,
    );
    try {
      const said = (ROLE: string) => onTerminal({ DATABASE_URL: db.url, PORT: String(port), ROLE });
      const ready = `Ready at http://127.0.0.1:${port}`;
      expect(await said('api')).toEqual([
        'Warning, RateLimits: Without REDIS_URL rate limits count per process: each api process grants them anew.',
        expect.stringMatching(/^In force: .*Connections: at most \d+, \d+ of them from one address\..*Kept free/),
        ready,
        'Models: runbook. Sandbox: none, ROLE=api runs no task.',
      ]);
      const all = await said('all');
      expect(all.slice(-2)).toEqual([ready, expect.stringMatching(/^Models: runbook\. Sandbox: \w+\.$/)]);
      // One line of what is in force; one at most of what this machine lacks.
      expect(all.slice(0, -2).join('\n')).toMatch(/^In force: .*Sandbox \w+: .*(\nWarning: Missing: .*)?$/);
    } finally {
      await db.drop();
    }
  });

  it('under a low limit of open files says so by its name, and serves', async () => {
    const db = await createDatabase();
    const port = await freePort();
    try {
      const said = await onTerminal(
        { DATABASE_URL: db.url, PORT: String(port), ROLE: 'api' },
        'prlimit --nofile=700:700',
      );
      expect(said[0]).toMatch(
        /^Warning, Connections: The system lets this process open 700 files \(the hard limit of nofile\), so it takes 444 connections/,
      );
      expect(said).toContain(`Ready at http://127.0.0.1:${port}`);
    } finally {
      await db.drop();
    }
  });

  it('elsewhere logs JSON, and what Nest wires only at debug', async () => {
    const db = await createDatabase();
    try {
      for (const [LOG_LEVEL, wired] of [
        ['info', false],
        ['debug', true],
      ] as const) {
        const service = await ServiceProcess.start({ ...settings(), DATABASE_URL: db.url, ROLE: 'api', LOG_LEVEL });
        await service.end();
        const lines = service.log
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { context: string; level: number });
        expect(lines).toContainEqual(expect.objectContaining({ level: 30, msg: `Ready at ${service.url}` }));
        const wiring = lines.filter(({ context }) =>
          /^(NestFactory|InstanceLoader|Rout.*|NestApplication)$/.test(context),
        );
        expect([LOG_LEVEL, wiring.length > 0]).toEqual([LOG_LEVEL, wired]);
        expect(wiring.every(({ level }) => level === 20)).toBe(true);
      }
    } finally {
      await db.drop();
    }
  });

  const settings = () => ({
    DATA_DIR: join(folder.path, 'data'),
    SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
  });

  /** The lines that the service prints until it listens, with a terminal as its standard output. */
  async function onTerminal(env: Record<string, string>, below = ''): Promise<string[]> {
    const line = `exec ${below} ${process.execPath} ${MAIN}`;
    const child = spawn('script', ['--quiet', '--flush', '--command', line, '/dev/null'], {
      env: { PATH: process.env['PATH'], SHELL: '/bin/sh', ...settings(), ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk) => (said += String(chunk)));
    try {
      await until('it to be ready', () => /Models: .*\r\n/.test(said), { within: 150_000 });
      return said.split('\r\n').filter((line) => line !== '');
    } finally {
      const gone = once(child, 'exit');
      // Control-C, as a person types it.
      child.stdin.write('\u0003');
      await gone;
    }
  }
});
