import { KeyedSemaphore } from './keyed-semaphore.js';

/** Until all that can go on has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('A semaphore with keys', () => {
  let turns: KeyedSemaphore;
  /** In the order in which they began. */
  let begun: string[];
  let ends: Map<string, () => void>;

  beforeEach(() => {
    turns = new KeyedSemaphore(4);
    begun = [];
    ends = new Map();
  });
  const take = (workspaceId: string, name: string) =>
    turns.acquire(workspaceId).then((end) => {
      begun.push(name);
      ends.set(name, end);
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };

  it('as many of a key are taken at once as it says, and the one that waits longest is next', async () => {
    for (const name of ['1', '2', '3', '4', '5', '6', '7']) void take('a', name);
    await settled();
    expect(begun).toEqual(['1', '2', '3', '4']);
    await end('3');
    expect(begun.slice(4)).toEqual(['5']);
    await end('1');
    await end('5');
    expect(begun.slice(4)).toEqual(['5', '6', '7']);
  });

  it('a key waits for none of another', async () => {
    for (const name of ['1', '2', '3', '4', '5']) void take('a', name);
    void take('b', 'other');
    await settled();
    expect(begun).toEqual(['1', '2', '3', '4', 'other']);
  });

  it('who comes while others wait does not come before them', async () => {
    for (const name of ['1', '2', '3', '4', '5']) void take('a', name);
    await settled();
    ends.get('1')?.();
    void take('a', 'late');
    await settled();
    expect(begun.slice(4)).toEqual(['5']);
  });

  it('of those that had to wait as many go on in one round of the event loop as it says', async () => {
    turns = new KeyedSemaphore(4, 2);
    for (const name of ['1', '2', '3', '4', '5', '6', '7', '8']) void take('a', name);
    await settled();
    for (const name of ['1', '2', '3', '4']) ends.get(name)?.();
    await settled();
    expect(begun.slice(4)).toEqual(['5', '6']);
    await settled();
    expect(begun.slice(4)).toEqual(['5', '6', '7', '8']);
  });

  it('when all have ended there is room for four again', async () => {
    for (const name of ['1', '2', '3', '4', '5']) void take('a', name);
    await settled();
    for (const name of ['1', '2', '3', '4', '5']) await end(name);
    for (const name of ['a', 'b', 'c', 'd', 'e']) void take('a', name);
    await settled();
    expect(begun.slice(5)).toEqual(['a', 'b', 'c', 'd']);
  });
});
