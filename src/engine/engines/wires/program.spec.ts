// The small program of the harness against the fake model: what tests of engines are built on.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AcpClient, ACP_PROGRAM } from '../../../../test/harness/engines/acp-client.js';
import { FakeModel } from '../../../../test/harness/engines/fake-model.js';
import { serveMcp } from '../../../../test/harness/engines/mcp-door.js';
import { until } from '../../../../test/harness/until.js';
import { callUpstream } from './upstream.js';
import { WIRE_NAMES, type WireName } from './wire.js';
import { WIRES } from './wires.js';

let model: FakeModel;
let home: string;
let client: AcpClient;

beforeEach(async () => {
  model = await FakeModel.start();
  home = mkdtempSync(join(tmpdir(), 'program-'));
  writeFileSync(join(home, 'a.txt'), 'größe');
});

afterEach(async () => {
  await client.end();
  await model.stop();
  rmSync(home, { recursive: true });
});

function start(wire: WireName, env: Record<string, string> = {}): AcpClient {
  const all = { HOME: home, MODEL_URL: model.origin, MODEL_WIRE: wire, ...env };
  client = new AcpClient([process.execPath, ACP_PROGRAM], { env: all, cwd: home });
  return client;
}

const script = (answers: object[]) => `Please SCRIPT ${JSON.stringify(answers)} and thank you.`;
const TWO = [
  { text: 'I look.', calls: [{ name: 'look', arguments: { path: 'a.txt' }, id: 'c1' }] },
  { calls: [{ name: 'shell', arguments: { command: 'echo out; exit 3' }, id: 'c2' }] },
  { text: 'All done.' },
];

describe.each(WIRE_NAMES)('a program on %s', (wire) => {
  it('carries out the calls of its model, tells it the results and says what it does', async () => {
    start(wire);
    const sessionId = await client.begin(home);
    expect(await client.prompt(sessionId, script(TWO))).toEqual({ stopReason: 'end_turn' });
    expect(model.steps).toHaveLength(3);
    expect(model.steps[0]?.tools).toEqual(['shell', 'look']);
    const results = model.steps[2]?.messages.flatMap((message) => message.results);
    expect(results).toMatchObject([
      { toolCallId: 'c1', text: 'größe' },
      { toolCallId: 'c2', text: 'out\n', isError: wire === 'anthropic-messages' },
    ]);
    const told = client.updates.filter(({ status }) => status === 'completed' || status === 'failed');
    expect(told.map(({ toolCallId, status }) => [toolCallId, status])).toEqual([
      ['c1', 'completed'],
      ['c2', 'failed'],
    ]);
    expect(client.garbage).toEqual([]);
  });

  it('goes on in another process with what was said', async () => {
    start(wire);
    const sessionId = await client.begin(home);
    await client.prompt(sessionId, script([{ text: 'First.' }]));
    await client.end();
    start(wire);
    await client.call('session/resume', { sessionId, cwd: home, mcpServers: [] });
    await client.prompt(sessionId, 'And then?');
    expect(model.steps.at(-1)?.messages.map(({ text }) => text)).toEqual([
      expect.stringContaining('SCRIPT'),
      'First.',
      'And then?',
    ]);
  });

  it('ends a turn that is cancelled, and the model hears of its call', async () => {
    start(wire);
    const sessionId = await client.begin(home);
    const ended = client.prompt(
      sessionId,
      script([{ calls: [{ name: 'shell', arguments: { command: 'sleep 600' } }] }]),
    );
    await until('a call under way', () => client.updates.some(({ status }) => status === 'in_progress'));
    client.write({ method: 'session/cancel', params: { sessionId } });
    expect(await ended).toEqual({ stopReason: 'cancelled' });
    await client.prompt(sessionId, 'Go on');
    expect(model.steps.at(-1)?.messages.flatMap(({ results }) => results)).toMatchObject([
      { text: expect.stringMatching(/cancelled/) },
    ]);
  });
});

it('tells nothing of its output when it is silent, asks where it should, and makes a title by the way', async () => {
  start('openai-chat', { SILENT: '1', PERMISSIONS: '1', SIDE_CALL: '1' });
  await client.prompt(await client.begin(home), script(TWO));
  expect(
    client.updates.filter((update) => update['sessionUpdate'] === 'tool_call_update' && 'content' in update),
  ).toEqual([]);
  expect(client.questions).toEqual(['session/request_permission']);
  expect(model.requests.length).toBe(model.steps.length + 1);
});

it.each([
  ['exit', /ended with 3/],
  ['no-resume', /no session/],
])('does wrong on demand: %s', async (FAULT, message) => {
  start('openai-chat', { FAULT });
  const sessionId = await client.begin(home);
  const again = { sessionId, cwd: home, mcpServers: [] };
  const going = FAULT === 'exit' ? client.prompt(sessionId, 'Hello') : client.call('session/resume', again);
  await expect(going).rejects.toThrow(message);
});

it.each(['garbage', 'long-line'])('does wrong and goes on: %s', async (FAULT) => {
  start('openai-chat', { FAULT });
  expect(await client.prompt(await client.begin(home), 'Hello')).toEqual({ stopReason: 'end_turn' });
  expect(client.garbage.length + client.updates.length).toBeGreaterThan(1);
});

it('does wrong once on demand, and can load a session where it cannot resume one', async () => {
  const env = { FAULT: 'exit', ONCE: '1', LOAD: '1' };
  start('openai-chat', env);
  const sessionId = await client.begin(home);
  await expect(client.prompt(sessionId, 'Hello')).rejects.toThrow(/ended with 3/);
  start('openai-chat', env);
  const again = { sessionId, cwd: home, mcpServers: [] };
  await expect(client.call('session/resume', again)).rejects.toThrow(/no method/);
  await client.call('session/load', again);
  expect(await client.prompt(sessionId, 'Hello')).toEqual({ stopReason: 'end_turn' });
});

it('finds the tools of an MCP server at the door, and calls them', async () => {
  const calls: unknown[] = [];
  const inputSchema = { type: 'object', properties: { question: { type: 'string' } } };
  const server = await serveMcp({
    tools: [{ name: 'ask', description: 'Asks a person.', inputSchema, readOnly: false }],
    call: (name, args) => {
      calls.push([name, args]);
      return Promise.resolve({ text: 'Blue.', isError: false });
    },
  });
  try {
    start('openai-responses', { MCP: '1' });
    const name = 'mcp__millwright__ask';
    const sessionId = await client.begin(home, [
      { type: 'http', name: 'millwright', url: server.url.href, headers: [] },
    ]);
    await client.prompt(
      sessionId,
      script([{ calls: [{ name, arguments: { question: 'Which?' } }] }, { text: 'Done.' }]),
    );
    expect(calls).toEqual([['ask', { question: 'Which?' }]]);
    expect(model.steps[0]?.tools).toEqual(['shell', 'look', name]);
    expect(model.steps[1]?.messages.flatMap(({ results }) => results)).toMatchObject([{ text: 'Blue.' }]);
  } finally {
    await server.stop();
  }
});

it.each(WIRE_NAMES)('the model answers in one piece on %s where it is not asked to stream', async (name) => {
  start(name);
  model.script = () => ({ text: 'Hello', calls: [{ name: 'a', arguments: {}, id: 'c' }] });
  const asked = { model: 'm', messages: [], input: [] };
  const provider = name === 'anthropic-messages' ? 'anthropic' : 'openai';
  const about = { provider, baseUrl: model.url, apiKey: undefined } as const;
  const { contentType, body } = await callUpstream(about, WIRES[name], { body: asked }, new AbortController().signal);
  expect(contentType).toBe('application/json');
  const reader = WIRES[name].answer(contentType);
  for await (const chunk of body) reader.add(chunk);
  expect(reader.end()).toMatchObject({ text: 'Hello', calls: [{ toolCallId: 'c', name: 'a' }], complete: true });
});

it('writes without end on demand', async () => {
  start('openai-chat', { FAULT: 'flood' });
  void client.prompt(await client.begin(home), 'Hello').catch(() => undefined);
  await until('a thousand updates', () => client.updates.length > 1_000);
});
