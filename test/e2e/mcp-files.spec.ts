import { v7 as uuidv7 } from 'uuid';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { McpClient } from '../harness/mcp.js';

const NONE = uuidv7();

describe('Files through tools and resources (reference §29)', () => {
  let member: Member;
  let taskId: string;
  let mcp: McpClient;
  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    taskId = await makeTask(service, member);
    mcp = new McpClient(service.url, member.key.secret);
  });
  const file = async (bytes: string | Uint8Array<ArrayBuffer>, name = 'a.txt', type = 'text/plain') => {
    const [made] = await attach(service, member, taskId, [(await upload(service, member, bytes, { name, type })).id]);
    return made?.id ?? '';
  };
  const read = async (args: Record<string, unknown>) => (await mcp.call('read_file', args)).body.result;

  it('text is read as text, piece by piece, without breaking a character', async () => {
    const text = Array.from({ length: 9000 }, (_, n) => `Zeile ${n} – größer\n`).join('');
    const fileId = await file(text);
    let all = '';
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const { content, structuredContent } = await read({ fileId, offset });
      expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThanOrEqual(48 * 1024);
      all += content[0]?.text ?? '';
      offset = structuredContent['nextOffset'] as number | undefined;
    }
    expect(all === text).toBe(true);
    const piece = await read({ fileId, offset: 6, length: 3 });
    expect(piece.structuredContent).toMatchObject({ text: '0 ', nextOffset: 8, size: Buffer.byteLength(text) });
  });

  it('an empty file is an empty text, and a place behind the end is the error of the route', async () => {
    const fileId = await file('');
    expect((await read({ fileId })).content).toEqual([{ type: 'text', text: '' }]);
    const empty = await read({ fileId: await file('', 'a.bin', 'application/octet-stream') });
    expect(empty.structuredContent).toMatchObject({ size: 0, mediaType: 'application/octet-stream' });
    const beyond = await read({ fileId: await file('abc'), offset: 10 });
    expect([beyond.isError, (beyond.structuredContent as unknown as ErrorBody).error.code]).toEqual([true, 'range_not_satisfiable']);
  }); // prettier-ignore

  it('an image of up to 1 MiB is an image, everything else is base64', async () => {
    const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
    const large = Buffer.concat([pixel, Buffer.alloc(200_000, 7)]);
    for (const bytes of [pixel, large]) {
      const { content } = await read({ fileId: await file(bytes, 'a.png', 'image/png') });
      expect([content.length, content[0]?.type, content[0]?.mimeType]).toEqual([1, 'image', 'image/png']);
      expect(content[0]?.data === bytes.toString('base64')).toBe(true);
    }
    const binary = Buffer.alloc(100_000, 0xfe);
    const first = await read({ fileId: await file(binary, 'a.bin', 'application/octet-stream') });
    expect(Buffer.byteLength(JSON.stringify(first.structuredContent))).toBeLessThanOrEqual(48 * 1024);
    const { base64, nextOffset } = first.structuredContent as { base64: string; nextOffset: number };
    expect(Buffer.from(base64, 'base64').length).toBe(nextOffset);
    const huge = await read({ fileId: await file(Buffer.concat([pixel, Buffer.alloc(1024 * 1024)]), 'b.png', 'image/png') });
    expect(huge.structuredContent).toHaveProperty('base64');
  }); // prettier-ignore

  it('a file is uploaded from text or base64, under any name, and attached', async () => {
    const names = ['notes.md', 'Übersicht "报告" 🎉.md', "it's (1); x=%41.txt"];
    for (const name of names) {
      const { upload: made } = await mcp.done<{ upload: { id: string; name: string; size: number } }>('upload_file', { name, text: 'größer' }); // prettier-ignore
      expect([made.name, made.size]).toEqual([name, 8]);
    }
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    const { upload: binary } = await mcp.done<{ upload: { id: string; size: number } }>('upload_file', { name: 'a.bin', base64: bytes.toString('base64') }); // prettier-ignore
    const { task } = await mcp.done<{ task: { id: string } }>('create_task', { content: 'x', uploadIds: [binary.id] });
    const { files } = await mcp.done<{ files: { id: string; size: number }[] }>('list_files', { taskId: task.id });
    expect(files.map(({ size }) => size)).toEqual([256]);
    const whole = await read({ fileId: files[0]?.id });
    expect(whole.structuredContent['base64']).toBe(bytes.toString('base64'));
  });

  it('a resource is text or base64 up to 1 MiB, above that the error names read_file and downloadUrl', async () => {
    const uriOf = (id: string) => ({ uri: `millwright://files/${id}` });
    const text = await file('größer');
    const answer = await mcp.ask('resources/read', uriOf(text));
    expect(answer.body.result).toEqual({ contents: [{ ...uriOf(text), mimeType: 'text/plain', text: 'größer' }] });
    expect(answer.headers.get('x-ratelimit-policy')).toBe('resource_read');
    const binary = await file(Buffer.from([0, 255]), 'a.bin', 'application/octet-stream');
    const blob = { ...uriOf(binary), mimeType: 'application/octet-stream', blob: 'AP8=' };
    expect((await mcp.ask('resources/read', uriOf(binary))).body.result).toEqual({ contents: [blob] });
    const large = await file('x'.repeat(1024 * 1024 + 1));
    const refused = (await mcp.ask('resources/read', uriOf(large))).body.error;
    expect(refused.code).toBe(-32602);
    expect(refused.message).toContain(`${service.url}/v1/files/${large}/content`);
    expect(refused.message).toContain('read_file');
    for (const uri of [`millwright://files/${NONE}`, 'millwright://files/', 'file:///etc/passwd', 5]) {
      expect((await mcp.ask('resources/read', { uri })).body.error.code).toBe(-32602);
    }
    const scopes = SCOPES.filter((one) => one !== 'files:read');
    const { key } = await makeMember(service, { workspace: member.workspace, role: 'owner', scopes });
    const error = (await new McpClient(service.url, key.secret).ask('resources/read', uriOf(text))).body.error;
    expect([error.code, (error.data as unknown as ErrorBody).error.code]).toEqual([-32602, 'missing_scope']);
  });
});
