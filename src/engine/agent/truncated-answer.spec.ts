import { AgentBench, assistant, call, user } from '../../../test/harness/agent.js';
import type { Answer, ChatMessage, ChatRequest } from '../../../test/harness/model-server.js';
import type { StoredPart } from '../models/conversation.js';

let bench: AgentBench;
let answers: Answer[];
const requests = () => bench.server?.requests.map(({ body }) => body) ?? [];
const roles = ({ messages }: ChatRequest) => messages.map(({ role }) => role).join(' ');
const run = (messages = [user('Go')]) => bench.run(bench.input(messages));

beforeEach(async () => {
  answers = [];
  bench = await AgentBench.start(() => answers[requests().length - 1] ?? { text: 'Good.' });
});
afterEach(async () => {
  // What was sent once is sent again the same: each request begins with the whole of the one before.
  requests().reduce<ChatMessage[]>((before, { messages }) => {
    expect(messages.slice(0, before.length)).toEqual(before);
    return messages;
  }, []);
  await bench.close();
});

const cut = (text: string): Answer => ({ text, finish: 'length' });

describe('an answer that is cut off at the output limit', () => {
  it('is kept and gone on with, three times at most, and is one text in the end', async () => {
    answers = [cut('One, '), cut('two, '), cut('three, '), { text: 'four.' }];
    const { outcome, events } = await run();
    expect(outcome).toEqual({ type: 'completed', text: 'One, two, three, four.' });
    expect(events).toMatchObject([{ type: 'step' }, { type: 'step' }, { type: 'step' }, { type: 'step' }]);
    expect(requests().map(roles).at(-1)).toBe('system user assistant user assistant user assistant user');
    expect(requests()[1]?.messages.at(-1)?.content).toMatch(/cut off at its output limit/);
  });

  it('ends the turn when it is cut off a fourth time', async () => {
    answers = ['One, ', 'two, ', 'three, ', 'four, '].map(cut);
    expect((await run()).outcome).toMatchObject({ type: 'failed', code: 'output_limit', retryable: true });
    expect(requests().length).toBe(4);
  });

  it('is gone on with by the worker that takes over, and its pieces count on', async () => {
    answers = ['One, ', 'two, ', 'three, '].map(cut);
    const input = bench.input('Go');
    const running = bench.engine.run(input);
    for (let n = 1; n <= 3; n++) {
      const { value } = await running.next({ steer: [], files: [] });
      if (value === undefined || !('parts' in value)) throw new Error('A step was expected.');
      const parts = JSON.parse(JSON.stringify(value.parts)) as StoredPart[];
      input.messages.push({ id: value.messageId, role: 'assistant', parts, invocations: [] });
    }
    await running.return({ type: 'completed', text: '' });
    expect((await bench.run(input)).outcome).toEqual({ type: 'completed', text: 'One, two, three, Good.' });
    expect(requests().length).toBe(4);
  });

  it('counts anew after a message of the user', async () => {
    answers = ['One, ', 'two, ', 'three, ', 'four, ', 'five, '].map(cut);
    const input = bench.input('Go');
    await bench.run(input);
    input.messages.push(user('Go on'));
    expect((await bench.run(input)).outcome).toEqual({ type: 'completed', text: 'five, Good.' });
  });

  it('may go on with a call', async () => {
    answers = [cut('Let me '), { text: 'look.', calls: [{ name: 'bash', arguments: { command: 'true' } }] }];
    expect((await run()).outcome).toEqual({ type: 'completed', text: 'Good.' });
    expect(bench.sandbox.commands).toEqual(['true']);
  });
});

describe('a call that is cut off', () => {
  const whole = { name: 'bash', arguments: { command: 'echo whole' } };
  it.each([
    ['in its middle', '{"command": "rm -r build'],
    ['before it began', ''],
    ['and mended by the server', '{"command": "rm -r build"}'],
  ])('%s is told so and not carried out; those before it are', async (_, text) => {
    answers = [{ calls: [whole, { name: 'bash', arguments: text }], finish: 'length' }];
    const { outcome, events } = await run();
    expect(outcome).toMatchObject({ type: 'completed', text: 'Good.' });
    expect(bench.sandbox.commands).toEqual(['echo whole']);
    const error = expect.stringMatching(/cut off at your output limit/) as unknown;
    expect(events[2]).toMatchObject({ type: 'tool', result: { status: 'error', error }, last: true });
  });

  it('is not carried out by the worker that takes over', async () => {
    const open = assistant('', call('a', 'bash', { command: 'rm -r build' }));
    open.parts = [{ type: 'step_start' }, { type: 'tool', toolCallId: 'a', cut: true }];
    expect((await run([user('Go'), open])).outcome).toEqual({ type: 'completed', text: 'Good.' });
    expect(bench.sandbox.commands).toEqual([]);
  });
});

describe('an empty answer', () => {
  it.each<[string, Answer]>([
    ['that says nothing', {}],
    ['that only thinks, up to the limit', { reasoning: 'Hm.', finish: 'length' }],
  ])('%s is asked for once more with a nudge, which stays where it was said', async (_, answer) => {
    const bash = { name: 'bash', arguments: { command: 'true' } };
    answers = [{ calls: [bash] }, answer, { calls: [bash] }];
    const { outcome, events } = await run();
    expect(outcome).toEqual({ type: 'completed', text: 'Good.' });
    expect(events.filter(({ type }) => type === 'step').length).toBe(3);
    expect(requests()[2]?.messages.at(-1)?.content).toMatch(/last answer was empty/);
    expect(roles(requests()[3] ?? { model: '', messages: [] })).toBe('system user assistant tool user assistant tool');
  });
});
