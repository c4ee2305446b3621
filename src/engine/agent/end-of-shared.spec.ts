import { AgentBench, HANDED_IN } from '../../../test/harness/agent.js';
import { steps } from '../../../test/harness/model-server.js';
import type { SandboxOpenOptions } from '../sandbox/sandbox.js';

describe('At the end of a turn', () => {
  it('what the agent has left running is ended before its changes are counted', async () => {
    const call = { name: 'bash', arguments: { command: 'true' } };
    const bench = await AgentBench.start(steps({ calls: [call] }, { text: 'Done.' }));
    try {
      const order: string[] = [];
      const open = bench.sandbox.open.bind(bench.sandbox);
      bench.sandbox.open = async (options: SandboxOpenOptions) => {
        const session = await open(options);
        session.endShared = () => Promise.resolve(void order.push('ended'));
        return session;
      };
      const changes: (typeof HANDED_IN)['changes'] = (session) => {
        order.push('counted');
        return HANDED_IN.changes(session);
      };
      const { outcome } = await bench.run(bench.input('Go', { repository: { ...HANDED_IN, changes } }));
      expect(outcome).toMatchObject({ type: 'completed' });
      expect(order).toEqual(['ended', 'counted']);
    } finally {
      await bench.close();
    }
  });
});
