import { INTERRUPTED } from '../../agent/turn-outcomes.js';
import type { ConversationMessage, ToolInvocation } from '../../models/conversation.js';
import { nextWords } from './prompts.js';

const call = (command: string, about: Partial<ToolInvocation>): ToolInvocation => {
  return { toolCallId: command, name: 'shell', input: { command }, result: null, stage: null, ...about };
};
const interrupted = call('one', { stage: 'begun', result: { status: 'error', error: INTERRUPTED } });
const named = `You wanted to call shell with {"command":"one"}\n${INTERRUPTED}`;
const approved = call('two', { stage: 'approved' });

/** What a session is told that goes on behind a step with these calls. */
function toldAfter(invocations: ToolInvocation[], replays: boolean, said: string[] = []): string {
  const message = (role: 'user' | 'assistant', text: string, calls: ToolInvocation[] = []): ConversationMessage => {
    return { id: text, role, parts: [{ type: 'text', text }], invocations: calls };
  };
  const later = said.map((text) => message('user', text));
  return nextWords([message('user', 'Begin.'), message('assistant', 'I begin.', invocations), ...later], replays);
}

describe('A session that goes on (reference §30)', () => {
  it('is told that it was interrupted, and in which calls', () => {
    expect(toldAfter([interrupted], false)).toMatch(/^You were interrupted\. .*\n\nYou wanted to call shell with /s);
    expect(toldAfter([], false)).toMatch(/^You were interrupted\. [^\n]*$/);
  });

  it('is told so too where a person has said something, or has approved a call behind it', () => {
    expect(toldAfter([interrupted], false, ['Stop that.'])).toBe(`${named}\n\nStop that.`);
    expect(toldAfter([interrupted, approved], true)).toBe(
      `${named}\n\nA person has approved your call of shell. Go on with it.`,
    );
  });

  it('is told so too before it is given the rest of the step', () => {
    expect(toldAfter([interrupted, call('two', {})], true)).toBe(`${named}\n\nGo on.`);
    expect(toldAfter([call('two', {})], true)).toBe('Go on.');
  });
});
