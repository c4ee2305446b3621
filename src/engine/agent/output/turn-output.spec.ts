import { AgentBench, assistant, user } from '../../../../test/harness/agent.js';
import type { Answer, ChatMessage } from '../../../../test/harness/model-server.js';
import type { ConversationMessage, StoredPart } from '../../models/conversation.js';

let bench: AgentBench;
let answers: Answer[];
const requests = () => bench.server?.requests.map(({ body }) => body) ?? [];

beforeEach(async () => {
  answers = [];
  bench = await AgentBench.start(() => answers[requests().length - 1] ?? { text: '{"n": 1}' });
});
afterEach(async () => {
  // Each request begins with the whole of the one before, the schema included.
  requests().reduce<ChatMessage[]>((before, { messages }) => {
    expect(messages.slice(0, before.length)).toEqual(before);
    return messages;
  }, []);
  await bench.close();
});

const outputSchema = { required: ['n'], properties: { n: { type: 'integer' } }, type: 'object' };
const input = (messages: ConversationMessage[] = [user('Count.')]) => bench.input(messages, { outputSchema });
const INVALID = { type: 'failed', code: 'output_invalid', retryable: false };
const textOf = (message: ChatMessage | undefined) => JSON.stringify(message?.content);
/** An answer as it is on record when it does not fit. */
const unfit = (text: string): ConversationMessage => {
  const fault: StoredPart = { type: 'data', name: 'output_errors', id: 'x', data: { errors: '/n must be integer' } };
  const { parts, ...message } = assistant(text);
  return { ...message, parts: [{ type: 'step_start' }, ...parts, fault] };
};

describe('A task that asks for JSON (reference §15)', () => {
  it('tells the model its schema once, as it was given, and brings the JSON of the last answer', async () => {
    answers = [{ text: 'I look.', calls: [{ name: 'bash', arguments: { command: 'true' } }] }];
    const { outcome, events } = await bench.run(input());
    expect(outcome).toEqual({ type: 'completed', text: '{"n": 1}', output: '{"n":1}' });
    expect(events.map(({ type }) => type)).toEqual(['step', 'tool', 'step']);
    const [{ messages } = { messages: [] }] = requests();
    expect(messages[0]?.content).toContain(JSON.stringify(outputSchema));
    expect(JSON.stringify(messages.slice(1))).not.toContain('required');
    // Without a schema nothing is told, and nothing is looked at.
    bench.server?.requests.splice(0);
    answers = [{ text: 'Words.' }];
    const plain = await bench.run(bench.input('Count.'));
    expect(plain.outcome).toEqual({ type: 'completed', text: 'Words.' });
    expect(textOf(requests()[0]?.messages[0])).not.toContain('JSON Schema below');
  });

  it('has an answer that does not fit mended once: the model is told where and why', async () => {
    answers = [{ text: '{"n": "one"}' }];
    const { outcome, events } = await bench.run(input());
    expect(outcome).toMatchObject({ type: 'completed', output: '{"n":1}' });
    expect(requests()[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(textOf(requests()[1]?.messages.at(-1))).toContain('/n must be integer');
    expect(events[0]).toMatchObject({ parts: [{ type: 'step_start' }, { type: 'text' }, { type: 'data', name: 'output_errors' }] }); // prettier-ignore
  });

  it('fails when it does not fit then either, also after calls in between', async () => {
    answers = [{ text: 'One.' }, { calls: [{ name: 'bash', arguments: { command: 'true' } }] }, { text: 'Still one.' }];
    const all = input();
    expect((await bench.run(all)).outcome).toMatchObject(INVALID);
    expect(requests().length).toBe(3);
    // That it failed is on record with the answer.
    expect((await bench.run(input(all.messages))).outcome).toMatchObject(INVALID);
    expect(requests().length).toBe(3);
  });

  it('is looked at anew in each turn, and after each message', async () => {
    answers = [{ text: 'a' }, { text: 'b' }, { text: 'c' }];
    const all = input();
    await bench.run(all);
    all.messages.push(user('Once more.'));
    expect((await bench.run(all)).outcome).toMatchObject({ output: '{"n":1}' });
    expect(requests().length).toBe(4);
  });

  it('reads an answer that came in pieces as one', async () => {
    answers = [{ text: '{"n":', finish: 'length' }, { text: ' 2}' }];
    expect((await bench.run(input())).outcome).toMatchObject({ text: '{"n": 2}', output: '{"n":2}' });
  });

  it('counts the round to mend it to the budget', async () => {
    answers = [{ text: 'One.' }];
    const { outcome } = await bench.run({ ...input(), budget: { maxSteps: 1 } });
    expect(outcome).toMatchObject({ code: 'budget_exceeded' });
  });

  it('goes on with a message that steers in place of an end', async () => {
    answers = [{ text: 'One.' }];
    const { outcome } = await bench.run(input(), () => (requests().length === 1 ? [user('Hurry.')] : []));
    expect(outcome).toMatchObject({ output: '{"n":1}' });
    expect(requests()[1]?.messages.slice(-2).map(textOf)).toEqual([
      expect.stringContaining('does not fit') as unknown,
      expect.stringContaining('Hurry.') as unknown,
    ]);
  });

  it('is read again by the worker that finds the answer on record, without another call', async () => {
    const { outcome } = await bench.run(input([user('Count.'), assistant('{"n": 3}')]));
    expect(outcome).toEqual({ type: 'completed', text: '{"n": 3}', output: '{"n":3}' });
    expect(requests()).toEqual([]);
  });

  it('is mended by the worker that finds an answer that does not fit, and only once in all', async () => {
    expect((await bench.run(input([user('Count.'), unfit('One.')]))).outcome).toMatchObject({ output: '{"n":1}' });
    bench.server?.requests.splice(0);
    answers = [{ text: 'No.' }];
    expect((await bench.run(input([user('Count.'), unfit('One.')]))).outcome).toMatchObject(INVALID);
    expect(requests().length).toBe(1);
  });
});

describe('The model `runbook`, asked for JSON', () => {
  const runbook = async (content: string) => {
    await bench.close();
    bench = await AgentBench.start();
    return (await bench.run(bench.input(content, { outputSchema }))).outcome;
  };

  it('answers with its `output` block, or with what the last command prints', async () => {
    expect(await runbook('```bash\ntrue\n```\n\n```output\n{"n": 7}\n```')).toMatchObject({ output: '{"n":7}' });
    expect(await runbook('```bash\necho \'{"n": 8}\'\n```\n\n```output\n```')).toMatchObject({ output: '{"n":8}' });
    expect(await runbook('```output\n{"n": 9}\n```')).toMatchObject({ output: '{"n":9}' });
  });

  it('mends with its next `output` block, and without one cannot', async () => {
    const both = '```output\n{"n": null}\n```\n\n```output\n{"n": 2}\n```';
    expect(await runbook(both)).toMatchObject({ type: 'completed', output: '{"n":2}' });
    expect(await runbook('```bash\ntrue\n```')).toMatchObject(INVALID);
  });
});
