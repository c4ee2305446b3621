import { AgentBench, user } from '../../../../test/harness/agent.js';
import type { AgentEvent } from '../../agent/agent-engine.js';
import { parseRunbook } from './runbook-blocks.js';

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.start();
});
afterEach(() => bench.close());

const fence = (info: string, content = '') => `\`\`\`${info}\n${content}${content === '' ? '' : '\n'}\`\`\``;
const texts = (events: AgentEvent[]) =>
  events
    .flatMap((event) => (event.type === 'step' ? event.parts : []))
    .flatMap((part) => (part.type === 'text' ? [part.text] : []));

describe('what looks like a block and is none is named in the result, with the accepted form:', () => {
  it.each([
    ['shell', 'ls', 'Line 1: the `shell` block was not carried out; the accepted form of a command is `sh` or `bash`.'],
    ['Bash', 'ls', 'Line 1: the `Bash` block was not carried out; the accepted form is `bash`, in small letters'],
    ['FILE path=a', 'x', 'the accepted form is `file path=…`'],
    ['publish: path=a', '', 'the accepted form is `publish path=…`'],
    ['Use_Secret name=A', 'x', 'the accepted form is `use_secret name=…`'],
    ['bash-session', 'ls', 'the accepted form of a command is `sh` or `bash`.'],
    ['sh-session', 'ls', 'the accepted form of a command is `sh` or `bash`.'],
    ['{bash}', 'ls', 'Line 1: the `{bash}` block was not carried out; the accepted form is `bash`, in small letters'],
    ['.bash', 'ls', 'the accepted form is `bash`, in small letters'],
    ['{.sh .numberLines}', 'ls', 'the accepted form is `sh`, in small letters'],
    ['python', 'print(1)', 'write it with `file path=…` and start it in a `bash` block.'],
  ])('a block `%s`', async (info, content, named) => {
    const alone = await bench.run(bench.input(fence(info, content)));
    const text = expect.stringMatching(/^Nothing was carried out\.\n\nNot carried out:\n\n- Line 1: /) as unknown;
    expect(alone.outcome).toMatchObject({ type: 'completed', text });
    const beside = await bench.run(bench.input(`${fence(info, content)}\n\n${fence('sh', 'echo ran')}`));
    for (const { outcome } of [alone, beside]) {
      expect(outcome).toMatchObject({ type: 'completed', text: expect.stringContaining(named) as unknown });
    }
    expect(bench.sandbox.commands).toEqual(['echo ran\n']);
  });

  it('an unknown word after `bash`, though the command is carried out, and when it fails', async () => {
    const named =
      '- Line 1: `mayfail title=x` after `bash` was not heeded; the words that are accepted there are `may-fail` and `repeatable`.';
    const good = await bench.run(bench.input(fence('bash mayfail title=x', 'true')));
    expect(good.outcome).toMatchObject({ type: 'completed', text: expect.stringContaining(named) as unknown });
    const bad = await bench.run(bench.input(fence('bash mayfail title=x', 'false')));
    expect(bad.outcome).toMatchObject({ type: 'failed', code: 'runbook_block_failed' });
    expect(texts(bad.events).at(-1)).toContain(named);
    const known = await bench.run(bench.input(fence('bash may-fail', 'false')));
    expect(known.outcome).toMatchObject({ text: expect.not.stringContaining('Not carried out') as unknown });
  });

  it.each([
    ['use_secret name=A now', 'x', '`now` after `use_secret` was not heeded; only `name=…` is accepted there'],
    ['ask multiple', 'Well?', '`multiple` after `ask` was not heeded; no word is accepted there.'],
    ['file path=my file.txt', 'x', '`file.txt` after `file` was not heeded; only `path=…` is accepted there'],
    ['publish as=b  path="a b" now', '', '`as=b now` after `publish` was not heeded; only `path=…` is accepted there'],
  ])('an unknown word after another block: `%s`', async (info, content, named) => {
    const { blocks, remarks } = await parseRunbook(fence(info, content));
    expect(blocks).toMatchObject([{ action: { kind: info.split(' ')[0] } }]);
    expect(remarks).toEqual([expect.stringContaining(`Line 1: ${named}`)]);
  });

  it('and what is known there is not', async () => {
    const text = [
      'bash may-fail may-fail',
      'sh repeatable may-fail',
      'file path=a',
      "file path='a b'",
      'publish path="a b"',
    ].map((info) => fence(info));
    expect((await parseRunbook([...text, fence('ask', 'Well?')].join('\n\n'))).remarks).toEqual([]);
  });

  it('a text in a `publish` block', async () => {
    const text = [fence('file path=a', 'mine'), fence('publish path=a', 'other')].join('\n\n');
    const { outcome, events } = await bench.run(bench.input(text));
    const named = 'Line 5: the text in the `publish` block was not used; the accepted form is an empty block';
    expect(outcome).toMatchObject({ type: 'completed', text: expect.stringContaining(named) as unknown });
    expect(events[3]).toMatchObject({ files: [{ name: 'a' }] });
  });

  it('an attached Markdown text, beside blocks too; other files are data then', async () => {
    const file = (name: string) => {
      return { type: 'file' as const, fileId: 'f', name, mediaType: 'text/plain', path: `attachments/${name}` };
    };
    const parts = [{ type: 'text' as const, text: fence('sh', 'true') }, file('plan.md'), file('data.csv')];
    const { outcome } = await bench.run(bench.input([user('', { parts })]));
    const named = 'The attached file plan.md lies in the workdir, but its blocks were not carried out; put the text';
    expect(outcome).toMatchObject({ type: 'completed', text: expect.stringContaining(named) as unknown });
    expect(outcome).toMatchObject({ text: expect.not.stringContaining('data.csv') as unknown });
  });

  it('in a message that comes while a runbook is under way', async () => {
    const input = bench.input([fence('sh', 'echo 1'), fence('sh', 'echo 2')].join('\n\n'));
    const { outcome } = await bench.run(input, (event) =>
      event.type === 'tool' && bench.sandbox.commands.length === 1 ? [user(fence('zsh', 'echo 3'))] : [],
    );
    const text = expect.stringContaining('the `zsh` block was not carried out') as unknown;
    expect(outcome).toMatchObject({ type: 'completed', text });
    expect(bench.sandbox.commands).toHaveLength(2);
  });

  it('and prose with examples of data is none', async () => {
    const text = ['json', 'yaml', 'text', 'diff', '', 'markdown', 'filesystem', 'sh-like', 'asking'].map((info) =>
      fence(info, 'x'),
    );
    expect(await parseRunbook(text.join('\n\n'))).toEqual({ blocks: [], remarks: [], outputs: [] });
  });
});
