import { setImmediate as turn } from 'node:timers/promises';
import type { DiskSpace } from '../../platform/disk/disk-space.js';
import type { SnapshotStore } from '../../resources/snapshots/snapshot-store.js';
import { until } from '../../../test/harness/until.js';
import type { ClaimedRun } from './claimed-run.js';
import { SnapshotTurns } from './snapshot-turns.js';

describe('Whose turn it is to read or write a folder', () => {
  const listeners = new Set<() => void>();
  const space = {
    state: 'enough',
    listen: (listener: () => void) => listeners.add(listener),
    unlisten: (listener: () => void) => listeners.delete(listener),
  };
  /** It answers nothing as long as it is not given up. */
  const of = (_workspaceId: string, signal: AbortSignal) => ({
    open: () =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  });
  const turns = new SnapshotTurns({ of } as unknown as SnapshotStore, space as unknown as DiskSpace);
  const ended = new AbortController();
  const begun: string[] = [];
  /** Work that goes on until the end of the test. */
  const begin = (workspaceId: string) => {
    const held = { run: { workspaceId } as ClaimedRun, signal: ended.signal };
    const work = () => {
      begun.push(workspaceId);
      return new Promise<void>(() => undefined);
    };
    turns.take(held, work).catch(() => undefined);
  };
  afterAll(() => ended.abort());

  it('three workspaces with folders that take long do not stop a fourth one', async () => {
    for (const workspaceId of ['a', 'a', 'a', 'b', 'b', 'c', 'c']) begin(workspaceId);
    begin('d');
    await turn();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('what is restored ends where the disk is nearly full', async () => {
    const restored = turns.restore('a', 'a manifest', {}, null, ended.signal);
    await until('it to listen', () => listeners.size > 0, { every: 1 });
    space.state = 'critical';
    for (const listener of listeners) listener();
    await expect(restored).rejects.toThrow('The disk is nearly full.');
    expect(listeners.size).toBe(0);
  });
});
