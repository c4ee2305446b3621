import { assistant, call, user } from '../../../../test/harness/agent.js';
import { AWS, ProviderBench } from '../../../../test/harness/provider-bench.js';
import type { ConversationMessage, KeptFile } from '../conversation.js';
import { type FileContent, leftOutFirst, readableType } from '../request-files.js';

type Json = Record<string, unknown>;

let bench: ProviderBench;
beforeAll(async () => {
  bench = await ProviderBench.start();
});
afterAll(() => bench.close());

const kept = (name: string, mediaType: string): KeptFile => ({ sha256: 'f'.repeat(64), mediaType, name, size: 3 });
const attached = (fileId: string, name: string, mediaType: string) => {
  return { type: 'file' as const, fileId, name, mediaType, path: `attachments/${name}` };
};
const conversation: ConversationMessage[] = [
  user('', {
    parts: [
      { type: 'text', text: 'Look.' },
      attached('one', 'a.png', 'image/png'),
      attached('two', 'b.pdf', 'application/pdf'),
      attached('three', 'c.png', 'image/png'),
    ],
  }),
  assistant(
    '',
    call('r1', 'read', { path: 'd.png' }, shows('d.png is a picture.', kept('d.png', 'image/jpeg'))),
    call('r2', 'read', { path: 'e.pdf' }, shows('e.pdf is a PDF.', kept('e.pdf', 'application/pdf'))),
    call('r3', 'read', { path: 'f.png' }, shows('f.png is a picture.', kept('f.png', 'image/png'))),
  ),
];
function shows(output: string, file: KeptFile) {
  return { status: 'success' as const, output, forModel: { files: [file] } };
}

const contents = new Map<string, FileContent>([
  ['one', { mediaType: 'image/png', name: 'a.png', data: 'AAAA' }],
  ['two', { mediaType: 'application/pdf', name: 'b.pdf', data: 'BBBB' }],
  ['three', { why: 'it is too large' }],
  ['r1/0', { mediaType: 'image/jpeg', name: 'd.png', data: 'DDDD' }],
  ['r2/0', { mediaType: 'application/pdf', name: 'e.pdf', data: 'EEEE' }],
  ['r3/0', { why: 'it is too large' }],
]);
const sent = async (provider: string, model: string, variables?: Record<string, string>) => {
  const files = { contents: () => Promise.resolve(contents) };
  const { body } = await bench.sent(bench.providerOf(provider, model, variables), null, conversation, { files });
  return (body['input'] ?? body['contents'] ?? body['messages']) as Json[];
};

const names = {
  a: '[Attached file, in the workdir: attachments/a.png (image/png)]',
  b: '[Attached file, in the workdir: attachments/b.pdf (application/pdf)]',
  c: '[Attached file, in the workdir: attachments/c.png (image/png)]\n[Not shown: it is too large.]',
};
const said = {
  d: 'd.png is a picture.',
  e: 'e.pdf is a PDF.',
  f: 'f.png is a picture.\n[Not shown: it is too large.]',
};

describe('Pictures and documents in the body of each kind of provider', () => {
  it.each([
    ['anthropic', 'claude-sonnet-5-5', undefined],
    ['amazon-bedrock', 'eu.anthropic.claude-sonnet-5-5', AWS],
  ])('%s, %s: in the message, and in the results', async (provider, model, variables) => {
    const [message, , results] = await sent(provider, model, variables);
    const text = (value: string) => ({ type: 'text', text: value });
    const source = (media_type: string, data: string) => ({ type: 'base64', media_type, data });
    const document = (data: string) => ({ type: 'document', source: source('application/pdf', data) });
    expect(withoutMarks(message?.['content'])).toEqual([
      text('Look.'),
      text(names.a),
      { type: 'image', source: source('image/png', 'AAAA') },
      text(names.b),
      { ...document('BBBB'), title: 'b.pdf' },
      text(names.c),
    ]);
    const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content });
    expect(withoutMarks(results?.['content'])).toEqual([
      result('r1', [text(said.d), { type: 'image', source: source('image/jpeg', 'DDDD') }]),
      result('r2', [text(said.e), document('EEEE')]),
      result('r3', said.f),
    ]);
  });

  it('openai: in the message, and in the results', async () => {
    const items = await sent('openai', 'gpt-5.5');
    const text = (value: string) => ({ type: 'input_text', text: value });
    const url = (type: string, data: string) => `data:${type};base64,${data}`;
    expect(items.find(({ role }) => role === 'user')).toEqual({
      role: 'user',
      content: [
        text('Look.'),
        text(names.a),
        { type: 'input_image', image_url: url('image/png', 'AAAA') },
        text(names.b),
        { type: 'input_file', filename: 'b.pdf', file_data: url('application/pdf', 'BBBB') },
        text(names.c),
      ],
    });
    const output = (call_id: string, output: unknown) => ({ type: 'function_call_output', call_id, output });
    expect(items.filter(({ type }) => type === 'function_call_output')).toEqual([
      output('r1', [text(said.d), { type: 'input_image', image_url: url('image/jpeg', 'DDDD') }]),
      output('r2', [
        text(said.e),
        { type: 'input_file', filename: 'e.pdf', file_data: url('application/pdf', 'EEEE') },
      ]),
      output('r3', said.f),
    ]);
  });

  it('google: in the message, and in one behind the results', async () => {
    const [message, , results, behind] = await sent('google', 'gemini-2.5-pro');
    const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
    expect(message?.['parts']).toEqual([
      { text: 'Look.' },
      { text: names.a },
      inline('image/png', 'AAAA'),
      { text: names.b },
      inline('application/pdf', 'BBBB'),
      { text: names.c },
    ]);
    const responses = results?.['parts'] as { functionResponse: { response: { content: string } } }[];
    expect(responses.map(({ functionResponse }) => functionResponse.response.content)).toEqual(Object.values(said));
    expect(behind).toEqual({
      role: 'user',
      parts: [
        { text: '[Shown by read, call r1]' },
        inline('image/jpeg', 'DDDD'),
        { text: '[Shown by read, call r2]' },
        inline('application/pdf', 'EEEE'),
      ],
    });
  });

  it('amazon-bedrock: a document by no name of a client, which it would refuse, and each by another one', async () => {
    const messages = await sent('amazon-bedrock', 'amazon.nova-pro-v1:0', AWS);
    const documents = JSON.stringify(messages).match(/"document":\{"format":"pdf","name":"[^"]*"/g);
    expect(documents).toEqual([1, 2].map((n) => `"document":{"format":"pdf","name":"document-${n}"`));
  });

  it('openai-compatible: in the message, and in one behind the results', async () => {
    const messages = await sent('openai-compatible', 'qwen');
    const text = (value: string) => ({ type: 'text', text: value });
    const image = (type: string, data: string) => {
      return { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } };
    };
    const file = (filename: string, data: string) => {
      return { type: 'file', file: { filename, file_data: `data:application/pdf;base64,${data}` } };
    };
    expect(messages[1]).toEqual({
      role: 'user',
      content: [
        text('Look.'),
        text(names.a),
        image('image/png', 'AAAA'),
        text(names.b),
        file('b.pdf', 'BBBB'),
        text(names.c),
      ],
    });
    expect(messages.slice(3)).toEqual([
      { role: 'tool', tool_call_id: 'r1', content: said.d },
      { role: 'tool', tool_call_id: 'r2', content: said.e },
      { role: 'tool', tool_call_id: 'r3', content: said.f },
      {
        role: 'user',
        content: [
          text('[Shown by read, call r1]'),
          image('image/jpeg', 'DDDD'),
          text('[Shown by read, call r2]'),
          file('e.pdf', 'EEEE'),
        ],
      },
    ]);
  });
});

function withoutMarks(content: unknown): unknown {
  return JSON.parse(JSON.stringify(content), (key, value: unknown) => (key === 'cache_control' ? undefined : value));
}

describe('of the files of a request', () => {
  const sizes = (count: number, size = 1) => Array.from({ length: count }, () => size);

  it.each([
    [20, 0],
    [21, 5],
    [25, 5],
    [26, 10],
    [45, 25],
  ])('%d leave out the %d oldest', (count, expected) => {
    expect(leftOutFirst(sizes(count), 1_000)).toBe(expected);
  });

  it('the oldest go when all together are too large, and the newest stays', () => {
    expect(leftOutFirst(sizes(4, 25), 100)).toBe(0);
    expect(leftOutFirst(sizes(5, 25), 100)).toBe(2);
    expect(leftOutFirst([60, 60, 100], 100)).toBe(2);
  });

  it('what stays out of a request stays out of the next ones', () => {
    const all = Array.from({ length: 100 }, (_, index) => (index * 37) % 90);
    const left = all.map((_, index) => leftOutFirst(all.slice(0, index + 1), 400));
    expect(left).toEqual([...left].sort((a, b) => a - b));
  });
});

it.each([
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff\xe0'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF\0\0\0\0WEBPVP8 '],
  ['application/pdf', '%PDF-1.7'],
  [null, '<svg>'],
  [null, ''],
])('%s is known by its beginning', (type, head) => {
  expect(readableType(Buffer.from(head, 'latin1'))).toBe(type);
});
