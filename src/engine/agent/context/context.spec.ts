import { z } from 'zod';
import { AgentBench, assistant, call, record, user } from '../../../../test/harness/agent.js';
import type { Answer } from '../../../../test/harness/model-server.js';
import { breaksOf, unpaired, WindowedModel } from '../../../../test/harness/windowed-model.js';
import { LONG } from '../../../../test/harness/numbers.js';
import { SLOW } from '../../../../test/harness/slow.js';
import type { AgentEvent, AgentInput, AgentOutcome } from '../agent-engine.js';
import { Plugin } from '../../../platform/plugins/plugin.js';
import { AgentTool, success, type ToolOutcome } from '../agent-tool.js';

const parameters = z.strictObject({ what: z.string(), length: z.number() });

/** Gives a text of a length. */
@Plugin(AgentTool, 'text')
class TextTool extends AgentTool<typeof parameters> {
  readonly name = 'text';
  readonly description = 'Gives a text.';
  readonly parameters = parameters;
  readonly repeatable = true;
  execute({ what, length }: z.output<typeof parameters>): Promise<ToolOutcome> {
    return Promise.resolve(success(`${what} `.repeat(Math.ceil(length / (what.length + 1))).slice(0, length)));
  }
}

/** So many that results are left out and the rest is summarised, several times. */
const STEPS = LONG ? 500 : SLOW ? 250 : 100;

/** A word for each number, without digits. */
const word = (n: number) => [...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
/** Short results, long ones, and now and then four at once that have more than half of the window. */
const lengthOf = (n: number) => (n % 3 === 0 ? 150 : (n * 7919) % 20_000);

function stepsTo(last: number): () => Answer {
  let n = 0;
  return () => {
    if (++n > last) return { text: 'Done.' };
    const calls = Array.from({ length: n % 25 === 0 ? 4 : 1 }, (_, at) => {
      const length = n % 25 === 0 ? 15_000 : lengthOf(n);
      return { name: 'text', arguments: { what: `${word(n)}-${word(at)}`, length } };
    });
    return { text: `Step ${n}.`, calls };
  };
}

type Cut = Extract<AgentEvent, { type: 'cut' }>;

/**
 * Runs to the end. After every `events` events the run is left where it is and another one goes on with what is on record, as after
 * a crash of the worker.
 */
async function run(bench: AgentBench, input: AgentInput, events = Infinity) {
  const cuts: Cut[] = [];
  for (;;) {
    const outcome = await runSome(bench, input, events, cuts);
    if (outcome !== null) return { outcome, cuts };
  }
}

async function runSome(bench: AgentBench, input: AgentInput, most: number, cuts: Cut[]): Promise<AgentOutcome | null> {
  const running = bench.engine.run(input);
  try {
    for (let n = 0; n < most; n++) {
      const { done, value } = await running.next({ steer: [], files: [] });
      if (done === true) return value;
      record(input.messages, value);
      if (value.type === 'step') input.contextTokens = value.usage.inputTokens + value.usage.outputTokens;
      if (value.type !== 'cut') continue;
      cuts.push(value);
      // The last one of each kind, as the database gives them back.
      const before = (input.cuts ?? []).filter(({ kind }) => kind !== value.cut.kind);
      input.cuts = [...before, JSON.parse(JSON.stringify(value.cut)) as Cut['cut']];
      input.contextTokens = null;
    }
    return null;
  } finally {
    await running.return({ type: 'completed', text: '' });
  }
}

const WORKERS: [string, number][] = [['in one run', Infinity]];
if (SLOW) WORKERS.push(['by another worker after every event', 1]);

const kinds = (cuts: Cut[]) => new Set(cuts.map(({ cut }) => cut.kind));
const words = (request: { messages: { role: string; content: unknown }[] }) =>
  request.messages.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`).join('\n');

describe('A conversation that becomes longer than the model can read (reference §15)', () => {
  let bench: AgentBench;
  let model: WindowedModel;

  async function start(window: number, step: () => Answer, { known = true, tells = true } = {}): Promise<void> {
    model = new WindowedModel(window, step, tells);
    bench = await AgentBench.start(model.script, [new TextTool()]);
    if (known) bench.model.contextWindow = window;
  }
  afterEach(() => bench.close());

  it.each(WORKERS)(
    `is kept within the window for ${STEPS} steps, %s`,
    async (_, events) => {
      await start(32_768, stepsTo(STEPS));
      const { outcome, cuts } = await run(bench, bench.input(`Make ${STEPS} steps.`), events);
      expect(outcome).toEqual({ type: 'completed', text: 'Done.' });
      expect(model.refused).toBe(0);
      expect(model.steps).toHaveLength(STEPS + 1);
      expect(model.steps.flatMap(({ messages }) => unpaired(messages) ?? [])).toEqual([]);
      expect(new Set(model.steps.map(({ messages }) => messages[1]?.role))).toEqual(new Set(['user']));
      expect(kinds(cuts)).toEqual(new Set(['results', 'summary']));
      expect(model.summaries).toBe(cuts.filter(({ usage }) => usage !== null).length);
      // A new prompt only after a cut, and each cut makes room for several steps.
      expect(breaksOf(model.steps)).toBeLessThanOrEqual(cuts.length);
      expect(cuts.length).toBeLessThan(220);
      for (const { parts, cut } of cuts) {
        const data = { kind: cut.kind, tokensBefore: expect.any(Number) as unknown, tokensAfter: cut.tokensAfter };
        expect(parts).toEqual([{ type: 'data', name: 'context', id: expect.any(String) as unknown, data }]);
      }
    },
    120_000,
  );

  it('of which nobody has told how much it can read, is learnt from its first refusal', async () => {
    await start(16_384, stepsTo(60), { known: false });
    const { outcome } = await run(bench, bench.input('Make 60 steps.'));
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(model.refused).toBe(1);
  });

  it('and that does not tell in its refusal either, is found out in a few', async () => {
    await start(24_000, stepsTo(60), { known: false, tells: false });
    const { outcome } = await run(bench, bench.input('Make 60 steps.'));
    expect(outcome).toMatchObject({ type: 'completed' });
    expect(model.refused).toBeLessThan(10);
  });

  it("is summarised with people's own words, the plan, and the last steps as they were", async () => {
    await start(16_384, () => ({ text: 'Done.' }));
    const text = (length: number) => ({ status: 'success' as const, output: 'x'.repeat(length) });
    const plan = { items: [{ text: 'Find it.', status: 'done' }, { text: 'Mend it.', status: 'in_progress' }] }; // prettier-ignore
    const many = Array.from({ length: 100 }, (_, n) => assistant(`I said ${n}. ${'And so on. '.repeat(30)}`));
    const messages = [
      user('Mend the clock.'),
      assistant('', call('1', 'todo', plan, { status: 'success', output: { items: 2, left: 1 } })),
      ...many,
      user('Use brass.'),
      assistant('I look.', call('2', 'read', { path: 'a' }, text(3_000))),
    ];
    const { cuts } = await run(bench, bench.input(messages));
    expect([...kinds(cuts)]).toEqual(['summary']);
    const [noted, asked] = model.answered.map(({ request }) => request);
    expect(noted?.tools).toBeUndefined();
    expect(words(noted ?? { messages: [] })).toMatch(/Goal.*Constraints.*Done.*In progress.*Blocked.*Next.*Files/s);
    const summary = JSON.stringify(asked?.messages[1]?.content);
    for (const part of ['Mend the clock.', 'Goal: all steps.', '- [done] Find it.', '- [in_progress] Mend it.']) {
      expect(summary).toContain(part);
    }
    expect(words(asked ?? { messages: [] })).toContain('Use brass.');
    expect(asked?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'x'.repeat(3_000) });
  });

  it('for one message of a person, shows its beginning and its end', async () => {
    await start(16_384, () => ({ text: 'Done.' }));
    const { outcome } = await run(bench, bench.input(`Begin. ${'y'.repeat(400_000)} End.`));
    expect(outcome).toMatchObject({ type: 'completed' });
    expect([model.refused, model.summaries]).toEqual([0, 0]);
    const [asked] = model.steps.map(words);
    expect(asked).toMatch(/Begin\. y+.*characters left out.*y+ End\./s);
  });

  it('however short it becomes, fails the turn, and tells why', async () => {
    await start(1_000, () => ({ text: 'Done.' }));
    const { outcome } = await run(bench, bench.input('Go.'));
    expect(outcome).toMatchObject({ type: 'failed', code: 'model_error', retryable: false });
    expect(outcome).toMatchObject({ message: 'The conversation is longer than the model can read.' });
    expect(model.refused).toBeLessThan(6);
  });

  it('is not cut because a provider counts nonsense', async () => {
    const usage = { input: 1e9, output: 1e9 };
    bench = await AgentBench.start(
      (request) => {
        const asked = request.messages.filter(({ role }) => role === 'assistant').length;
        const calls = [{ name: 'text', arguments: { what: word(asked), length: 300 } }];
        return asked < 5 ? { calls, usage } : { text: 'Done.', usage };
      },
      [new TextTool()],
    );
    expect((await run(bench, bench.input('Go.'))).cuts).toEqual([]);
  });

  it('is never cut for a runbook, which needs all of it', async () => {
    bench = await AgentBench.start();
    const { outcome, cuts } = await run(
      bench,
      bench.input(`${'Words. '.repeat(100_000)}\n\n\`\`\`sh\necho hi\n\`\`\``),
    );
    expect([outcome.type, cuts]).toEqual(['completed', []]);
  });
});
