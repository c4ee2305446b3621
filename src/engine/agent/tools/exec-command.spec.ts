import { AgentBench } from '../../../../test/harness/agent.js';
import { steps } from '../../../../test/harness/model-server.js';
import type { AgentInput } from '../agent-engine.js';

describe('exec_command and write_stdin (reference §27.2)', () => {
  let bench: AgentBench;
  afterEach(() => bench.close());

  type Call = readonly [name: string, input: unknown];
  const exec = (cmd: string, more = {}): Call => ['exec_command', { cmd, yield_time_ms: 250, ...more }];
  const write = (session_id: number, chars?: string): Call => [
    'write_stdin',
    { session_id, chars, yield_time_ms: 300 },
  ];
  /** Carries out calls, one a step, and answers their results. */
  async function results(calls: readonly Call[], more: Partial<AgentInput> = {}) {
    const asked = calls.map(([name, input]) => ({ calls: [{ name, arguments: input }] }));
    bench = await AgentBench.start(steps(...asked, { text: 'Done.' }));
    const { outcome, events } = await bench.run(bench.input('Go on.', more));
    expect(outcome).toMatchObject({ type: 'completed' });
    return events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));
  }
  const EIGHT = Array.from({ length: 8 }, () => exec(`trap '' INT; echo up; while :; do sleep 0.1; done`));

  it('while eight go on, a command runs to its end in its call', async () => {
    const all = await results([...EIGHT, exec('sleep 0.5; echo more'), exec('cat', { tty: true })]);
    expect(all.slice(7)).toMatchObject([
      { output: { session_id: 8, status: 'running' } },
      { output: { exitCode: 0, stdout: 'more\n' } },
      {
        error: expect.stringMatching(
          /^No more sessions may go on: there are 1 \(running\), .*8 \(running\)\./,
        ) as string,
      },
    ]);
  });

  it('what does not heed an interrupt is ended by a second one', async () => {
    const all = await results([...EIGHT, write(8, '\u0003'), write(8, '\u0003'), exec('sleep 5'), write(9, '\u0003')]);
    expect(all.slice(8)).toMatchObject([
      { output: { session_id: 8, status: 'running' } },
      { output: { session_id: 8, status: 'stopped' } },
      { output: { session_id: 9, status: 'running' } },
      { output: { session_id: 9, status: 'exited' } },
    ]);
  });

  it('errors name a session by its number', async () => {
    const all = await results([write(7), exec('cat'), write(1), write(1, 'more'), write(7, 'x')]);
    expect(all).toMatchObject([
      { error: 'There is no session 7 in this run: there are none.' },
      { output: { exitCode: 0 } },
      { error: 'There is no session 1 in this run: there are none.' },
      { error: 'There is no session 1 in this run: there are none.' },
      { error: 'There is no session 7 in this run: there are none.' },
    ]);
    await bench.close();
    const more = await results([exec('sleep 0.4'), write(1), write(1, 'x'), exec('sleep 20'), write(2, 'x')]);
    expect(more.slice(2)).toMatchObject([
      { error: 'The session 1 does not run any more (exited). Nothing was given.' },
      { output: { session_id: 2 } },
      { error: expect.stringMatching(/^The session 2 takes no input/) as string },
    ]);
  });

  it('max_output_tokens bounds what is read of one that goes on', async () => {
    const all = await results([
      exec('seq 1000; exec sleep 20', { max_output_tokens: 100 }),
      exec('sleep 0.4; seq 1000; exec sleep 20'),
      ['write_stdin', { session_id: 2, yield_time_ms: 700, max_output_tokens: 100 }],
    ]);
    const short = { output: { output: expect.stringMatching(/^1\n[\s\S]{50,450}\[… \d+ bytes left out; .*…\]\n[\s\S]*1000\n$/) } }; // prettier-ignore
    expect(all).toMatchObject([short, { output: { session_id: 2 } }, short]);
  });
});
