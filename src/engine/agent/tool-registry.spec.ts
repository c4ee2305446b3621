import { AgentBench } from '../../../test/harness/agent.js';

describe('The tools that a task does not have (reference §27.5)', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.start();
  });
  afterEach(() => bench.close());

  it.each([
    ['bash', 'exec_command'],
    ['exec_command', 'bash'],
    ['bash_input', 'write_stdin'],
    ['write_stdin', 'bash_input'],
  ])('without %s it has no %s either: it is not offered, not carried out and not named', (denied, other) => {
    const input = { command: 'id', cmd: 'id', id: 'b1', session_id: 1 };
    for (const writesPatches of [false, true]) {
      const names = bench.registry.definitions(writesPatches, [], [denied]).map(({ name }) => name);
      expect(names).toContain('read');
      for (const name of [denied, other]) expect(names).not.toContain(name);
    }
    for (const name of [denied, other]) {
      const { error } = bench.registry.check({ name, input }, [denied]) as { error: string };
      expect(error).toContain(`does not have the tool '${name}'. The tools are: apply_patch, `);
      const [, listed = ''] = /The tools are: (.*)\.$/.exec(error) ?? [];
      expect(listed.split(', ')).not.toEqual(expect.arrayContaining([other]));
      expect(listed.split(', ')).not.toEqual(expect.arrayContaining([denied]));
    }
  });
});
