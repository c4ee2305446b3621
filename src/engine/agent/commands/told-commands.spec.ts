import { AgentBench, assistant, user } from '../../../../test/harness/agent.js';
import { steps } from '../../../../test/harness/model-server.js';
import type { EarlierCommand } from './input-commands.js';

describe('What the agent is told of commands that have ended (reference §27.2)', () => {
  let bench: AgentBench;
  afterEach(() => bench.close());
  const B1: EarlierCommand = { number: 1, command: 'npm run dev', status: 'stopped', exitCode: null, output: 'up\n' };
  const commands = { last: 1, earlier: [B1], onStop: () => () => undefined };

  it('is no reason to ask a model again whose answer is on record', async () => {
    bench = await AgentBench.start(steps({ text: 'Another answer.' }));
    const ended = [user('Begin.'), assistant('Done.')];
    const { outcome, events } = await bench.run(bench.input(ended, { commands }));
    expect(outcome).toEqual({ type: 'completed', text: 'Done.' });
    expect(events).toEqual([]);
    expect(bench.server?.requests).toEqual([]);
  });

  it('stands before what a turn is asked next', async () => {
    bench = await AgentBench.start(steps({ text: 'Done.' }));
    const { events } = await bench.run(bench.input([user('Begin.'), assistant('Done.'), user('More.')], { commands }));
    expect(events.map(({ type }) => type)).toEqual(['commands_told', 'step']);
    expect(JSON.stringify(bench.server?.requests[0]?.body.messages.at(-1))).toContain('b1 (stopped)');
  });
});
