import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { AgentBench, assistant, call, user } from '../../../test/harness/agent.js';
import { type Script, steps } from '../../../test/harness/model-server.js';
import type { ConversationMessage, ToolInvocation } from '../models/conversation.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import type { AgentEvent, AgentInput } from './agent-engine.js';
import { AgentTool, success, type ToolOutcome } from './agent-tool.js';

/** As an extension writes it that does not think of approvals. */
@Plugin(AgentTool, 'deploy')
class DeployTool extends AgentTool {
  readonly name = 'deploy';
  readonly description = 'Deploys.';
  readonly parameters = z.strictObject({ to: z.string() });
  readonly repeatable = false;
  execute(): Promise<ToolOutcome> {
    return Promise.resolve(success({}));
  }
}

@Plugin(AgentTool, 'mumble')
class MumbleTool extends DeployTool {
  override readonly name = 'mumble' as 'deploy';
  override approvalQuestion(): string {
    throw new Error('No words.');
  }
}

@Plugin(AgentTool, 'tell')
class TellTool extends DeployTool {
  override readonly name = 'tell' as 'deploy';
  override readonly changes = false;
}

let bench: AgentBench;
async function start(script: Script): Promise<void> {
  bench = await AgentBench.start(script, [new DeployTool(), new MumbleTool(), new TellTool()]);
}
beforeAll(() => {
  Logger.overrideLogger(false);
});
afterAll(() => {
  Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
});
afterEach(() => bench.close());

const writes = (messages: ConversationMessage[] | string, more: Partial<AgentInput> = {}) =>
  bench.input(messages, { approvals: 'writes', ...more });
const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const kinds = (events: AgentEvent[]) => events.map((event) => event.type);
const callsOf = ({ messages }: AgentInput) => messages.flatMap(({ invocations }) => invocations);
/** What the recorder does when a person has answered. */
const decide = (invocation: ToolInvocation | undefined, approved: boolean) =>
  Object.assign(invocation ?? {}, approved ? { stage: 'approved' } : { result: { status: 'denied', reason: 'No.' } });

describe('a task that asks before each command or file change', () => {
  it.each([
    ['bash', { command: 'rm -r build' }, 'May the agent run this command (bash)?\n\nrm -r build'],
    ['write', { path: 'a.txt', content: 'é' }, 'May the agent write the file a.txt, 2 bytes (write)?'],
    ['edit', { path: 'a.txt', oldText: 'a', newText: 'b' }, 'May the agent change the file a.txt (edit)?'],
    ['deploy', { to: 'prod' }, 'May the agent use the tool deploy?\n\n{"to":"prod"}'],
    ['mumble', { to: 'prod' }, 'May the agent use the tool mumble?'],
  ])('stops before %s, and starts nothing', async (name, args, question) => {
    await start(steps({ calls: [{ name, arguments: args }] }));
    const input = writes('Go');
    const { outcome, events } = await bench.run(input);
    expect(kinds(events)).toEqual(['step']);
    const [{ toolCallId } = { toolCallId: '' }] = callsOf(input);
    expect(outcome).toEqual({ type: 'approval', messageId: input.messages[1]?.id, toolCallId, question, tool: name });
    expect(bench.sandbox.opened).toBe(0);
  });

  it.each([
    ['read', { path: '.' }],
    ['glob', { pattern: '*' }],
    ['grep', { pattern: 'x' }],
    ['todo', { items: [] }],
    ['publish', { path: 'absent.txt' }],
    ['tell', { to: 'us' }],
    ['bash', { command: 7 }],
    ['unheard_of', {}],
  ])('does not ask before %s with %j', async (name, args) => {
    await start(steps({ calls: [{ name, arguments: args }] }, { text: 'Done.' }));
    const { outcome } = await bench.run(writes('Go'));
    expect(outcome).toEqual({ type: 'completed', text: 'Done.' });
  });

  it('asks an `ask` as a question', async () => {
    await start(steps({ calls: [{ name: 'ask', arguments: { question: 'Well?' } }] }));
    expect((await bench.run(writes('Go'))).outcome).toMatchObject({ type: 'question' });
  });

  it('cuts a long command in the middle, and keeps halves of characters out of the text', async () => {
    await start(steps({ calls: [bash(`${'x'.repeat(1_900)}${'😀'.repeat(2_000)}`)] }));
    const { outcome } = await bench.run(writes('Go'));
    const question = outcome.type === 'approval' ? outcome.question : '';
    expect(question).toMatch(/^May the agent run[^]*characters left out/);
    expect(question.length).toBeLessThan(4_100);
    expect(question.isWellFormed()).toBe(true);
  });

  it('stops the line: what comes before is done, what comes after waits, questions come last', async () => {
    const ask = { name: 'ask', arguments: { question: 'Well?' } };
    const todo = { name: 'todo', arguments: { items: [] } };
    await start(steps({ calls: [ask, todo, bash('echo 1'), todo, bash('echo 2')] }, { text: 'Done.' }));
    const input = writes('Go');
    expect((await bench.run(input)).outcome).toMatchObject({ type: 'approval', question: expect.stringMatching(/1$/) });
    const [asked, before, one, after, two] = callsOf(input);
    expect(before?.result).toMatchObject({ status: 'success' });
    expect(after?.result).toBeNull();
    expect(bench.sandbox.commands).toEqual([]);

    decide(one, true);
    const { outcome, events } = await bench.run(input);
    expect(kinds(events)).toEqual(['begin', 'tool', 'tool']);
    expect(events[0]).toMatchObject({ toolCallId: one?.toolCallId });
    expect(outcome).toMatchObject({ type: 'approval', toolCallId: two?.toolCallId });
    expect(bench.sandbox.commands).toEqual(['echo 1']);

    decide(two, false);
    expect((await bench.run(input)).outcome).toMatchObject({ type: 'question', toolCallId: asked?.toolCallId });
    expect(bench.sandbox.commands).toEqual(['echo 1']);
  });

  it('tells the model that a call was denied, and why', async () => {
    await start(steps({ text: 'never' }, { text: 'I see.' }));
    const denied = call('a', 'bash', { command: 'echo a' }, { status: 'denied', reason: 'Too early.' });
    const { outcome } = await bench.run(writes([user('Go'), assistant('', denied)]));
    expect(outcome).toEqual({ type: 'completed', text: 'I see.' });
    expect(bench.server?.requests[0]?.body.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: 'This call was denied, so it was not carried out. The reason: Too early.',
    });
  });

  it('does not ask for a tool that the person said to remember', async () => {
    await start(steps({ calls: [bash('echo 1 > log'), { name: 'write', arguments: { path: 'a', content: '' } }] }));
    const { outcome, events } = await bench.run(writes('Go', { approvedTools: ['bash'] }));
    expect(kinds(events)).toEqual(['step', 'begin', 'tool']);
    expect(outcome).toMatchObject({ type: 'approval', question: expect.stringContaining('(write)') });
  });

  it('refuses the third same call in a row without asking', async () => {
    await start(() => ({ calls: [bash('echo same')] }));
    const input = writes('Go');
    for (let times = 1; times <= 2; times++) {
      expect((await bench.run(input)).outcome).toMatchObject({ type: 'approval' });
      decide(callsOf(input).at(-1), false);
    }
    expect((await bench.run(input)).outcome).toMatchObject({ type: 'failed', code: 'no_progress' });
    expect(bench.sandbox.commands).toEqual([]);
  });
});

describe('after a crash in a task that asks', () => {
  const open = (...calls: ToolInvocation[]) => writes([user('Go'), assistant('', ...calls)]);
  const approved = (id: string, name = 'bash') =>
    call(id, name, name === 'bash' ? { command: `echo ${id}` } : { path: id, content: id }, null, 'approved');

  it('a command that was approved and had not begun runs', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const { events } = await bench.run(open(approved('a')));
    expect(events.slice(0, 2)).toMatchObject([{ type: 'begin' }, { result: { status: 'success' }, last: true }]);
    expect(bench.sandbox.commands).toEqual(['echo a']);
  });

  it('one that had begun does not run again, and nobody is asked again', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const { outcome, events } = await bench.run(open(call('a', 'bash', { command: 'echo a' }, null, 'begun')));
    expect(events[0]).toMatchObject({ result: { status: 'error', error: expect.stringMatching(/run partly/) } });
    expect(outcome).toEqual({ type: 'completed', text: 'Fine.' });
    expect(bench.sandbox.commands).toEqual([]);
  });

  it('an approved write, which may be repeated, is repeated', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const { events } = await bench.run(open(approved('a.txt', 'write')));
    expect(kinds(events)).toEqual(['tool', 'step']);
    expect(existsSync(join(bench.sandbox.folder, 'a.txt'))).toBe(true);
  });

  it('a remembered command behind a denied call runs: it has only waited', async () => {
    await start(steps({ text: 'never' }, { text: 'Fine.' }));
    const denied = call('w', 'write', { path: 'w', content: '' }, { status: 'denied', reason: null });
    const input = { ...open(denied, call('a', 'bash', { command: 'echo a' })), approvedTools: ['bash'] };
    const { events } = await bench.run(input);
    expect(events.slice(0, 2)).toMatchObject([{ type: 'begin' }, { result: { status: 'success' } }]);
  });
});
