import { Injectable, Logger, type Provider, Scope } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import { jest } from '@jest/globals';
import { Metrics } from '../metrics/metrics.js';
import { Chore } from './chore.js';
import { ChoreLocks } from './chore-locks.js';
import { ChoreRunner } from './chore-runner.js';

/** One run of a chore: its signal, and how to end it. */
interface Run {
  signal: AbortSignal;
  resolve: () => void;
  reject: (error: Error) => void;
}

@Injectable()
class Sweeper {
  readonly runs: Run[] = [];

  @Chore({ every: 1000 })
  sweep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => this.runs.push({ signal, resolve, reject }));
  }
}

// What needs a database, the locks, is tested in test/e2e/chores.spec.ts.
describe('A chore', () => {
  let module: TestingModule | undefined;
  const said: string[] = [];

  beforeEach(() => {
    jest.useFakeTimers();
    said.length = 0;
  });
  afterEach(async () => {
    jest.useRealTimers();
    for (const { resolve } of module?.get(Sweeper, { strict: false }).runs ?? []) resolve();
    await module?.close();
    module = undefined;
    Logger.overrideLogger(false);
  });

  async function boot(...more: Provider[]): Promise<Sweeper> {
    const none = { provide: ChoreLocks, useValue: {} };
    const providers = [Sweeper, ChoreRunner, Metrics, none, ...more];
    module = await Test.createTestingModule({ imports: [DiscoveryModule], providers }).compile();
    const note = (message: unknown) => void said.push(String(message));
    Logger.overrideLogger({ log: note, warn: note, error: note });
    await module.init();
    return module.get(Sweeper);
  }
  /** Lets what was resolved go on. */
  const settled = () => jest.advanceTimersByTimeAsync(0);
  const counted = async (outcome: string) => {
    const text = await module?.get(Metrics).registry.metrics();
    const [, figure] = new RegExp(`chore_runs_total\\{chore="Sweeper.sweep",outcome="${outcome}"\\} (\\d+)`).exec(text ?? '') ?? []; // prettier-ignore
    return Number(figure ?? 0);
  };

  it('runs at its times, counted from the boot', async () => {
    const { runs } = await boot();
    expect(runs).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(999);
    expect(runs).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await jest.advanceTimersByTimeAsync(1000);
    expect(runs).toHaveLength(2);
    expect(await counted('succeeded')).toBe(1);
  });

  it('is not begun while it runs', async () => {
    const { runs } = await boot();
    await jest.advanceTimersByTimeAsync(5000);
    expect(runs).toHaveLength(1);
    runs[0]?.resolve();
    await jest.advanceTimersByTimeAsync(1000);
    expect(runs).toHaveLength(2);
  });

  it('can be carried out between its times, and then not beside itself either', async () => {
    const sweeper = await boot();
    const runner = module?.get(ChoreRunner);
    const first = runner?.run(sweeper, 'sweep');
    expect(await runner?.run(sweeper, 'sweep')).toBeNull();
    await jest.advanceTimersByTimeAsync(1000);
    expect(sweeper.runs).toHaveLength(1);
    sweeper.runs[0]?.reject(new Error('disk'));
    await expect(first).rejects.toThrow('disk');
    await expect(runner?.run(sweeper, 'run')).rejects.toThrow('Sweeper.run is no chore of this process.');
  });

  it('that fails says so once, is tried again at its next time, and says when it works again', async () => {
    const { runs } = await boot();
    for (let time = 0; time < 3; time++) {
      await jest.advanceTimersByTimeAsync(1000);
      runs[time]?.reject(new Error('The disk is full.'));
      await settled();
    }
    expect(said).toEqual(['The chore Sweeper.sweep failed, and is tried again: Error: The disk is full.']);
    await jest.advanceTimersByTimeAsync(1000);
    runs[3]?.resolve();
    await settled();
    expect(said.slice(1)).toEqual(['The chore Sweeper.sweep works again.']);
    expect([await counted('failed'), await counted('succeeded')]).toEqual([3, 1]);
  });

  it('is told of the end of the process, which waits for it and begins no other', async () => {
    const { runs } = await boot();
    await jest.advanceTimersByTimeAsync(1000);
    let closed = false;
    const closing = module?.close().then(() => (closed = true));
    await jest.advanceTimersByTimeAsync(5000);
    expect([runs[0]?.signal.aborted, closed]).toEqual([true, false]);
    runs[0]?.resolve();
    await closing;
    await jest.advanceTimersByTimeAsync(5000);
    expect(runs).toHaveLength(1);
  });

  it('of a provider with two names is one chore', async () => {
    const { runs } = await boot({ provide: 'another name', useExisting: Sweeper });
    await jest.advanceTimersByTimeAsync(1000);
    runs[0]?.resolve();
    await jest.advanceTimersByTimeAsync(999);
    expect(runs).toHaveLength(1);
  });

  it.each([0, -1, 0.5, Number.NaN, 2 ** 31])('with the time %d is refused', (every) => {
    const wrong = () => {
      class Wrong {
        @Chore({ every })
        sweep(): Promise<void> {
          return Promise.resolve();
        }
      }
      return Wrong;
    };
    expect(wrong).toThrow(
      `@Chore of Wrong.sweep: a whole number of milliseconds from 1 to 2147483647 is expected as 'every'.`,
    );
  });

  it('with the lock of another, or of a provider that is made anew, stops the boot', async () => {
    @Injectable()
    class Twice {
      @Chore({ every: 1000, lock: 1 })
      one(): Promise<void> {
        return Promise.resolve();
      }
      @Chore({ every: 1000, lock: 1 })
      other(): Promise<void> {
        return Promise.resolve();
      }
    }
    await expect(boot(Twice)).rejects.toThrow(
      'The chores Twice.one and Twice.other have one lock, 1: give each its own.',
    );
    @Injectable({ scope: Scope.REQUEST })
    class Anew {
      @Chore({ every: 1000 })
      one(): Promise<void> {
        return Promise.resolve();
      }
    }
    await expect(boot(Anew)).rejects.toThrow('The chore Anew.one is of a provider that is made anew');
  });
});
