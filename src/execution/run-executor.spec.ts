import { until } from '../../test/harness/until.js';
import { readEnv } from '../config/env.js';
import type { PgChannel } from '../signals/pg-channel.js';
import type { HeldRuns } from './held-runs.js';
import type { RunClaims } from './run-claims.js';
import type { RunDriver } from './run-driver.js';
import { RunExecutor } from './run-executor.js';
import type { RunRecorder } from './run-recorder.js';
import type { WorkdirCleaner } from './workdir-cleaner.js';

describe('The executor of runs', () => {
  it('claims nothing before the process is ready: what is rung while it boots waits', async () => {
    const asked: string[] = [];
    const claim = (id: string) => (asked.push(id), Promise.resolve(null));
    const claims = {
      claim,
      queued: () => Promise.resolve(asked.length === 0 ? ['early'] : []),
    } as unknown as RunClaims;
    const [held, driver, channel] = [{ size: 0 } as HeldRuns, {} as RunDriver, {} as PgChannel];
    const [recorder, workdirs] = [{} as RunRecorder, {} as WorkdirCleaner];
    const executor = new RunExecutor(claims, held, driver, recorder, workdirs, channel, readEnv({}));
    await executor.execute('early');
    expect(asked).toEqual([]);
    executor.onApplicationBootstrap();
    await until('the run to be claimed', () => asked.length > 0);
    expect(asked).toEqual(['early']);
  });
});
