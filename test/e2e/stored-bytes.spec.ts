import { Module } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { AgentTool, Plugin, type ToolOutcome } from 'millwright';
import { z } from 'zod';
import { newId } from '../../src/platform/database/ids.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { checkedFetch, storedFiles, upload } from '../harness/files.js';
import { holding, waiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { newMark, sleeps } from '../harness/processes.js';
import { addProjectFile, createProject, type FileBody } from '../harness/projects.js';
import { call, createTask, readResults, runTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const LIMIT = 1024 * 1024;
/** What the plan of the free workspaces here allows. */
const QUOTA = 2 * LIMIT;
const SETTINGS = {
  env: { MAX_UPLOAD_BYTES: String(LIMIT) },
  config: { plans: { free: { storageBytes: QUOTA, runningTasks: 4 } } },
};
const nothing = z.strictObject({});

/** Hands over a file that never ends, as one does that grows while it is read. */
@Plugin(AgentTool, 'grow')
class GrowTool extends AgentTool<typeof nothing> {
  readonly name = 'grow';
  readonly description = 'Publishes a file that grows while it is read.';
  readonly parameters = nothing;
  readonly repeatable = true;

  execute(): Promise<ToolOutcome> {
    const content = Readable.from(endless());
    return Promise.resolve({ status: 'success', output: {}, files: [{ id: newId(), name: 'grow', content }] });
  }
}

/** Hands over eleven bytes; the last ones come after something else has happened. */
@Plugin(AgentTool, 'late')
class LateTool extends AgentTool<typeof nothing> {
  static meanwhile: () => Promise<unknown> = () => Promise.resolve();
  readonly name = 'late';
  readonly description = 'Publishes a file whose last bytes come late.';
  readonly parameters = nothing;
  readonly repeatable = true;
  override readonly changes = false;

  execute(): Promise<ToolOutcome> {
    const content = Readable.from(slow());
    return Promise.resolve({ status: 'success', output: {}, files: [{ id: newId(), name: 'late', content }] });
  }
}

async function* slow(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(10);
  await LateTool.meanwhile();
  yield Buffer.alloc(1);
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024);
}

@Module({ providers: [GrowTool, LateTool] })
class GrowModule {}

describe('Stored bytes (reference §7, §14)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    const { env, config } = SETTINGS;
    return bootWorker({ env: { ...env, OPENAI_COMPATIBLE_URL: model.url }, config, imports: [GrowModule] });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const bash = (command: string) => call('bash', { command });
  const lastResult = async (...steps: Parameters<typeof script>) => {
    const { id } = await runTask(member.client, script(...steps, { text: 'Done.' }));
    return (await readResults(member.client, id)).at(-1);
  };

  describe('MAX_UPLOAD_BYTES holds for what an agent publishes', () => {
    it('a file of exactly that size is published', async () => {
      const result = await lastResult(bash(`head -c ${LIMIT} /dev/urandom > full`), call('publish', { path: 'full' }));
      expect(result).toMatchObject({ status: 'success', output: { size: LIMIT } });
    });

    it('a sparse file counts by its apparent size: a tool error names it and what lies on disk; nothing is stored', async () => {
      const before = await storedFiles(service);
      const result = await lastResult(bash('truncate -s 2G sparse'), call('publish', { path: 'sparse' }));
      expect(result).toMatchObject({ status: 'error' });
      expect(result?.error).toMatch(/sparse has 2147483648 bytes, of which 0 lie on disk\b.*at most 1048576 bytes/);
      expect(await storedFiles(service)).toEqual(before);
    });

    it('one that grows while it is read is cut off and refused; nothing half-made stays', async () => {
      const before = await storedFiles(service);
      const result = await lastResult(call('grow', {}));
      expect(result).toMatchObject({ status: 'error', error: expect.stringMatching(/at most 1048576 bytes/) });
      expect(await storedFiles(service)).toEqual(before);
    });
  });

  describe('storageBytes of the plan', () => {
    const free = () => makeMember(service, { plan: 'free', role: 'owner' });
    const form = (bytes: Uint8Array<ArrayBuffer>) => {
      const made = new FormData();
      made.append('file', new Blob([bytes]), 'a.bin');
      return made;
    };
    const send = async (who: Member, bytes: Uint8Array<ArrayBuffer>, path = '/v1/uploads', to: TestApp = service) => {
      const headers = { Authorization: `Bearer ${who.key.secret}` };
      const answer = await checkedFetch(to, path, { method: 'POST', headers, body: form(bytes) });
      return { status: answer.status, body: (await answer.json()) as ErrorBody };
    };
    /** Uploads fresh bytes. */
    const store = (who: Member, size: number) => upload(service, who, randomBytes(size));
    const counted = async ({ workspace }: Member) => {
      const sql = `SELECT stored_bytes::int AS stored, workdir_bytes::int AS workdirs FROM storage_usage WHERE workspace_id = $1`;
      const [row] = await service.db.query<{ stored: number; workdirs: number }>(sql, [workspace.id]);
      return row;
    };

    it('an upload that does not fit is 402 storage_exhausted, names the figures and leaves nothing; one that fits passes', async () => {
      const who = await free();
      await store(who, LIMIT);
      await store(who, LIMIT - 1000);
      const before = await storedFiles(service);
      const { status, body } = await send(who, randomBytes(1001));
      expect([status, body.error]).toEqual([
        402,
        expect.objectContaining({ type: 'payment_required', code: 'storage_exhausted', param: null, retryable: false }),
      ]);
      expect(body.error.message).toMatch(
        /stores 2096152 of the 2097152 bytes .* an upload of 1\d{3} bytes does not fit/,
      );
      expect(await storedFiles(service)).toEqual(before);
      expect((await send(who, randomBytes(1000))).status).toBe(201);
      expect(await counted(who)).toEqual({ stored: QUOTA, workdirs: 0 });
    });

    it('one that announces more than fits is refused before its body is sent', async () => {
      const who = await free();
      for (const size of [LIMIT, LIMIT]) await store(who, size);
      const headers = {
        Authorization: `Bearer ${who.key.secret}`,
        'Content-Type': 'multipart/form-data; boundary=b',
        'Content-Length': LIMIT + 500_000,
      };
      const waiting = request(`${service.url}/v1/uploads`, { method: 'POST', headers });
      waiting.flushHeaders();
      const [answer] = (await once(waiting, 'response')) as [IncomingMessage];
      expect([answer.statusCode, ((await json(answer)) as ErrorBody).error.code]).toEqual([402, 'storage_exhausted']);
      waiting.destroy();
    });

    const LOCK = 'SELECT FROM storage_usage WHERE workspace_id = $1 FOR UPDATE';

    it('of parallel uploads that all want the last bytes one passes; the others leave nothing in the storage', async () => {
      const who = await free();
      await store(who, LIMIT);
      const before = await storedFiles(service);
      const size = LIMIT / 2 + 1;
      const held = await holding(service.db, LOCK, [who.workspace.id]);
      let refused = 0;
      const sent = Array.from({ length: 8 }, async () => {
        const { status } = await send(who, randomBytes(size));
        if (status === 402) refused++;
        return status;
      });
      // The one that was given the room waits for the counter; the others are refused while it does.
      await until('seven to be refused', () => Promise.resolve(refused === 7));
      await held.release();
      expect((await Promise.all(sent)).sort()).toEqual([201, ...Array<number>(7).fill(402)]);
      expect(await counted(who)).toEqual({ stored: LIMIT + size, workdirs: 0 });
      expect(await storedFiles(service)).toHaveLength(before.length + 1);
    });

    it('of two to two processes, which know of each other by the counter alone, one passes', async () => {
      const who = await free();
      await store(who, LIMIT);
      const size = LIMIT / 2 + 1;
      const other = await bootApp({ db: service.db, ...SETTINGS });
      try {
        const held = await holding(service.db, LOCK, [who.workspace.id]);
        const sent = Promise.all([service, other].map((to) => send(who, randomBytes(size), '/v1/uploads', to)));
        await until('both to wait for the counter', async () => (await waiting(service.db)).length === 2);
        await held.release();
        const answers = await sent;
        const [stored, refused] = answers.sort((a, b) => a.status - b.status);
        expect([stored?.status, refused?.status]).toEqual([201, 402]);
        expect(refused?.body.error.message).toContain(`a file of ${size} bytes does not fit`);
      } finally {
        await other.close();
      }
    });

    it('files of projects are held to it too; what is deleted makes room at once', async () => {
      const who = await free();
      const { id } = await createProject(who);
      for (const size of [LIMIT, LIMIT]) await addProjectFile(service, who, id, randomBytes(size));
      expect(await send(who, randomBytes(10), `/v1/projects/${id}/files`)).toMatchObject({
        status: 402,
        body: { error: { code: 'storage_exhausted' } },
      });
      const { body } = await who.client.get<{ files: FileBody[] }>(`/v1/projects/${id}/files`);
      await who.client.delete(`/v1/projects/${id}/files/${body.files[0]?.id}`);
      expect((await send(who, randomBytes(10), `/v1/projects/${id}/files`)).status).toBe(201);
      expect(await counted(who)).toEqual({ stored: LIMIT + 10, workdirs: 0 });
    });

    it('a paid workspace has no limit by default', async () => {
      for (const size of [LIMIT, LIMIT, LIMIT]) await store(member, size);
      expect((await counted(member))?.stored).toBeGreaterThan(QUOTA);
    });

    it('publish above it is a tool error that names the figures; nothing of it is stored', async () => {
      const who = await free();
      for (const size of [LIMIT, LIMIT - 80_000]) await store(who, size);
      const before = await storedFiles(service);
      const steps = [bash('head -c 90000 /dev/urandom > big'), call('publish', { path: 'big' }), { text: 'Done.' }];
      const task = await runTask(who.client, script(...steps));
      const result = (await readResults(who.client, task.id)).at(-1);
      expect([task.status, result?.status]).toEqual(['completed', 'error']);
      expect(result?.error).toMatch(/stores \d+ of the 2097152 bytes .*; big of 90000 bytes does not fit/);
      expect(await storedFiles(service)).toEqual(before);
    });

    it('publish whose room another process takes while its bytes are stored is a tool error too', async () => {
      const who = await free();
      for (const size of [LIMIT, LIMIT / 2]) await store(who, size);
      LateTool.meanwhile = () =>
        service.db.query('UPDATE storage_usage SET stored_bytes = stored_bytes + $2 WHERE workspace_id = $1', [
          who.workspace.id,
          LIMIT / 2 - 10,
        ]);
      const task = await runTask(who.client, script(call('late', {}), { text: 'Done.' }));
      const [result] = await readResults(who.client, task.id);
      expect([task.status, result?.status]).toEqual(['completed', 'error']);
      expect(result?.error).toMatch(/stores 2097142 of the 2097152 bytes .*; a file of 11 bytes does not fit/);
      expect((await who.client.get<{ files: unknown[] }>(`/v1/tasks/${task.id}/files`)).body.files).toEqual([]);
      expect(await counted(who)).toEqual({ stored: QUOTA - 10, workdirs: 0 });
    });

    describe('a workdir counts by its size when a command ends', () => {
      const fill = bash('head -c 3000000 /dev/urandom > big');

      it('above it no command runs: the task fails as storage_exhausted, uploads are 402; deleting the task makes room', async () => {
        const who = await free();
        const full = await runTask(who.client, script(fill, { text: 'Filled.' }));
        expect((await counted(who))?.workdirs).toBeGreaterThanOrEqual(3_000_000);
        const next = await runTask(who.client, script(bash('touch ran'), { text: 'Never.' }));
        expect(next).toMatchObject({
          status: 'failed',
          statusReason: {
            code: 'storage_exhausted',
            // The workdir, and its snapshot.
            message: expect.stringMatching(/stores 60\d{5} of the 2097152 bytes .*: delete tasks/),
            retryable: true,
          },
        });
        expect(await readResults(who.client, next.id)).toMatchObject([
          { status: 'error', error: expect.stringMatching(/Nothing was run: .* 2097152 bytes/) },
        ]);
        expect((await send(who, randomBytes(1))).status).toBe(402);
        // What runs no command goes on.
        expect((await runTask(who.client, script({ text: 'Hello.' }))).status).toBe('completed');
        await who.client.delete(`/v1/tasks/${full.id}`);
        expect((await runTask(who.client, script(bash('true'), { text: 'Ran.' }))).status).toBe('completed');
      });

      it('also in the turn that fills it', async () => {
        const who = await free();
        const more = Array.from({ length: 40 }, (_, n) => bash(`: ${n}`));
        const task = await runTask(who.client, script(fill, ...more, { text: 'Never.' }));
        expect([task.status, task.statusReason?.code]).toEqual(['failed', 'storage_exhausted']);
      });

      it('also of a task that is cancelled while the command runs', async () => {
        const who = await free();
        const mark = newMark();
        const content = script(bash(`head -c 3000000 /dev/urandom > big; sleep ${mark}`));
        const { id } = await createTask(who.client, { content });
        await sleeps(mark);
        expect((await who.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
        await until('the workdir to be counted', async () => ((await counted(who))?.workdirs ?? 0) >= 3_000_000);
      });
    });
  });
});
