// How a call of a tool gets to its operation, and back.
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { McpClient } from '../harness/mcp.js';

describe('A tool call behind a proxy (reference §29)', () => {
  const service = useService(() => bootApp({ env: { TRUST_PROXY: 'loopback' } }));

  it('has the address, host and scheme that the proxy forwards, and one request id', async () => {
    const member = await makeMember(service);
    const taskId = await makeTask(service, member);
    const [file] = await attach(service, member, taskId, [(await upload(service, member, 'x')).id]);
    const mcp = new McpClient(service.url, member.key.secret);
    const headers = {
      'X-Forwarded-For': '203.0.113.7',
      'X-Forwarded-Host': 'mill.example',
      'X-Forwarded-Proto': 'https',
    };
    const call = (name: string, args: object) =>
      mcp.ask<{ structuredContent: { files: { downloadUrl: string }[] } }>('tools/call', { name, arguments: args }, headers); // prettier-ignore
    const { files } = (await call('list_files', { taskId })).body.result.structuredContent;
    expect(files[0]?.downloadUrl).toBe(`https://mill.example/v1/files/${file?.id}/content`);
    const made = await call('create_task', { content: 'x' });
    const [act] = await service.db.query<{ address: string; id: string }>(
      `SELECT address, request_id AS id FROM audit_log WHERE action = 'task.create'`,
    );
    expect(act).toEqual({ address: '203.0.113.7', id: made.headers.get('x-request-id') });
  });
});

describe('What an operation cannot do now (reference §29)', () => {
  const service = useService(() => bootApp({ env: { DISK_RESERVE_BYTES: String(2 ** 52) } }));

  it('503 of the operation is an answer of the API', async () => {
    const { key } = await makeMember(service);
    const mcp = new McpClient(service.url, key.secret);
    const answer = await mcp.call('create_task', { content: 'x' });
    const { error } = answer.body as unknown as ErrorBody;
    expect([answer.status, error.code, answer.headers.get('retry-after')]).toEqual([503, 'storage_full', '30']);
    expect(error.requestId).toBe(answer.headers.get('x-request-id'));
    // What reads goes on.
    expect(await mcp.done('list_tasks')).toEqual({ tasks: [], nextCursor: null });
  });

  it('the document has the operation with any JSON object in and out', async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
    const { requestBody, responses } = document.paths['/mcp']?.['post'] ?? {};
    expect(requestBody?.content).toEqual({ 'application/json': { schema: { type: 'object' } } });
    const $ref = '#/components/schemas/McpTakeResponse';
    for (const status of ['200', '400', '404']) {
      expect(responses?.[status]?.content).toEqual({ 'application/json': { schema: { $ref } } });
    }
    expect(document.components['schemas']?.['McpTakeResponse']).toMatchObject({ type: 'object', additionalProperties: {} }); // prettier-ignore
  });
});
