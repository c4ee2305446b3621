import sharp from 'sharp';
import { FolderSandbox } from '../../../../test/harness/folder-sandbox.js';
import { SandboxError, SandboxFileError } from '../../sandbox/sandbox.js';
import type { ToolContext } from '../agent-tool.js';
import { outcomeOf } from './call-result.js';

describe('The result of a call that was carried out (reference §28)', () => {
  const sandbox = new FolderSandbox();
  const { signal } = new AbortController();
  afterAll(() => sandbox.remove());

  const sound = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
  const text = { type: 'text', text: 'It is done.' };
  const result = (content: object[], open: ToolContext['sandbox'], input: ToolContext['input'] = ['text', 'image']) => {
    const ids = { taskId: '', workspaceId: '', userId: '', toolCallId: 'call' };
    const context: ToolContext = { ...ids, signal, sandbox: open, input };
    return outcomeOf({ raw: { content }, asked: null }, 'docs', context);
  };

  it.each([
    [
      'no sandbox is to be had',
      () => Promise.reject(new SandboxError('/host/path is full')),
      'there is no sandbox at the moment.',
    ],
    [
      'its place is taken, or full',
      async () => {
        const session = await sandbox.open({ taskId: '', signal });
        session.writeFile = () => Promise.reject(new SandboxFileError('not_a_file', '/tmp/mcp is a file.'));
        return session;
      },
      '/tmp/mcp is a file.',
    ],
  ] as const)('stands, with a word on the file that is not kept, when %s', async (_, open, why) => {
    expect(await result([text, sound], open)).toMatchObject({
      status: 'success',
      output: { text: `It is done.\n[2.wav, audio/wav, 3 bytes, is not kept: ${why}]` },
    });
  });

  it('shows twenty pictures, and keeps the others as files', async () => {
    const pixel = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    const pictures = Array.from({ length: 23 }, () => ({ type: 'image', data: pixel.toString('base64') }));
    const outcome = await result(pictures, () => sandbox.open({ taskId: '', signal }));
    const { output, files, forModel } = outcome as unknown as {
      output: { text: string };
      files: { content: { destroy(): void } }[];
      forModel: { files: unknown[] };
    };
    expect([files.length, forModel.files.length]).toEqual([20, 20]);
    const told = output.text.split('\n');
    expect(told[19]).toContain('You are shown it');
    expect(told.slice(20)).toEqual(
      [21, 22, 23].map((n) => `[/tmp/mcp/call/${n}.png, image/png, ${pixel.length} bytes.]`),
    );
    for (const file of files) file.content.destroy();
  });

  it('has pictures and PDF that a model does not read as files, and shows them to one that does', async () => {
    const pdf = { type: 'resource', resource: { blob: Buffer.from('%PDF-1.4 text').toString('base64') } };
    const open = () => sandbox.open({ taskId: '', signal });
    expect(await result([pdf], open)).toMatchObject({
      output: { text: '[/tmp/mcp/call/1.pdf, application/pdf, 13 bytes.]' },
      files: [],
    });
    const shown = await result([pdf], open, ['text', 'file']);
    expect(shown).toMatchObject({ output: { text: expect.stringContaining('You are shown it.') as unknown } });
  });

  it('has a part for each link with an address of the web, and for no other', async () => {
    const link = (uri: string) => ({ type: 'resource_link', uri, name: 'A page' });
    const links = [link('https://docs.example/a'), link('file:///etc/passwd'), link('javascript:alert(1)')];
    const { parts } = (await result(links, () => sandbox.open({ taskId: '', signal }))) as { parts?: object[] };
    expect(parts).toMatchObject([{ type: 'source_url', url: 'https://docs.example/a', title: 'A page' }]);
  });
});
