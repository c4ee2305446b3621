import type { ConversationMessage, ToolInvocation } from '../../models/conversation.js';
import type { Held } from './gate.js';
import { HeldStep, reachedIn } from './held-step.js';

const call = (toolCallId: string, about: Partial<ToolInvocation> = {}): ToolInvocation => {
  return { toolCallId, name: 'shell', input: { command: toolCallId }, result: null, stage: null, ...about };
};
const message = (...invocations: ToolInvocation[]): ConversationMessage => {
  return { id: 'm', role: 'assistant', parts: [{ type: 'text', text: 'I begin.' }], invocations };
};
const approval: Held = { approval: { question: 'May it?', tool: 'shell' } };

describe('A step on its way to a program (reference §30)', () => {
  it('goes as a whole when nothing stands between', () => {
    const step = HeldStep.ofRecord(message(call('a'), call('b')));
    const { give } = step.next(() => null);
    expect(give?.said).toMatchObject({ text: 'I begin.', calls: [{ toolCallId: 'a' }, { toolCallId: 'b' }] });
    step.given(give?.calls ?? []);
    expect(step.isOver).toBe(true);
    expect(step.next(() => null).give).toBeNull();
  });

  it('is on record as begun with its last call, where nothing stands before any', () => {
    const begunOf = (holds: (one: ToolInvocation) => Held | null, ...calls: ToolInvocation[]) => {
      const step = HeldStep.ofRecord(message(...calls));
      step.begins(holds);
      return step.begun;
    };
    const [a, b] = [call('a'), call('b')];
    expect(begunOf(() => null, a, b)).toBe('b');
    expect(begunOf((one) => (one === a ? approval : null), a, b)).toBeNull();
    expect(begunOf(() => null)).toBeNull();
  });

  it('goes one call after another when one of them is to be asked about, with its words once', () => {
    const [a, b] = [call('a'), call('b')];
    const step = HeldStep.ofRecord(message(a, b));
    const holds = (one: ToolInvocation) => (one === b ? approval : null);
    const first = step.next(holds);
    expect(first.give?.calls).toEqual([a]);
    step.given([a]);
    expect(step.isFor(new Set())).toBe(false);
    expect(step.isFor(new Set(['a']))).toBe(true);
    expect(HeldStep.ofRecord(message(b)).isFor(new Set(), true)).toBe(false);
    expect(step.next(holds).ends).toEqual({ call: b, held: approval });
    expect(step.left).toEqual([b]);
    expect(step.next(() => null).give?.said).toEqual({ calls: [expect.objectContaining({ toolCallId: 'b' })] });
  });

  it('ends with a question when the other calls have gone', () => {
    const [ask, other] = [call('q', { name: 'mcp__millwright__ask' }), call('a')];
    const step = HeldStep.ofRecord(message(ask, other));
    const holds = (one: ToolInvocation): Held | null => (one === ask ? { question: true } : null);
    expect(step.next(holds).give?.calls).toEqual([other]);
    step.given([other]);
    expect(step.next(holds).ends).toEqual({ call: ask, held: { question: true } });
  });

  it('ends with a call that hands work to tasks before those behind it, which may build on that', () => {
    const [a, tasks, b] = [call('a'), call('t', { name: 'mcp__millwright__delegate' }), call('b')];
    const step = HeldStep.ofRecord(message(a, tasks, b));
    const holds = (one: ToolInvocation): Held | null => (one === tasks ? { tasks: true } : null);
    expect(step.next(holds).give?.calls).toEqual([a]);
    step.given([a]);
    expect(step.next(holds).ends).toEqual({ call: tasks, held: { tasks: true } });
    step.without(tasks);
    expect(step.next(() => null).give?.calls).toEqual([b]);
  });

  it('says a call again in its own form', () => {
    const one = message(call('a', { name: 'apply_patch', input: { input: '*** Begin' } }));
    one.parts.push({
      type: 'tool',
      toolCallId: 'a',
      providerMetadata: { millwright: { form: { form: 'custom_tool_call' } } },
    });
    const { give } = HeldStep.ofRecord(one).next(() => null);
    expect(give?.said.calls).toEqual([
      { toolCallId: 'a', name: 'apply_patch', input: '{"input":"*** Begin"}', form: 'custom_tool_call' },
    ]);
  });

  it('has reached the program with all calls up to the last that has begun, but for a question', () => {
    const ask = call('q', { name: 'mcp__millwright__ask' });
    const [a, b, c] = [call('a'), call('b', { stage: 'begun' }), call('c')];
    expect(reachedIn(message(a, ask, b, c))).toEqual([a, b]);
    expect(reachedIn(message(call('a'), call('b')))).toEqual([]);
    const done = call('a', { result: { status: 'success', output: '' } });
    expect(reachedIn(message(done, b))).toEqual([b]);
  });
});
