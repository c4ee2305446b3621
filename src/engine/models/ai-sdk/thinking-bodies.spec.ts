import { assistant, call, user } from '../../../../test/harness/agent.js';
import { ProviderBench } from '../../../../test/harness/provider-bench.js';
import { type Compaction, compacted } from '../../agent/context/compaction.js';
import type { ConversationMessage, ProviderMetadata } from '../conversation.js';

type Block = Record<string, unknown>;

let bench: ProviderBench;
beforeAll(async () => {
  bench = await ProviderBench.start();
});
afterAll(() => bench.close());

const MODEL = 'claude-sonnet-4-5';
const sealed = (n: number, by = `anthropic/${MODEL}`): ProviderMetadata => {
  return { anthropic: { signature: `seal ${n}` }, millwright: { by } };
};

/** A step of the loop: what was thought, if anything, and a call with its result. */
function step(n: number, reasoning?: ProviderMetadata | 'unsealed'): ConversationMessage {
  const { parts, ...rest } = assistant('', call(`c${n}`, 'read', { n }, { status: 'success', output: `result ${n}` }));
  if (reasoning === undefined) return { ...rest, id: `step-${n}`, parts };
  const thought = { type: 'reasoning' as const, text: `thought ${n}` };
  const first = reasoning === 'unsealed' ? thought : { ...thought, providerMetadata: reasoning };
  return { ...rest, id: `step-${n}`, parts: [first, ...parts] };
}

const asked = (text: string): ConversationMessage => user(text, { id: text });
const summaryUpto = (uptoMessageId: string, throughMessageId: string): Compaction => {
  return { kind: 'summary', uptoMessageId, uptoCalls: 0, summary: 'Summary.', throughMessageId, tokensAfter: 1 };
};
const resultsUpto = (uptoMessageId: string, throughMessageId: string): Compaction => {
  return { kind: 'results', uptoMessageId, uptoCalls: 1, summary: null, throughMessageId, tokensAfter: 1 };
};

// What the provider is sent of each, without the marks for keeping.
const thinking = (n: number): Block => ({ type: 'thinking', thinking: `thought ${n}`, signature: `seal ${n}` });
const use = (n: number): Block => ({ type: 'tool_use', id: `c${n}`, name: 'read', input: { n } });
const result = (n: number): Block => ({ type: 'tool_result', tool_use_id: `c${n}`, content: `result ${n}` });
const text = (words: string): Block => ({ type: 'text', text: words });
const assistants = (...content: Block[]) => ({ role: 'assistant', content });
const users = (...content: Block[]) => ({ role: 'user', content });

async function bodyOf(messages: ConversationMessage[], model = MODEL) {
  const { body } = await bench.sent(bench.providerOf('anthropic', model), 'low', messages);
  const said = body['messages'] as { role: string; content: Block[] }[];
  const bare = said.map(({ role, content }) => {
    return { role, content: content.map(({ cache_control: _mark, ...block }) => block) };
  });
  return { thinking: body['thinking'], messages: bare };
}

const BUDGET = { type: 'enabled', budget_tokens: 4_000 };
/** Two turns, the second of which is under way. Claude with a budget thinks at the beginning of a turn, and may do so later. */
const first = [asked('One'), step(1, sealed(1)), step(2), { ...assistant('Done.'), id: 'done' }];
const second = [asked('Two'), step(3, sealed(3)), step(4, sealed(4))];

/** What is sent of them behind the first call. */
const AFTER_ONE = [
  users(result(1)),
  assistants(use(2)),
  users(result(2)),
  assistants(text('Done.')),
  users(text('Two')),
];
const TWO = [assistants(thinking(3), use(3)), users(result(3)), assistants(thinking(4), use(4)), users(result(4))];

describe('What Claude has thought', () => {
  it('goes back with its seal and before its call, of all turns, while nothing is left out', async () => {
    expect(await bodyOf([...first, ...second])).toEqual({
      thinking: BUDGET,
      messages: [users(text('One')), assistants(thinking(1), use(1)), ...AFTER_ONE, ...TWO],
    });
  });

  it('goes back of the turn alone in which something was left out, as a whole, also in the turns behind it', async () => {
    const cuts = [resultsUpto('step-1', 'step-4')];
    const sent = [users(text('One')), assistants(use(1)), ...AFTER_ONE, ...TWO];
    const messages = [...first, ...second];
    expect(await bodyOf(compacted(messages, cuts))).toEqual({ thinking: BUDGET, messages: sent });
    // The prompt only grows.
    const later = [...messages, { ...assistant('Fine.'), id: 'fine' }, asked('Three'), step(5, sealed(5))];
    expect(await bodyOf(compacted(later, cuts))).toEqual({
      thinking: BUDGET,
      messages: [
        ...sent,
        assistants(text('Fine.')),
        users(text('Three')),
        assistants(thinking(5), use(5)),
        users(result(5)),
      ],
    });
  });

  it('goes back behind a summary in the middle of a turn; a turn that then begins without has no thinking asked for', async () => {
    const behind = compacted([...first, ...second], [summaryUpto('step-3', 'step-4')]);
    const summary = users(text('Summary.'));
    expect(await bodyOf(behind)).toEqual({
      thinking: BUDGET,
      messages: [summary, assistants(thinking(4), use(4)), users(result(4))],
    });
    const messages = [asked('One'), step(1, sealed(1)), step(2)];
    expect(await bodyOf(compacted(messages, [summaryUpto('step-1', 'step-2')]))).toEqual({
      thinking: undefined,
      messages: [summary, assistants(use(2)), users(result(2))],
    });
    // In the next turn it thinks again.
    const next = [...messages, { ...assistant('Done.'), id: 'done' }, asked('Two')];
    expect((await bodyOf(compacted(next, [summaryUpto('step-1', 'step-2')]))).thinking).toEqual(BUDGET);
  });

  it('goes back of no turn when the summary comes at the beginning of one', async () => {
    const messages = [...first, asked('Two')];
    expect(await bodyOf(compacted(messages, [summaryUpto('One', 'Two')]))).toEqual({
      thinking: BUDGET,
      messages: [users(text('Summary.')), assistants(use(1)), ...AFTER_ONE],
    });
  });

  it('is never what another model has thought, and no thinking is asked for in a turn which that one began', async () => {
    for (const foreign of ['unsealed' as const, sealed(3, 'openai/gpt-5.5'), sealed(3, 'anthropic/claude-opus-4-1')]) {
      const messages = [asked('Two'), step(3, foreign)];
      const sent = [users(text('Two')), assistants(use(3)), users(result(3))];
      expect(await bodyOf(messages)).toEqual({ thinking: undefined, messages: sent });
      const further = [...messages, step(4, sealed(4)), asked('More')];
      expect(await bodyOf(further)).toEqual({
        thinking: BUDGET,
        messages: [...sent, assistants(thinking(4), use(4)), users(result(4), text('More'))],
      });
    }
  });

  it('of a model that chooses by itself when to think is asked for in every turn', async () => {
    expect((await bodyOf([asked('Two'), step(3)], 'claude-sonnet-5-5')).thinking).toMatchObject({ type: 'adaptive' });
  });
});
