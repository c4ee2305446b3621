import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentBench, assistant, call, user } from '../../../../test/harness/agent.js';
import type { AgentEvent } from '../../agent/agent-engine.js';
import type { ConversationMessage, JsonValue } from '../conversation.js';
import { parseRunbook } from './runbook-blocks.js';
import { replay } from './runbook-state.js';

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
const answer = (messages: ConversationMessage[], output: JsonValue) => {
  const asked = messages.at(-1)?.invocations.at(-1);
  if (asked !== undefined) asked.result = { status: 'success', output };
};

it('carries out the blocks in order, shows each result and sums up', async () => {
  const text = [
    'Build it.',
    fence('file path=src/a.txt', 'hello'),
    'A list:\n\n- item\n\n  ```bash\n  cat src/a.txt\n  ```',
    fence('js', 'notRun()'),
    '~~~sh\necho $((6*7))\n~~~',
    fence('publish path="src/a.txt"'),
  ].join('\n\n');
  const { outcome, events } = await bench.run(bench.input(text));
  expect(events.map((event) => event.type)).toEqual([...Array<string[]>(4).fill(['step', 'tool']).flat(), 'step']);
  expect(bench.sandbox.commands).toEqual(['cat src/a.txt\n', 'echo $((6*7))\n']);
  expect(readFileSync(join(bench.sandbox.folder, 'src/a.txt'), 'utf8')).toBe('hello\n');
  const said = texts(events);
  expect(said[0]).toMatch(/not an AI[\s\S]*4 blocks[\s\S]*Next, block 1 \(file src\/a.txt, line 3\)/);
  expect(said[2]).toMatch(/Block 2 \(bash, line 11\): Exit code 0\.\n\n```text\nhello\n```/);
  expect(said[3]).toContain('```text\n42\n```');
  expect(events[7]).toMatchObject({ files: [{ name: 'a.txt' }] });
  expect(outcome).toMatchObject({
    type: 'completed',
    text: expect.stringMatching(/finished, 4 blocks[\s\S]*not an AI/) as unknown,
  });
});

it('asks with options and knows the chosen id as $ANSWER in all later commands', async () => {
  const ask = fence('ask', 'Which\nway?\n\nMore prose.\n\n- left: To the left\n- right: To the right');
  const input = bench.input([ask, fence('sh', 'echo 1 $ANSWER'), fence('sh', 'echo 2 $ANSWER')].join('\n\n'));
  const { outcome } = await bench.run(input);
  expect(outcome).toMatchObject({
    type: 'question',
    question: {
      question: 'Which way?',
      options: [
        { id: 'left', label: 'To the left', description: null },
        { id: 'right', label: 'To the right', description: null },
      ],
      multiple: false,
      allowText: false,
    },
  });
  answer(input.messages, { content: null, options: [{ id: 'right', label: 'To the right' }], files: [] });
  const { events } = await bench.run(input);
  const outputs = events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));
  expect(outputs).toMatchObject([{ output: { stdout: '1 right\n' } }, { output: { stdout: '2 right\n' } }]);
  expect(events[0]).toMatchObject({ calls: [{ input: { env: { ANSWER: 'right' } } }] });
});

it('asks for text, and takes the text as it is', async () => {
  const input = bench.input([fence('ask', 'Your name?'), fence('sh', 'printf %s "$ANSWER"')].join('\n\n'));
  const { outcome } = await bench.run(input);
  expect(outcome).toMatchObject({ question: { options: null, allowText: true } });
  answer(input.messages, { content: 'a "b" $c; d', options: [], files: [] });
  const { events } = await bench.run(input);
  expect(events[1]).toMatchObject({ result: { output: { stdout: 'a "b" $c; d' } } });
});

it('fails with the block that failed, and runs nothing after it', async () => {
  const text = [fence('sh', 'echo one'), fence('bash', 'echo oh >&2; exit 3'), fence('sh', 'echo three')].join('\n\n');
  const { outcome, events } = await bench.run(bench.input(text));
  expect(outcome).toEqual({
    type: 'failed',
    code: 'runbook_block_failed',
    message: 'Block 2 (bash, line 5) failed: exit code 3.',
    retryable: false,
  });
  expect(bench.sandbox.commands.length).toBe(2);
  expect(texts(events).at(-1)).toMatch(/oh[\s\S]*The block after it did not run/);
});

it('goes on after a command that may fail', async () => {
  const text = [fence('bash may-fail repeatable', 'exit 3'), fence('sh', 'echo two')].join('\n\n');
  const { outcome, events } = await bench.run(bench.input(text));
  const inputs = events.flatMap((event) => (event.type === 'step' ? event.calls.map(({ input }) => input) : []));
  expect(inputs).toEqual([
    { command: 'exit 3\n', timeoutSeconds: 600, repeatable: true },
    { command: 'echo two\n', timeoutSeconds: 600 },
  ]);
  expect(outcome).toMatchObject({
    type: 'completed',
    text: expect.stringContaining('exit code 3, as it may') as unknown,
  });
});

it.each([
  ['publish path=missing.txt', '', /Block 1 \(publish missing.txt, line 1\) failed: missing.txt does not exist/],
  ['file path=../out', 'x', /failed: .*outside/],
  ['file', 'x', /path=… is expected after `file`; nothing was run/],
  ['use_secret', 'x', /name=… is expected after `use_secret`; nothing was run/],
  ['ask', '- a: A', /a question is expected/],
  ['ask', 'Q?\n\n- a: A\n- a: B', /an id of its own/],
])('fails for a block `%s` that cannot be carried out', async (info, content, message) => {
  const { outcome } = await bench.run(bench.input(`${fence(info, content)}\n\n${fence('sh', 'echo ran')}`));
  expect(outcome).toMatchObject({ code: 'runbook_block_failed', message: expect.stringMatching(message) as unknown });
  // For a path that does not exist the nearest one is looked for.
  expect(bench.sandbox.commands.join('\n')).not.toContain('echo ran');
});

it('may run the same block many times', async () => {
  const text = Array<string>(8).fill(fence('sh', 'echo same')).join('\n\n');
  expect((await bench.run(bench.input(text))).outcome.type).toBe('completed');
  expect(bench.sandbox.commands.length).toBe(8);
});

it('says what it is when there is no block, and shows one', async () => {
  const { outcome, events } = await bench.run(bench.input('Please fix the login page.\n\n```js\nx\n```'));
  expect(outcome).toMatchObject({
    type: 'completed',
    text: expect.stringMatching(/not an AI[\s\S]*```bash/) as unknown,
  });
  expect(events.length).toBe(1);
  expect((await parseRunbook(texts(events)[0] ?? '')).blocks).toEqual([]);
});

it('says that an attached file is not read', async () => {
  const file = {
    type: 'file' as const,
    fileId: 'f',
    name: 'a.md',
    mediaType: 'text/markdown',
    path: 'attachments/a.md',
  };
  const { outcome } = await bench.run(bench.input([user('', { parts: [file] })]));
  expect(outcome).toMatchObject({ type: 'completed', text: expect.stringContaining('not carried out') as unknown });
});

it('goes on where a restart left it, and fails when a command was interrupted', async () => {
  const runbook = user([fence('sh', 'echo 1 > one'), fence('sh', 'echo 2 > two')].join('\n\n'));
  const ok = { exitCode: 0, stdout: '', stderr: '', truncated: false };
  const one = call('1', 'bash', { command: 'echo 1 > one\n' }, { status: 'success', output: ok });
  expect((await bench.run(bench.input([runbook, assistant('', one)]))).outcome.type).toBe('completed');
  expect(existsSync(join(bench.sandbox.folder, 'one'))).toBe(false);
  expect(existsSync(join(bench.sandbox.folder, 'two'))).toBe(true);
  const open = call('1', 'bash', { command: 'echo 1 > one\n' });
  const { outcome } = await bench.run(bench.input([runbook, assistant('', open)]));
  expect(outcome).toMatchObject({
    code: 'runbook_block_failed',
    message: expect.stringMatching(/may have run partly/) as unknown,
  });
});

it.each([
  ['bash', 'Too early.', { type: 'failed', message: 'Block 1 (bash, line 1) failed: it was denied: Too early.' }],
  ['bash', null, { type: 'failed', message: 'Block 1 (bash, line 1) failed: it was denied.' }],
  ['bash may-fail', null, { type: 'completed' }],
])('with a denied block `%s` (reason: %s) it ends as a failed block does', async (info, reason, expected) => {
  const runbook = user([fence(info, 'echo 1'), fence('sh', 'echo 2')].join('\n\n'));
  const denied = call('1', 'bash', { command: 'echo 1\n' }, { status: 'denied', reason });
  const { outcome } = await bench.run(bench.input([runbook, assistant('', denied)]));
  expect(outcome).toMatchObject(expected);
  expect(bench.sandbox.commands).toEqual(expected.type === 'completed' ? ['echo 2\n'] : []);
});

it('a remark in place of an approval ends it too, by the denied block; blocks begin anew', async () => {
  const runbook = user([fence('bash', 'echo 1'), fence('bash', 'echo 2')].join('\n\n'));
  const denied = call('1', 'bash', { command: 'echo 1\n' }, { status: 'denied', reason: null });
  const remarked = await bench.run(bench.input([runbook, assistant('', denied), user('What is this?')]));
  expect(remarked.outcome).toMatchObject({ type: 'failed', code: 'runbook_block_failed' });
  const replaced = await bench.run(bench.input([runbook, assistant('', denied), user(fence('bash', 'echo 3'))]));
  expect(replaced.outcome).toMatchObject({ type: 'completed' });
  expect(bench.sandbox.commands).toEqual(['echo 3\n']);
});

describe('messages of a later or the same turn', () => {
  const sh = (text: string) => fence('sh', text);
  const ran = (command: string) =>
    assistant(
      '',
      call(command, 'bash', { command }, { status: 'success', output: { exitCode: 0, stdout: '', stderr: '' } }),
    );
  const next = async (messages: ConversationMessage[]) => {
    const { blocks, done } = await replay(messages);
    const action = blocks[done.length]?.action;
    return action?.kind === 'command' ? action.command.trim() : null;
  };

  it('begin a new runbook after the end of the last one', async () => {
    expect(await next([user(sh('a')), ran('a'), assistant('Finished.'), user(sh('b'))])).toBe('b');
    expect(await next([user(sh('a')), ran('a'), assistant('Finished.'), user('Thanks!')])).toBeNull();
  });

  it('replace what is left when they have blocks, and leave it when they have none', async () => {
    expect(await next([user(`${sh('a')}\n${sh('b')}`), ran('a'), user(sh('c'))])).toBe('c');
    expect(await next([user(`${sh('a')}\n${sh('b')}`), ran('a'), user('Nice.')])).toBe('b');
  });

  it('are one runbook when they are read together', async () => {
    expect(await next([user(sh('a')), user(sh('b')), ran('a')])).toBe('b');
  });

  it('that are one runbook count its blocks and lines on', async () => {
    const { blocks, remarks } = await replay([user(`A\n${sh('a')}`), user(`${sh('b')}\n${fence('zsh')}`)]);
    expect(blocks).toMatchObject([{ number: 1, line: 2 }, { number: 2, line: 6 }]); // prettier-ignore
    expect(remarks).toEqual([expect.stringMatching(/^Line 9: /)]);
  });

  it('keep the last answer', async () => {
    const asked = assistant(
      '',
      call('q', 'ask', {}, { status: 'success', output: { content: 'yes', options: [], files: [] } }),
    );
    const messages = [user(fence('ask', 'Well?')), asked, assistant('Finished.'), user(sh('echo $ANSWER'))];
    expect((await replay(messages)).answer).toBe('yes');
  });

  it('are read once, however many steps there are', async () => {
    const message = user(sh('a'));
    let looks = 0;
    Object.defineProperty(message, 'parts', { get: () => (looks++, [{ type: 'text', text: sh('a\nb') }]) });
    await replay([message]);
    const once = looks;
    expect(await next([message, ran('a')])).toBeNull();
    expect(await next([message, ran('a'), user(sh('c'))])).toBe('c');
    expect(looks).toBe(once + 2);
  });

  it('leave the event loop to the leases between them, however long the history is', async () => {
    const histories = Array.from({ length: 3 }, () => [user(sh('a')), assistant('Finished.')]);
    let turns = 0;
    const beat = () => void (turns++, (timer = setImmediate(beat)));
    let timer = setImmediate(beat);
    await replay(histories.flat());
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

describe('a text that is hard to read', () => {
  const end = `\n\n${fence('sh', 'true')}`;
  /** Jest gives up a test only when it waits: after what took too long. */
  const waited = () => new Promise((resolve) => setTimeout(resolve));

  it.each([
    ['empty lines in lists', `${'- '.repeat(8)}a${'\n'.repeat(190_000)}`, 2],
    ['the word of a fence', `\`\`\`${'}'.repeat(190_000)}x\n\`\`\``, 12],
    ['emphasis', 'a*'.repeat(47_500) + '_b'.repeat(47_500), 120],
    ['a link reference', `[${'\na'.repeat(90_000)}`, 12],
    ['the title of a link reference', `[a]: b\n'${'\na'.repeat(90_000)}`, 12],
  ])('by its %s is read like others', async (_, text, times) => {
    const messages = Array.from({ length: times }, () => [user(text + end), assistant('Finished.')]).flat();
    expect((await replay(messages)).blocks).toMatchObject([{ action: { command: 'true\n' } }]);
    await waited();
  });

  it('by its lists is read beside the event loop, which goes on', async () => {
    let turns = 0;
    const beat = () => void (turns++, (timer = setImmediate(beat)));
    let timer = setImmediate(beat);
    const { blocks } = await replay([user('- - - - a\n'.repeat(19_000) + end)]);
    clearImmediate(timer);
    expect(blocks).toMatchObject([{ line: 19_003, action: { command: 'true\n' } }]);
    expect(turns).toBeGreaterThan(100);
  });

  it('by its quotes is refused, and nothing of it is run', async () => {
    const quotes = '> ```\na\n'.repeat(20_000);
    const { outcome } = await bench.run(bench.input(`${fence('sh', 'true')}\n\n${quotes}`));
    expect(outcome).toMatchObject({
      code: 'runbook_block_failed',
      message: expect.stringMatching(
        /an empty line is expected after each of so many quotes; nothing was run/,
      ) as unknown,
    });
    expect(bench.sandbox.commands).toEqual([]);
  });

  it.each([
    ['> ```sh\n> a\n> ```\nb\n'.repeat(300), 300],
    [`${'> '.repeat(9)}a\n`.repeat(10_000) + end, 1],
    ['[a]: b\n2. ```sh\n   a\n   ```', 1],
    ['[a]: b\n<a>\n```sh\na\n```', 0],
  ])('is told from one that only looks so: %#', async (text, blocks) => {
    expect((await parseRunbook(text)).blocks).toHaveLength(blocks);
  });
});
