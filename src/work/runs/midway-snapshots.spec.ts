import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import { MidwaySnapshots } from './midway-snapshots.js';

describe('Snapshots of a run that goes on, with several machines (reference §22)', () => {
  /** How many there are behind each step of one call. */
  async function behind(...names: string[]): Promise<number[]> {
    let taken = 0;
    const midway = new MidwaySnapshots(() => Promise.resolve(++taken > 0), () => true, 0); // prettier-ignore
    const counts: number[] = [];
    for (const name of names) {
      await midway.recorded({
        type: 'step',
        calls: [{ toolCallId: 'call', name, input: {} }],
      } as unknown as AgentEvent);
      await midway.recorded({ type: 'tool', last: true } as unknown as AgentEvent);
      counts.push(taken);
    }
    return counts;
  }

  it('one is taken behind a step that may have changed the folder, and none behind one that has read', async () => {
    expect(await behind('bash', 'read', 'grep', 'write')).toEqual([1, 1, 1, 2]);
  });

  it('one is taken behind a wait for a command that goes on: it has written meanwhile', async () => {
    expect(await behind('bash', 'bash_output', 'write_stdin')).toEqual([1, 2, 3]);
  });
});
