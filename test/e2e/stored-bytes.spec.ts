import { Module } from '@nestjs/common';
import { Readable } from 'node:stream';
import { AgentTool, Plugin, type ToolOutcome } from 'millwright';
import { z } from 'zod';
import { newId } from '../../src/platform/database/ids.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { storedFiles } from '../harness/files.js';
import { ROOMY } from '../harness/limits.js';
import { ModelServer } from '../harness/model-server.js';
import { call, readResults, runTask, script } from '../harness/tasks.js';

const LIMIT = 1024 * 1024;
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

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024);
}

@Module({ providers: [GrowTool] })
class GrowModule {}

describe('Stored bytes (reference §7, §14)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url, MAX_UPLOAD_BYTES: String(LIMIT) },
      config: ROOMY,
      imports: [GrowModule],
    });
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
    }, 15_000);
  });
});
