import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { Env, readEnv } from '../config/env.js';
import type { PgChannel } from '../signals/pg-channel.js';
import { type ClaimedRun, FencedError, HandedBackError } from './claimed-run.js';
import { HeldRuns } from './held-runs.js';
import type { RunClaims } from './run-claims.js';

const RUN: ClaimedRun = { runId: 'run', taskId: 'task', workspaceId: 'workspace', epoch: 1 };
const LEASE_SECONDS = 12;
/** Two thirds of the lease, and the moment before. */
const FENCE_MS = 8_000;
const BEFORE_MS = FENCE_MS - 1;

type Renewed = Awaited<ReturnType<RunClaims['renew']>>;
const kept = (renewed = true): Renewed => new Map([[RUN.runId, { epoch: RUN.epoch, renewed }]]);

describe('With a lease of 12 s a run (reference §5)', () => {
  let renew: jest.Mock<RunClaims['renew']>;
  let held: HeldRuns;
  let reconnected: () => void;

  beforeEach(() => {
    // `performance` too: the leases of a process are counted by it.
    jest.useFakeTimers();
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    renew = jest.fn<RunClaims['renew']>();
    const channel = { listen: () => undefined, onReconnect: (listener: () => void) => (reconnected = listener) };
    const { variables } = readEnv({ LEASE_SECONDS: String(LEASE_SECONDS) });
    const env = new Env(variables, {}, new Map());
    held = new HeldRuns({ renew } as unknown as RunClaims, channel as unknown as PgChannel, env);
    held.onModuleInit();
  });
  afterEach(async () => {
    held.remove(RUN);
    await held.stopAll(new Error('The test is over.'));
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const claimed = () => held.add(RUN, performance.now()).signal;
  const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
  const later = (milliseconds: number, answer: Renewed) =>
    new Promise<Renewed>((resolve) => setTimeout(() => resolve(answer), milliseconds));

  describe('is stopped 8 s after the last confirmation, not before, when renewals', () => {
    it.each<[string, () => Promise<Renewed>]>([
      ['fail', () => Promise.reject(new Error('Connection refused.'))],
      ['hang', () => new Promise(() => undefined)],
      ['find the run locked', () => Promise.resolve(kept(false))],
    ])('%s', async (_, answer) => {
      // Two that are confirmed, at 3 and 6 s.
      renew.mockResolvedValueOnce(kept()).mockResolvedValueOnce(kept()).mockImplementation(answer);
      const signal = claimed();
      await pass(6_000 + BEFORE_MS);
      expect(signal.aborted).toBe(false);
      await pass(1);
      expect(signal.reason).toBeInstanceOf(FencedError);
    });
  });

  it('goes on for as long as its lease is confirmed', async () => {
    renew.mockImplementation(() => Promise.resolve(kept()));
    const signal = claimed();
    await pass(60_000);
    expect(signal.aborted).toBe(false);
    expect(renew).toHaveBeenCalledTimes(20);
  });

  it('that was claimed slowly counts from the beginning of its claim', async () => {
    renew.mockRejectedValue(new Error('Connection refused.'));
    const askedAt = performance.now();
    await pass(3_500);
    const { signal } = held.add(RUN, askedAt);
    await pass(BEFORE_MS - 3_500);
    expect(signal.aborted).toBe(false);
    await pass(1);
    expect(signal.reason).toBeInstanceOf(FencedError);
  });

  it('whose renewal answers late counts from when it was asked', async () => {
    // Asked at 3 s.
    renew.mockImplementationOnce(() => later(3_900, kept())).mockRejectedValue(new Error('Connection refused.'));
    const signal = claimed();
    await pass(3_000 + BEFORE_MS);
    expect(signal.aborted).toBe(false);
    await pass(1);
    expect(signal.reason).toBeInstanceOf(FencedError);
  });

  it('is renewed as soon as one that hung has failed', async () => {
    // Asked at 3 s, and at 7 s: the beat of 6 s found it on its way.
    renew
      .mockImplementationOnce(() => later(4_000, kept()).then(() => Promise.reject(new Error('Query read timeout.'))))
      .mockResolvedValueOnce(kept())
      .mockRejectedValue(new Error('Connection refused.'));
    const signal = claimed();
    await pass(7_000 + BEFORE_MS);
    expect(signal.aborted).toBe(false);
    await pass(1);
    expect(signal.aborted).toBe(true);
  });

  it('of a process that was frozen is stopped before anything is renewed', async () => {
    renew.mockImplementation(() => Promise.resolve(kept()));
    const signal = claimed();
    // Time goes by and no timer runs; on waking the heartbeat may come first.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + FENCE_MS);
    reconnected();
    expect(signal.reason).toBeInstanceOf(FencedError);
    await pass(0);
    expect(renew.mock.calls.flat(2)).toEqual([]);
  });

  it('that is no longer ours is stopped by the heartbeat', async () => {
    renew.mockResolvedValue(new Map([[RUN.runId, { epoch: 2, renewed: true }]]));
    const signal = claimed();
    await pass(3_000);
    expect(signal.reason).toBeInstanceOf(FencedError);
  });

  it('that is handed back is renewed until that is done, and not stopped a second time', async () => {
    renew.mockImplementation(() => Promise.resolve(kept()));
    const signal = claimed();
    const stopped = held.stopAll(new HandedBackError('This worker stops.'));
    await pass(FENCE_MS);
    expect(signal.reason).toBeInstanceOf(HandedBackError);
    expect(renew.mock.lastCall).toEqual([[RUN]]);
    held.remove(RUN);
    await stopped;
  });
});
