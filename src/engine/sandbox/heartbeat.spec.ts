import type { Writable } from 'node:stream';
import { jest } from '@jest/globals';
import { Heartbeat } from './heartbeat.js';

const LEASE_MS = 12_000;
/** What ending it may take. */
const ENDING_MS = 400;

describe('With a lease of 12 s the heartbeat of the sandboxes (reference §15)', () => {
  let heartbeat: Heartbeat;
  let heard: number;
  /** When the sandbox will end if it hears nothing more. */
  let ends: number;
  const write = () => {
    heard = performance.now();
    ends = heard + heartbeat.silenceSeconds * 1000;
  };
  const listener = { writable: true, writableLength: 0, write } as unknown as Writable;

  beforeEach(() => {
    jest.useFakeTimers();
    heartbeat = new Heartbeat(LEASE_MS / 1000);
  });
  afterEach(() => {
    heartbeat.remove(listener);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('is sent every 3 s where there is no lease', () => {
    heartbeat = Heartbeat.withoutLease(LEASE_MS / 1000);
    const began = performance.now();
    expect(heartbeat.firstSilenceSeconds).toBe(8);
    heartbeat.add(listener);
    jest.advanceTimersByTime(30_000);
    expect(heard).toBe(began + 30_000);
    expect(heartbeat.firstSilenceSeconds).toBe(8);
  });

  it('is not sent, nor waited for, before a lease was confirmed', () => {
    const before = heard;
    heartbeat.add(listener);
    jest.advanceTimersByTime(30_000);
    expect(heard).toBe(before);
    expect(heartbeat.firstSilenceSeconds).toBeLessThan(0.01);
  });

  it('of one kind of work is none of another: runs whose leases nobody confirms any more take nothing from a build', () => {
    const ofRuns = new Heartbeat(LEASE_MS / 1000);
    ofRuns.confirmed(performance.now());
    jest.advanceTimersByTime(60_000);
    const began = performance.now();
    heartbeat.confirmed(began);
    heartbeat.add(listener);
    expect([ofRuns.firstSilenceSeconds < 0.01, heartbeat.firstSilenceSeconds]).toEqual([true, 8]);
    jest.advanceTimersByTime(3_000);
    expect(heard).toBe(began + 3_000);
  });

  it.each([0, 500, 1_000, 1_500, 2_000, 2_500, 6_000])(
    'ends so early that no sandbox outlives the last lease, nor ends before its run is stopped (started after %i ms)',
    (phase) => {
      const confirmedAt = performance.now();
      heartbeat.confirmed(confirmedAt);
      jest.advanceTimersByTime(phase);
      heartbeat.add(listener);
      ends = performance.now() + heartbeat.firstSilenceSeconds * 1000;
      jest.advanceTimersByTime(60_000);
      expect(ends - confirmedAt).toBeGreaterThanOrEqual((LEASE_MS * 2) / 3);
      expect(ends - confirmedAt).toBeLessThanOrEqual(LEASE_MS - ENDING_MS);
    },
  );

  it('is expected by a sandbox that starts without confirmation for no longer than the lease', () => {
    heartbeat.confirmed(performance.now());
    expect(heartbeat.firstSilenceSeconds).toBe(8);
    jest.advanceTimersByTime(3_500);
    expect(heartbeat.firstSilenceSeconds).toBe(8);
    jest.advanceTimersByTime(4_000);
    expect(heartbeat.firstSilenceSeconds).toBe((LEASE_MS - ENDING_MS - 7_500) / 1000);
    // A process that was frozen.
    jest.advanceTimersByTime(60_000);
    expect(heartbeat.firstSilenceSeconds).toBeGreaterThan(0);
    expect(heartbeat.firstSilenceSeconds).toBeLessThan(0.01);
    expect(heartbeat.silenceSeconds).toBe(8);
  });
});
