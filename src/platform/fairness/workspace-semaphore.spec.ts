import { WorkspaceSemaphore } from './workspace-semaphore.js';

const { signal } = new AbortController();

describe('A semaphore for workspaces', () => {
  it('gives one workspace its share, and another one the rest', async () => {
    const turns = new WorkspaceSemaphore({ atOnce: 3, ofWorkspace: 2 });
    const [first] = [await turns.acquire('a', signal), await turns.acquire('a', signal)];
    let third = false;
    const waiting = turns.acquire('a', signal).then(() => (third = true));
    const release = await turns.acquire('b', signal);
    expect(third).toBe(false);
    first();
    await waiting;
    release();
  });

  it('keeps nothing for one whose signal comes while it waits', async () => {
    const turns = new WorkspaceSemaphore({ atOnce: 1, ofWorkspace: 1 });
    const release = await turns.acquire('a', signal);
    const left = new AbortController();
    const waiting = turns.acquire('b', left.signal);
    left.abort(new Error('That was it.'));
    await expect(waiting).rejects.toThrow('That was it.');
    release();
    (await turns.acquire('b', signal))();
    (await turns.acquire('a', signal))();
  });
});
