import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { LOCKS } from '../../src/platform/database/locks.js';
import { AUTOMATIONS, type AutomationBody, type RunBody } from '../harness/automation-requests.js';
import { Client } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { emptyDatabase, type NewDatabase } from '../harness/new-database.js';
import { newMark, sleeps } from '../harness/processes.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, readResults, readTask, runTask, script, type TaskBody } from '../harness/tasks.js';
import { expectToldTo } from '../harness/told.js';
import { until } from '../harness/until.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

interface FileBody {
  id: string;
  sha256: string;
  downloadUrl: string;
}

function command(env: Record<string, string>, ...words: string[]) {
  const child = spawn(process.execPath, [CLI, ...words], { env: { PATH: process.env['PATH'], ...env } });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, out, err }));
  return { child, ended };
}

async function succeeds(env: Record<string, string>, ...words: string[]): Promise<string> {
  const { code, out, err } = await command(env, ...words).ended;
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

async function upload(client: Client, secret: string, url: string, content: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob([content]), 'a.txt');
  const headers = { Authorization: `Bearer ${secret}` };
  const answer = await fetch(`${url}/v1/uploads`, { method: 'POST', headers, body: form });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { upload: { id: string } }).upload.id;
}

/** Tasks with an attachment each that come and every third of which goes, until it is told to stop. */
class Load {
  /** Those that were there before a moment and stay. */
  readonly kept: string[] = [];
  private stopping = false;
  private readonly over: Promise<unknown>;

  constructor(
    private readonly client: Client,
    private readonly secret: string,
    private readonly url: string,
  ) {
    this.over = Promise.all([this.loop(), this.loop()]);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.over;
  }

  private async loop(): Promise<void> {
    for (let n = 0; !this.stopping; n++) {
      const uploadId = await upload(this.client, this.secret, this.url, randomUUID());
      const { id } = await createTask(this.client, { content: 'Read this.', attachments: [{ uploadId }] });
      if (n % 3 !== 0) this.kept.push(id);
      else await this.client.delete(`/v1/tasks/${id}`);
    }
  }
}

describe('backup and restore of a service that works (reference §16)', () => {
  const folder = temporaryFolder();
  const backup = join(folder.path, 'backup');
  const mark = newMark();
  let model: ModelServer;
  let common: Record<string, string>;
  let secret: string;
  let server: NewDatabase;
  /** As the original had it when the backup began. */
  let before: {
    running: string[];
    queued: string[];
    published: TaskBody;
    loaded: string[];
    fired: AutomationBody;
    planned: AutomationBody;
  };

  const tasksOf = async (client: Client): Promise<TaskBody[]> => {
    const found: TaskBody[] = [];
    for (let cursor = ''; ;) {
      const { body } = await client.get<{ tasks: TaskBody[]; nextCursor: string | null }>(
        `/v1/tasks?limit=100${cursor}`,
      );
      found.push(...body.tasks);
      if (body.nextCursor === null) return found;
      cursor = `&cursor=${body.nextCursor}`;
    }
  };
  const runsOf = async (client: Client, { id }: AutomationBody) =>
    (await client.get<{ runs: RunBody[] }>(`${AUTOMATIONS}/${id}/runs`)).body.runs;
  const automation = async (client: Client, more: object) => {
    const body = { name: 'Once', content: 'Say what you see.', ...more };
    return (await client.post<{ automation: AutomationBody }>(AUTOMATIONS, body)).body.automation;
  };

  /** What is true of every copy. */
  async function carriesOn(copy: ServiceProcess): Promise<void> {
    const client = new Client(copy.url, secret);
    const there = new Set((await tasksOf(client)).map(({ id }) => id));
    for (const id of [...before.loaded, ...before.running, ...before.queued]) expect(there).toContain(id);
    for (const id of before.running) {
      expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'After all.' } });
      const results = await readResults(client, id);
      expect(results.map(({ status }) => status)).toEqual(['success', 'error', 'success']);
      expect(results[1]?.error).toMatch(/may have run partly/);
      expect(results[2]?.output).toMatchObject({ stdout: 'once\n-rwxr-x--- link\n' });
    }
    for (const id of before.queued) expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    await expectToldTo(client, ...before.running, ...before.queued);
    expect(await readTask(client, before.published.id)).toEqual(before.published);
    let files = 0;
    for (const id of there) {
      const { body } = await client.get<{ files: FileBody[] }>(`/v1/tasks/${id}/files`);
      for (const file of body.files) {
        const content = await fetch(file.downloadUrl, { headers: { Authorization: `Bearer ${secret}` } });
        const bytes = Buffer.from(await content.arrayBuffer());
        expect([file.id, createHash('sha256').update(bytes).digest('hex')]).toEqual([file.id, file.sha256]);
        files++;
      }
    }
    expect(files).toBeGreaterThanOrEqual(before.loaded.length + 1);
    // What fired before the copy does not fire again; what was planned fires once, however late.
    expect(await runsOf(client, before.fired)).toHaveLength(1);
    await until('the planned one to fire', async () => (await runsOf(client, before.planned)).length > 0, {
      within: 150_000,
    });
    const now = (await client.get<{ automation: AutomationBody }>(`${AUTOMATIONS}/${before.planned.id}`)).body
      .automation;
    expect(now).toMatchObject({ status: 'completed', nextRunAt: null });
    expect(await runsOf(client, before.planned)).toHaveLength(1);
    expect(await runsOf(client, before.fired)).toHaveLength(1);
  }

  beforeAll(async () => {
    model = await ModelServer.start();
    // What a worker of the original has leased is nobody's in a copy, however long the lease.
    common = { OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: '3600' };
    server = await emptyDatabase();
  });
  afterAll(async () => {
    await model.stop();
    await server.drop();
    folder.remove();
  });

  it('is made while tasks are created, worked on and deleted', async () => {
    const env = { ...common, DATA_DIR: join(folder.path, 'original'), WORKER_CONCURRENCY: '3' };
    const service = await ServiceProcess.start(env);
    let load: Load | undefined;
    try {
      const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
      secret = (JSON.parse(await succeeds(env, ...words)) as { key: { secret: string } }).key.secret;
      const client = new Client(service.url, secret);
      const write = call('bash', { command: 'echo 42 > answer.txt' });
      const published = await runTask(
        client,
        script(write, call('publish', { path: 'answer.txt' }), { text: 'There.' }),
      );
      expect(published.result?.fileIds).toHaveLength(1);
      // Two of three places are for what a workspace has besides its first task; what comes then is queued.
      const make = 'echo once >> kept.txt; ln -s kept.txt link; touch mode; chmod 750 mode';
      const look = `cat link; stat -c %A mode | tr '\\n' ' '; find . -type l -printf '%f\\n'`;
      const commands = [make, `sleep ${mark}`, look].map((one) => call('bash', { command: one }));
      const content = script(...commands, { text: 'After all.' });
      const running = [await createTask(client, { content }), await createTask(client, { content })].map(
        ({ id }) => id,
      );
      await sleeps(mark);
      const statuses = () => Promise.all(running.map(async (id) => (await readResults(client, id)).length));
      await until('both to be at work', async () => (await statuses()).every((results) => results === 1));
      const queued = [(await createTask(client, { content: script({ text: 'At last.' }) })).id];
      const soon = await automation(client, { runAt: new Date(Date.now() + 1_000).toISOString() });
      await until('it to fire', async () => (await runsOf(client, soon)).length === 1);
      const planned = await automation(client, { runAt: new Date(Date.now() + 30_000).toISOString() });
      load = new Load(client, secret, service.url);
      await until('some load', () => (load?.kept.length ?? 0) > 5);
      before = { running, queued, published, loaded: [...(load?.kept ?? [])], fired: soon, planned };
      const answer = JSON.parse(await succeeds(env, 'backup', backup, '--json')) as { backup: { files: { lost: [] } } };
      expect(answer.backup.files.lost).toEqual([]);
    } finally {
      await load?.stop();
      expect(await service.end()).toBe(0);
    }
  });

  it('carries on from a new DATA_DIR', async () => {
    const env = { ...common, DATA_DIR: join(folder.path, 'copy') };
    await succeeds(env, 'restore', backup);
    const copy = await ServiceProcess.start(env);
    try {
      await carriesOn(copy);
    } finally {
      await copy.end();
    }
    expect(await command(env, 'restore', backup).ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is not empty/),
    });
  });

  it('carries on from a server, whose owner is no superuser', async () => {
    const SECRET_KEY = readFileSync(join(backup, 'secret.key'), 'utf8').trim();
    const env = { ...common, DATABASE_URL: server.url, DATA_DIR: join(folder.path, 'beside'), SECRET_KEY };
    await succeeds(env, 'restore', backup);
    const copy = await ServiceProcess.start(env);
    try {
      await carriesOn(copy);
    } finally {
      await copy.end();
    }
  });

  it('that is killed leaves no lock behind, and no backup', async () => {
    const SECRET_KEY = readFileSync(join(backup, 'secret.key'), 'utf8').trim();
    const env = { ...common, DATABASE_URL: server.url, DATA_DIR: join(folder.path, 'beside'), SECRET_KEY };
    const half = join(folder.path, 'half');
    const holder = new pg.Client({ connectionString: server.url });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE');
      const { child, ended } = command(env, 'backup', half);
      const locks = () =>
        server.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LOCKS.unusedBytes} AND granted`);
      await until('it to wait for the table', async () => (await locks()).length === 1, { within: 150_000 });
      child.kill('SIGKILL');
      await ended;
      await holder.query('ROLLBACK');
      await until('its locks to be gone', async () => (await locks()).length === 0);
    } finally {
      await holder.end();
    }
    expect(existsSync(join(half, 'manifest.json'))).toBe(false);
    const { code, err } = await command({ ...env, DATA_DIR: join(folder.path, 'none') }, 'restore', half).ended;
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/holds no finished backup/) });
  });
});
