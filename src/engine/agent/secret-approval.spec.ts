import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { AgentBench, assistant, call, user } from '../../../test/harness/agent.js';
import { type Script, steps } from '../../../test/harness/model-server.js';
import type { SandboxSecrets, TaskSecret } from '../sandbox/sandbox.js';
import { Plugin } from '../../platform/plugins/plugin.js';
import type { AgentInput } from './agent-engine.js';
import { AgentTool, success, type ToolOutcome } from './agent-tool.js';

const bound = (host: string, port = 443) => ({ host, port, methods: null, paths: null, place: { query: 'key' } });
const secret = (name: string, more: Partial<TaskSecret> = {}): TaskSecret => ({
  ...{ name, env: `MY_${name}`, placeholder: `mwsec_${name}`, value: 'a value', approved: false },
  bindings: [bound('api.test'), bound('api.test'), bound('*.wild.test', 8443)],
  ...more,
});
const given = (...all: TaskSecret[]) => ({
  secrets: (): Promise<SandboxSecrets> =>
    Promise.resolve({ all, onUse: () => undefined, listen: () => () => undefined }),
});
const use = (name = 'TOKEN', reason = 'To see.') => ({ name: 'use_secret', arguments: { name, reason } });

describe('A task that asks before it uses secrets', () => {
  let bench: AgentBench;
  const start = async (script: Script, tools: AgentTool[] = []) => (bench = await AgentBench.start(script, tools));
  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  afterAll(() => {
    Logger.overrideLogger(['log', 'warn', 'error', 'fatal']);
  });
  afterEach(() => bench.close());

  const input = (more: Partial<AgentInput> = given(secret('TOKEN'))) =>
    bench.input('Go', { approvals: 'secrets', ...more });
  const resultsOf = ({ messages }: AgentInput) =>
    messages.flatMap((one) => one.invocations).map(({ result }) => result);

  it('stops before the tool, with the secret, its hosts and the reason in the question, and grants that secret', async () => {
    await start(steps({ calls: [use()] }));
    expect((await bench.run(input())).outcome).toMatchObject({
      type: 'approval',
      question:
        'May the agent use the secret TOKEN in this task (use_secret)?\n\nIts value goes to api.test, *.wild.test:8443.\n\nThe reason of the agent: To see.',
      grants: 'secret:TOKEN',
    });
    expect(bench.sandbox.opened).toBe(0);
  });

  it('says at once that an approved one may be used, by variable and hosts, and never shows a value', async () => {
    await start(steps({ calls: [use()] }, { text: 'Done.' }));
    const going = input(given(secret('TOKEN', { approved: true })));
    expect((await bench.run(going)).outcome).toMatchObject({ type: 'completed' });
    expect(resultsOf(going)).toMatchObject([
      {
        status: 'success',
        output:
          'The secret TOKEN may be used in this task now: $MY_TOKEN has its placeholder, and requests to api.test, *.wild.test:8443 get its value.',
      },
    ]);
  });

  it.each([
    ['one that there is not', given(secret('TOKEN'), secret('KEY')), 'Its secrets: TOKEN, KEY.'],
    ['one that cannot be read', given(secret('OTHER', { value: null }), secret('TOKEN')), 'Its secrets: TOKEN.'],
    ['any, without a network', {}, 'Its secrets: none.'],
  ])('names those that there are for %s, and asks nobody', async (_what, more, words) => {
    await start(steps({ calls: [use('OTHER')] }, { text: 'Done.' }));
    const going = input(more);
    expect((await bench.run(going)).outcome).toMatchObject({ type: 'completed' });
    expect(resultsOf(going)).toMatchObject([{ status: 'error', error: expect.stringContaining(words) as unknown }]);
  });

  it('asks although the call is approved, or the tool is remembered, as long as the task has not that secret approved', async () => {
    await start(steps({ text: 'never' }));
    const approved = call('a', 'use_secret', { name: 'TOKEN', reason: 'x' }, null, 'approved');
    for (const name of ['use_secret', 'TOKEN', 'secret:TOKEN']) {
      const messages = [user('Go'), assistant('', { ...approved })];
      const { outcome } = await bench.run({ ...input({ ...given(secret('TOKEN')), approvedTools: [name] }), messages });
      expect([name, outcome]).toMatchObject([name, { type: 'approval', grants: 'secret:TOKEN' }]);
    }
  });

  it('refuses to ask a third time in a row for the same secret, whatever the reason', async () => {
    let reasons = 0;
    await start(() => ({ calls: [use('TOKEN', `Reason ${(reasons += 1)}.`)] }));
    const going = input();
    for (let times = 1; times <= 2; times++) {
      expect((await bench.run(going)).outcome).toMatchObject({ type: 'approval' });
      Object.assign(going.messages.at(-1)?.invocations[0] ?? {}, { result: { status: 'denied', reason: null } });
    }
    await bench.run(going);
    expect(resultsOf(going)[2]).toMatchObject({ status: 'error', error: expect.stringMatching(/again and again/) as unknown }); // prettier-ignore
  });

  it('carries out a command behind a denied call, which has only waited, and asks before no other tool', async () => {
    await start(steps({ text: 'never' }, { text: 'Done.' }));
    const denied = call('a', 'use_secret', { name: 'TOKEN', reason: 'x' }, { status: 'denied', reason: null });
    const behind = call('b', 'bash', { command: 'echo b' });
    const { events } = await bench.run({ ...input(), messages: [user('Go'), assistant('', denied, behind)] });
    expect(events.slice(0, 2)).toMatchObject([{ type: 'begin' }, { type: 'tool', result: { status: 'success' } }]);
  });

  it.each([
    ['secrets', 'a secret', given(secret('TOKEN')), true],
    ['secrets', 'an approved one', given(secret('TOKEN', { approved: true })), true],
    ['secrets', 'one that cannot be read', given(secret('TOKEN', { value: null })), false],
    ['secrets', 'none', { secrets: () => Promise.resolve(null) }, false],
    ['secrets', 'no network', {}, false],
    ['writes', 'a secret', given(secret('TOKEN', { approved: true })), false],
    ['none', 'a secret', given(secret('TOKEN', { approved: true })), false],
  ] as const)('with `%s` and %s is offered the tool as it needs it', async (approvals, _what, more, offered) => {
    await start(steps({ text: 'Done.' }));
    await bench.run(input({ ...more, approvals }));
    const names = bench.server?.requests[0]?.body.tools?.map((tool) => tool.function.name);
    expect(names?.includes('use_secret')).toBe(offered);
  });

  it('is told before its first message that they wait, and not of approved ones', async () => {
    await start(steps({ text: 'Done.' }));
    for (const approved of [false, true]) await bench.run(input(given(secret('TOKEN', { approved }))));
    const told = bench.server?.requests.map(({ surroundings }) => surroundings?.includes('call use_secret'));
    expect(told).toEqual([true, false]);
  });

  it('has no tool by the name of an approval', async () => {
    @Plugin(AgentTool, 'secret:TOKEN')
    class OddTool extends AgentTool {
      readonly name = 'secret:TOKEN';
      readonly description = 'Odd.';
      readonly parameters = z.strictObject({});
      readonly repeatable = false;
      execute(): Promise<ToolOutcome> {
        return Promise.resolve(success({}));
      }
    }
    await start(steps({ text: 'Done.' }), [new OddTool()]);
    expect(() => bench.registry.definitions()).toThrow("The tool 'secret:TOKEN' is to be named by");
  });
});
