import type { ModelPart } from '../models/model-provider.js';
import { AnswerCollector } from './model-answer.js';

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
const finish: ModelPart = { type: 'finish', reason: 'stop', usage };

function collect(...parts: ModelPart[]) {
  const collector = new AnswerCollector({ answerLength: 1_000, callsPerStep: 2 }, (id) => id);
  for (const part of [...parts, finish]) collector.add(part);
  return collector.result();
}

describe('an answer', () => {
  it('joins pieces of a kind until their end, and everything that a provider adds to them', () => {
    const { parts } = collect(
      { type: 'reasoning', text: 'a', providerMetadata: { p: { id: 1 } } },
      { type: 'text', text: '' },
      { type: 'reasoning', text: 'b', end: true, providerMetadata: { p: { seal: 's' }, q: { x: 1 } } },
      { type: 'text', text: 'c' },
      { type: 'text', text: 'd', end: true },
      { type: 'text', text: 'e' },
    );
    expect(parts).toEqual([
      { type: 'step_start' },
      { type: 'reasoning', text: 'ab', providerMetadata: { p: { id: 1, seal: 's' }, q: { x: 1 } } },
      { type: 'text', text: 'cd' },
      { type: 'text', text: 'e' },
    ]);
  });

  it('keeps hidden reasoning for its seal, and no other empty part', () => {
    const { parts } = collect(
      { type: 'reasoning', text: '', end: true, providerMetadata: { p: { seal: 's' } } },
      { type: 'reasoning', text: '', end: true },
      { type: 'text', text: '', end: true, providerMetadata: { p: { id: 1 } } },
      { type: 'text', text: 'x' },
    );
    expect(parts.map((part) => part.type)).toEqual(['step_start', 'reasoning', 'text']);
  });

  it('holds nothing that a database refuses', () => {
    const { parts } = collect({ type: 'text', text: 'a\0b\uD800c😀' });
    expect(parts[1]).toEqual({ type: 'text', text: 'a\uFFFDb\uFFFDc😀' });
  });

  it.each([
    ['functions.bash', 'bash'],
    ['functions:bash', 'bash'],
    ['default_api:bash', 'bash'],
    ['default_api.bash', 'bash'],
    ['bash<|channel|>commentary', 'bash'],
    ['functions.bash<|constrain|>json', 'bash'],
    [' bash ', 'bash'],
    ['browser.open', 'browser.open'],
    ['functions.', 'functions.'],
    ['<|channel|>', '<|channel|>'],
  ])('takes a call of %s as one of %s', (written, name) => {
    const call: ModelPart = { type: 'tool_call', toolCallId: 'a', name: written, input: '{}' };
    expect(collect(call).calls).toEqual([{ toolCallId: 'a', name, input: '{}' }]);
  });

  it('at the output limit has one call that is cut off: the last one, unless text stands behind it', () => {
    const call = (id: string): ModelPart => ({ type: 'tool_call', toolCallId: id, name: 'bash', input: '{}' });
    const limited = (...parts: ModelPart[]) => {
      const collector = new AnswerCollector({ answerLength: 1_000, callsPerStep: 2 }, (id) => id);
      for (const part of parts) collector.add(part);
      collector.add({ type: 'finish', reason: 'length', usage });
      return collector.result();
    };
    const start = { type: 'step_start' };
    const [a, b] = ['a', 'b'].map((toolCallId) => ({ type: 'tool', toolCallId }));
    const text = { type: 'text' as const, text: 'x' };
    expect(limited(call('a'), call('b'))).toMatchObject({ parts: [start, a, { ...b, cut: true }], truncated: false });
    expect(limited(call('a'), text).parts).toEqual([start, a, text]);
    expect(limited(text)).toMatchObject({ parts: [start, text], failure: null, truncated: true });
  });

  it('carries out nothing when it failed', () => {
    const call: ModelPart = { type: 'tool_call', toolCallId: '1', name: 'bash', input: '{}' };
    const collector = new AnswerCollector({ answerLength: 1_000, callsPerStep: 2 }, (id) => id);
    for (const part of [{ type: 'text' as const, text: 'x' }, call]) collector.add(part);
    collector.add({ type: 'finish', reason: 'content_filter', usage });
    const { parts, calls, failure } = collector.result();
    expect([parts.length, calls, failure?.code]).toEqual([2, [], 'content_filter']);
    expect(() => collect(call, call, call)).toThrow(/more than 2 tools/);
  });
});
