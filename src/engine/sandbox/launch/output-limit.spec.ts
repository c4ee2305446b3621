import { OutputLimit, type OutputLimits, Pace } from './output-limit.js';

const MIB = 1024 * 1024;

/** Commands of one process, whose time goes on only as they are told. */
class Process {
  now = 1_000_000;
  readonly waits: number[] = [];
  looks = 0;
  ended = 0;
  private readonly pace = new Pace({
    now: () => this.now,
    sleep: (ms) => (this.waits.push(ms), new Promise(() => undefined)),
  });

  /** Takes a MiB of its output, which takes so many milliseconds. */
  command(limits: Partial<OutputLimits> = {}): (ms: number) => void {
    const room = () => Promise.resolve((this.looks++, 1024 * MIB));
    const limit = new OutputLimit(
      { outputBytes: MIB, beyondBytes: 100 * MIB, keepsOutput: () => true, room, ...limits },
      () => this.ended++,
      this.pace,
    );
    let bytes = 0;
    return (ms) => {
      const began = this.now;
      this.now += ms;
      void limit.reached((bytes += MIB), began);
    };
  }
}

describe('Output beyond the limit', () => {
  let process: Process;
  beforeEach(() => (process = new Process()));

  it('waits four times as long as taking it took the thread, and none waits below the limit', () => {
    const take = process.command();
    take(500);
    expect(process.waits).toEqual([]);
    for (const ms of [0, 40, 240]) {
      take(ms);
      process.now += process.waits.at(-1) ?? 0;
    }
    // A millisecond of each MiB is not measured.
    expect(process.waits).toEqual([5, 4 * 40 + 5, 4 * 240 + 5]);
  });

  it('has saved nothing by a pause', () => {
    const take = process.command();
    take(0);
    take(10);
    process.now += 300_000;
    take(10);
    expect(process.waits).toEqual([45, 45]);
  });

  it('waits for that of the other commands of the process too', () => {
    const takes = [process.command(), process.command(), process.command()];
    for (const take of takes) take(0);
    for (const take of takes) take(10);
    // 33 milliseconds of work within 165, of which 10, 20 and 30 are over.
    expect(process.waits).toEqual([55 - 10, 110 - 20, 165 - 30]);
  });

  it('is waited for by whole milliseconds, and not forgotten below', () => {
    const pace = new Pace({ now: () => 0, sleep: (ms) => Promise.resolve(void process.waits.push(ms)) });
    for (let n = 0; n < 4; n++) void pace.taken(0, MIB / 10);
    expect(process.waits).toEqual([1, 1.5, 2]);
  });

  it('ends the command when it is more than may be read, also where it fills no file', () => {
    const take = process.command({ beyondBytes: 3 * MIB });
    for (let n = 0; n < 4; n++) take(0);
    expect(process.ended).toBe(0);
    take(0);
    expect(process.ended).toBe(1);
  });

  it('ends the command when nobody keeps it', () => {
    const take = process.command({ keepsOutput: () => false });
    take(0);
    expect(process.ended).toBe(0);
    take(0);
    expect(process.ended).toBe(1);
    expect(process.looks).toBe(0);
  });
});
