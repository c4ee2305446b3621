import { setTimeout as sleep } from 'node:timers/promises';
import { severally } from './severally.js';

describe('severally', () => {
  it('acts on each item once, so many at a time', async () => {
    const [done, atWork] = [[] as number[], { now: 0, most: 0 }];
    await severally([1, 2, 3, 4, 5], 2, async (item) => {
      atWork.most = Math.max(atWork.most, ++atWork.now);
      await sleep(1);
      atWork.now--;
      done.push(item);
    });
    expect([done.sort(), atWork]).toEqual([[1, 2, 3, 4, 5], { now: 0, most: 2 }]);
  });

  it('rejects with the first failure once what was under way has ended, begins nothing further, and closes the source', async () => {
    const [begun, ended] = [[] as number[], [] as number[]];
    let closed = false;
    async function* source() {
      try {
        for (let n = 1; ; n++) yield await Promise.resolve(n);
      } finally {
        closed = true;
      }
    }
    const acting = severally(source(), 2, async (item) => {
      begun.push(item);
      if (item === 2) throw new Error('The second failed.');
      await sleep(10);
      ended.push(item);
    });
    await expect(acting).rejects.toThrow('The second failed.');
    expect([begun, ended, closed]).toEqual([[1, 2], [1], true]);
  });
});
