import { jest } from '@jest/globals';
import { until } from '../../../test/harness/until.js';
import { readEnv } from '../../platform/config/env.js';
import { Safeguards } from '../../platform/config/safeguards.js';
import type { Machine } from '../machines/machine.js';
import type { ClaimedRun } from './claimed-run.js';
import type { RunLeases } from './run-leases.js';
import type { DiskSpace } from '../../platform/disk/disk-space.js';
import type { RunClaims } from './run-claims.js';
import type { RunDriver } from './run-driver.js';
import { RunExecutor } from './run-executor.js';
import type { RunRecorder } from './run-recorder.js';
import type { TaskFolders } from './task-folders.js';

const machine = { drained: () => undefined, leave: () => Promise.resolve() } as unknown as Machine;
const executorOf = (claims: RunClaims, held: RunLeases, driver = {} as RunDriver): RunExecutor => {
  const [recorder, workdirs] = [{} as RunRecorder, {} as TaskFolders];
  const space = { state: 'enough' } as DiskSpace;
  return new RunExecutor(claims, held, driver, recorder, workdirs, space, new Safeguards(), machine, readEnv({}));
};

describe('The executor of runs', () => {
  it('claims nothing before the process is ready: what is rung while it boots waits', async () => {
    const asked: string[] = [];
    const claim = (id: string) => (asked.push(id), Promise.resolve(null));
    const claims = {
      claim,
      queued: () => Promise.resolve(asked.length === 0 ? [{ id: 'early', first: true }] : []),
    } as unknown as RunClaims;
    const executor = executorOf(claims, { size: 0 } as RunLeases);
    await executor.execute('early');
    expect(asked).toEqual([]);
    executor.onApplicationBootstrap();
    await until('the run to be claimed', () => asked.length > 0);
    expect(asked).toEqual(['early']);
  });

  it('counts the lease of a run from the moment in which it asked for it', async () => {
    let answer: ((run: ClaimedRun) => void) | null = null;
    const claims = {
      claim: () => new Promise<ClaimedRun>((resolve) => (answer = resolve)),
      queued: () => Promise.resolve(answer === null ? [{ id: 'slow', first: true }] : []),
    } as unknown as RunClaims;
    const { signal } = new AbortController();
    const add = jest.fn<RunLeases['add']>(() => ({ signal, stopping: signal }));
    const held = { size: 0, add, clear: () => Promise.resolve(), remove: () => undefined } as unknown as RunLeases;
    const driver = { drive: () => Promise.resolve() } as unknown as RunDriver;
    const executor = executorOf(claims, held, driver);
    executor.onApplicationBootstrap();
    const claimed = await until('the claim to be asked for', () => answer);
    const asked = performance.now();
    await until('a moment to pass', () => performance.now() > asked);
    claimed({
      runId: 'slow',
      taskId: 'task',
      workspaceId: 'workspace',
      epoch: 1,
      model: 'model',
      folderAt: null,
      traceparent: null,
    });
    await until('the run to be held', () => add.mock.calls.length > 0);
    expect(add.mock.lastCall?.[1]).toBeLessThanOrEqual(asked);
  });
});
