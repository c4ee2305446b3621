import type { Writable } from 'node:stream';
import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { Env, readEnv } from '../../platform/config/env.js';
import { Heartbeat } from '../../engine/sandbox/heartbeat.js';
import type { Notices } from '../../platform/notices/notices.js';
import { type ClaimedRun, FencedError, HandedBackError } from './claimed-run.js';
import { RunLeases } from './run-leases.js';
import type { RunClaims } from './run-claims.js';

const RUN: ClaimedRun = {
  runId: 'run',
  taskId: 'task',
  workspaceId: 'workspace',
  epoch: 1,
  model: 'model',
  folderAt: null,
  traceparent: null,
};
const LEASE_SECONDS = 12;
/** Two thirds of the lease, and the moment before. */
const FENCE_MS = 8_000;
const BEFORE_MS = FENCE_MS - 1;

type Renewed = Awaited<ReturnType<RunClaims['renew']>>;
const kept = (renewed = true): Renewed => new Map([[RUN.runId, { epoch: RUN.epoch, renewed, paused: false }]]);

describe('With a lease of 12 s a run (reference §5)', () => {
  let renew: jest.Mock<RunClaims['renew']>;
  let warn: jest.SpiedFunction<Logger['warn']>;
  let held: RunLeases;
  let heartbeat: Heartbeat;
  let reconnected: () => void;

  beforeEach(() => {
    // `performance` too: the leases of a process are counted by it.
    jest.useFakeTimers();
    warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    renew = jest.fn<RunClaims['renew']>();
    const notices = {
      on: (_topic: string, _heard: unknown, missed?: () => void) => void (reconnected = missed ?? reconnected),
    };
    const { variables } = readEnv({ LEASE_SECONDS: String(LEASE_SECONDS) });
    const env = new Env(variables, {}, new Map());
    heartbeat = new Heartbeat(LEASE_SECONDS);
    held = new RunLeases({ renew } as unknown as RunClaims, notices as unknown as Notices, heartbeat, env);
    held.onModuleInit();
  });
  afterEach(async () => {
    held.remove(RUN);
    await held.stopAll(new Error('The test is over.'), 'now');
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

  it.each<[string, () => Promise<Renewed>]>([
    ['fail', () => Promise.reject(new Error('Connection refused.'))],
    ['hang for 4 s, their limit,', () => later(4_000, kept()).then(() => Promise.reject(new Error('Read timeout.')))],
    ['take 3.5 s', () => later(3_500, kept())],
  ])('has its sandboxes for as long as it is not stopped itself, though renewals %s for a time', async (_, answer) => {
    for (let begins = 0; begins < 3_000; begins += 250) {
      const out = { from: performance.now() + 3_000 + begins, until: performance.now() + 8_000 + begins };
      const isOut = () => performance.now() >= out.from && performance.now() < out.until;
      renew.mockImplementation(() => (isOut() ? answer() : Promise.resolve(kept())));
      const signal = claimed();
      await pass(begins);
      let ends = performance.now() + heartbeat.firstSilenceSeconds * 1000;
      let silent = false;
      // Heard too late, or stopped too late.
      const hears = () => (silent ||= performance.now() > ends);
      const write = () => {
        if (!signal.aborted) hears();
        ends = performance.now() + heartbeat.silenceSeconds * 1000;
      };
      signal.addEventListener('abort', hears);
      const sandbox = { writable: true, writableLength: 0, write } as unknown as Writable;
      heartbeat.add(sandbox);
      await pass(30_000);
      if (!signal.aborted) hears();
      expect(silent).toBe(false);
      heartbeat.remove(sandbox);
      held.remove(RUN);
    }
  });

  it('whose lease is not confirmed leaves its sandboxes without a heartbeat that would carry them beyond it', async () => {
    renew.mockResolvedValueOnce(kept()).mockRejectedValue(new Error('Connection refused.'));
    let ends = Infinity;
    const write = () => (ends = performance.now() + heartbeat.silenceSeconds * 1000);
    const began = performance.now();
    claimed();
    await pass(500);
    const sandbox = { writable: true, writableLength: 0, write } as unknown as Writable;
    heartbeat.add(sandbox);
    await pass(30_000);
    // Confirmed at 3 s.
    expect(ends - began).toBeLessThan((3 + LEASE_SECONDS) * 1000);
    heartbeat.remove(sandbox);
  });

  it('that is being written when it is renewed is renewed a moment later', async () => {
    // Locked twice at 3 s.
    renew.mockResolvedValueOnce(kept(false)).mockResolvedValueOnce(kept(false)).mockResolvedValueOnce(kept());
    renew.mockRejectedValue(new Error('Connection refused.'));
    const signal = claimed();
    await pass(3_100 + BEFORE_MS);
    expect(signal.aborted).toBe(false);
    await pass(1);
    expect(signal.aborted).toBe(true);
  });

  it('that ends while it is locked is not renewed any more: it may have been let go', async () => {
    renew.mockResolvedValueOnce(kept(false)).mockResolvedValue(kept());
    claimed();
    await pass(3_010);
    held.remove(RUN);
    await pass(1_000);
    expect(renew.mock.calls.slice(1).flat(2)).toEqual([]);
  });

  it('of a process that is frozen while it is locked is stopped before anything is renewed', async () => {
    renew.mockResolvedValueOnce(kept(false)).mockResolvedValue(kept());
    const signal = claimed();
    await pass(3_010);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + FENCE_MS);
    await pass(50);
    expect(signal.reason).toBeInstanceOf(FencedError);
    expect(renew.mock.calls.slice(1).flat(2)).toEqual([]);
  });

  it('that ends while its renewal is on its way is not spoken of any more', async () => {
    renew.mockImplementationOnce(() => later(5, kept()));
    claimed();
    await pass(3_001);
    held.remove(RUN);
    await pass(FENCE_MS + LEASE_SECONDS * 1000);
    expect(warn).not.toHaveBeenCalled();
  });

  it('that is no longer ours is stopped by the heartbeat', async () => {
    renew.mockResolvedValue(new Map([[RUN.runId, { epoch: 2, renewed: true, paused: false }]]));
    const signal = claimed();
    await pass(3_000);
    expect(signal.reason).toBeInstanceOf(FencedError);
  });

  it('that is handed back is renewed until that is done, and not stopped a second time', async () => {
    renew.mockImplementation(() => Promise.resolve(kept()));
    const signal = claimed();
    const stopped = held.stopAll(new HandedBackError('This worker stops.'), 'now');
    await pass(FENCE_MS);
    expect(signal.reason).toBeInstanceOf(HandedBackError);
    expect(renew.mock.lastCall).toEqual([[RUN]]);
    held.remove(RUN);
    await stopped;
  });

  it('has 5 s for the step that is under way when the process is told to stop, and keeps its lease', async () => {
    renew.mockImplementation(() => Promise.resolve(kept()));
    const { signal, stopping } = held.add(RUN, performance.now());
    const stopped = held.stopAll(new HandedBackError('This worker stops.'), 'soon');
    expect(stopping.reason).toBeInstanceOf(HandedBackError);
    await pass(4_999);
    expect(signal.aborted).toBe(false);
    expect(renew).toHaveBeenCalledTimes(1);
    await pass(1);
    expect(signal.reason).toBeInstanceOf(HandedBackError);
    held.remove(RUN);
    await stopped;
  });

  it('whose step ends sooner is waited for no longer', async () => {
    held.add(RUN, performance.now());
    const stopped = held.stopAll(new HandedBackError('This worker stops.'), 'soon');
    await pass(10);
    held.remove(RUN);
    await stopped;
    expect(jest.getTimerCount()).toBe(0);
  });
});
