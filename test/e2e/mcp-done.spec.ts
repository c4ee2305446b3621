// What tools do when all goes well, and pages of which one item alone is too long.
import { bootApp, useService } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { plan, runsOf } from '../harness/automations.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { McpClient } from '../harness/mcp.js';
import { createProject } from '../harness/projects.js';
import { createTask, type TaskBody } from '../harness/tasks.js';

type Json = Record<string, unknown>;
const KIB = 1024;

describe('What tools do (reference §29)', () => {
  const service = useService(() =>
    bootApp({ config: { mcpServers: { echo: { command: 'node', args: ['echo.js'] } } } }),
  );
  let member: Member;
  let mcp: McpClient;
  beforeAll(async () => {
    member = await makeMember(service);
    mcp = new McpClient(service.url, member.key.secret);
  });

  it('create_task makes what the route makes of all its fields', async () => {
    const { id: projectId } = await createProject(member, { name: 'P' });
    const fields = {
      ...{ content: 'Do it.', title: 'A title', projectId, model: 'runbook', effort: 'low', approvals: 'writes' },
      repository: { url: 'https://github.com/acme/mill.git', ref: 'main' },
      budget: { maxSteps: 7, maxTokens: 100_000 },
      tags: ['one', 'two'],
      metadata: { ticket: 'M-1', ü: 'größer' },
      outputSchema: { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] },
      mcpServers: ['echo'],
    };
    const uploads = [await upload(service, member, 'one'), await upload(service, member, 'two')];
    const uploadIds = uploads.map(({ id }) => id);
    const made = (await mcp.done<{ task: TaskBody }>('create_task', { ...fields, uploadIds })).task;
    const others = [await upload(service, member, 'one'), await upload(service, member, 'two')];
    const attachments = others.map(({ id: uploadId }) => ({ uploadId }));
    const direct = await createTask(member.client, { ...fields, attachments });
    const { budget, mcpServers, ...same } = fields;
    expect(made).toMatchObject({ tags: same.tags, metadata: same.metadata, outputSchema: same.outputSchema, budget, mcpServers, projectId, effort: 'low', approvals: 'writes' }); // prettier-ignore
    const all = async ({ id }: TaskBody) => {
      const read = async (path: string) => (await member.client.get(`/v1/tasks/${id}${path}`)).body;
      return unstable([await read(''), await read('/messages'), await read('/files')]);
    };
    expect(await all(made)).toEqual(await all(direct));
    expect(unstable(made)).toEqual(unstable(direct));
  });

  it('run_automation runs it now, once for each key', async () => {
    const { id: automationId } = await createAutomation(member);
    const run = () => mcp.done<{ run: { id: string; automationId: string; trigger: Json } }>('run_automation', { automationId, idempotencyKey: 'run-once-0001' }); // prettier-ignore
    const [first, again] = [await run(), await run()];
    expect(first.run).toMatchObject({ automationId, trigger: { type: 'manual' } });
    expect(again).toEqual(first);
    expect((await runsOf(service.db, automationId)).map(({ id }) => id)).toEqual([first.run.id]);
    const mine = await plan(service.db, member, { cron: '0 9 * * *', dueIn: 86_400 });
    const { run: other } = await mcp.done<{ run: { taskId: string | null } }>('run_automation', { automationId: mine });
    expect((await runsOf(service.db, mine)).map(({ taskId }) => taskId)).toEqual([other.taskId]);
  });

  it('cancel_task cancels, and says so again', async () => {
    const { id: taskId } = await createTask(member.client, { content: 'x' });
    const { task } = await mcp.done<{ task: TaskBody }>('cancel_task', { taskId });
    expect([task.id, task.status]).toEqual([taskId, 'cancelled']);
    const direct = await member.client.post<{ task: TaskBody } & ErrorBody>(`/v1/tasks/${taskId}/cancel`);
    const again = await mcp.call<{ task: TaskBody } & ErrorBody>('cancel_task', { taskId });
    expect(again.body.result.isError ?? false).toBe(direct.status >= 400);
    expect(again.body.result.structuredContent.error?.code).toBe(direct.body.error?.code);
    expect((await mcp.done<{ task: TaskBody }>('get_task', { taskId })).task.status).toBe('cancelled');
  });

  it('upload_file takes a file of 700 KiB, from text and from base64, and none that is larger', async () => {
    const most = 700 * KIB;
    const given: [Json, number | string][] = [
      [{ text: 'x'.repeat(most) }, most],
      [{ base64: Buffer.alloc(most, 7).toString('base64') }, most],
      [{ base64: Buffer.alloc(most - 1, 7).toString('base64') }, most - 1],
      [{ text: 'x'.repeat(most + 1) }, 'text'],
      [{ text: 'ü'.repeat(most / 2 + 1) }, 'text'],
      [{ base64: Buffer.alloc(most + 1, 7).toString('base64') }, 'base64'],
    ];
    for (const [content, expected] of given) {
      const { status, body } = await mcp.call<{ upload: { size: number } } & ErrorBody>('upload_file', { name: 'a.bin', ...content }); // prettier-ignore
      const { upload: made, error } = body.result.structuredContent;
      expect([status, made?.size ?? error.param]).toEqual([200, expected]);
      if (made === undefined) expect(error.code).toBe('invalid_field');
    }
    const over = await mcp.call('upload_file', { name: 'a.txt', text: 'x'.repeat(KIB * KIB) });
    expect([over.status, (over.body as unknown as ErrorBody).error.code]).toEqual([413, 'too_large']);
  });

  it('pages go on behind an item that is too long alone, until all were seen', async () => {
    const { id: taskId } = await createTask(member.client, { content: `0 ${'ü'.repeat(30_000)}` });
    for (let n = 1; n < 8; n += 1) {
      const content = n % 3 === 2 ? `${n} short` : `${n} ${'ü'.repeat(30_000)}`;
      expect((await member.client.post(`/v1/tasks/${taskId}/messages`, { content })).status).toBe(202);
    }
    interface Page {
      messages: { id: string; parts: { text: string }[] }[];
      nextCursor: string | null;
    }
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Page = await mcp.done<Page>('list_messages', { taskId, order, ...(cursor && { cursor }) });
        expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(48 * KIB);
        seen.push(...page.messages.map(({ parts }) => parts[0]?.text[0] ?? ''));
        cursor = page.nextCursor;
      } while (cursor !== null);
      const numbers = [...'01234567'];
      expect([order, seen]).toEqual([order, order === 'asc' ? numbers : numbers.reverse()]);
    }
  });

  it('500 of an operation is an answer of the API, with the one request id, and nothing is made', async () => {
    await service.db.query(`CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`);
    await service.db.query('CREATE TRIGGER fails BEFORE INSERT ON uploads FOR EACH ROW EXECUTE FUNCTION fails()');
    try {
      const { status, headers, body } = await mcp.call('upload_file', { name: 'a.txt', text: 'x' });
      const { error } = body as unknown as ErrorBody;
      expect([status, error.code, error.requestId]).toEqual([500, 'internal_error', headers.get('x-request-id')]);
      expect([headers.get('content-type'), headers.get('x-ratelimit-policy')]).toEqual(['application/json; charset=utf-8', 'file_upload']);
    } finally {
      await service.db.query('DROP TRIGGER fails ON uploads');
    }
    expect(await mcp.done('upload_file', { name: 'a.txt', text: 'x' })).toHaveProperty('upload.size', 1);
  }); // prettier-ignore
});

/** Without ids and times, which are others each time. */
function unstable(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json).replace(/[\da-f]{8}-[\da-f-]{27}|"\d{4}-\d\d-[^"]*Z"/g, (one) => (one.startsWith('"') ? '"…"' : '…'))); // prettier-ignore
}
