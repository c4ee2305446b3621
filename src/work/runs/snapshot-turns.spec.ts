import { setImmediate as turn } from 'node:timers/promises';
import type { ClaimedRun } from './claimed-run.js';
import { SnapshotTurns } from './snapshot-turns.js';

describe('Whose turn it is to read or write a folder', () => {
  const turns = new SnapshotTurns();
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
});
