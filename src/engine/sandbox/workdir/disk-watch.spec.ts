import { jest } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { DiskWatch } from './disk-watch.js';

const GIB = 1024 ** 3;

describe('The watch of a workdir, asked for the room for output', () => {
  const folder = temporaryFolder();
  let looks: number;
  let watch: DiskWatch;
  beforeEach(() => {
    let now = 1_000_000;
    looks = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const space = { state: 'enough' as const, room: GIB, look: async () => {}, listen: () => {}, unlisten: () => {} };
    // A look takes 50 ms.
    const running = () => ((looks += 1), (now += 50), []);
    const nameless = () => ({ bytes: 0, inodes: 0 });
    const rest = { exceeded: () => undefined, empty: () => Promise.resolve() };
    watch = new DiskWatch({ folders: [folder.path], limitBytes: GIB, space, running, nameless, ...rest });
    watch.start(true);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => folder.remove());

  it('rests between two looks, however often it is asked', async () => {
    expect(await watch.roomForOutput()).toBeGreaterThan(0);
    const room = watch.roomForOutput();
    for (let n = 0; n < 10; n++) await turn();
    expect(looks).toBe(1);
    expect(await room).toBeGreaterThan(0);
    expect(looks).toBe(2);
    watch.stop(true);
  });

  it('looks no more, and has none, when the command has ended meanwhile', async () => {
    await watch.roomForOutput();
    const room = watch.roomForOutput();
    watch.stop(true);
    expect(await room).toBe(0);
    expect(looks).toBe(1);
  });
});
