import { jest } from '@jest/globals';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
    const space = {
      state: 'enough' as const,
      room: GIB,
      measure: async () => {},
      listen: () => {},
      unlisten: () => {},
    };
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

describe('The watch of a workdir, while others delete files on the same disk', () => {
  const folder = temporaryFolder();
  const MIB = 1024 ** 2;
  const fill = (path: string, mib: number) => writeFileSync(path, Buffer.alloc(mib * MIB, 'x'));
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => folder.remove());

  it('ends a command that goes beyond the limit, long before its next full look', async () => {
    // The time stands still: no full look is due.
    jest.spyOn(performance, 'now').mockReturnValue(1_000_000);
    const [workdir, other] = [join(folder.path, 'workdir'), join(folder.path, 'other')];
    mkdirSync(workdir);
    fill(other, 128);
    let tick = () => {};
    const listen = (listener: () => void) => (tick = listener);
    const space = { state: 'enough' as const, room: GIB, measure: async () => {}, listen, unlisten: () => {} };
    const exceeded = jest.fn();
    const nameless = () => ({ bytes: 0, inodes: 0 });
    const rest = { space, running: () => [], nameless, exceeded, empty: () => Promise.resolve() };
    const watch = new DiskWatch({ folders: [workdir], limitBytes: 8 * MIB, ...rest });
    await watch.room();
    watch.start(true);
    rmSync(other);
    tick();
    await watch.idle();
    fill(join(workdir, 'file'), 16);
    tick();
    await watch.idle();
    watch.stop(true);
    expect(exceeded).toHaveBeenCalled();
  });
});
