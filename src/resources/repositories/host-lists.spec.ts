import { HostError } from '../../engine/repositories/hosting/host-error.js';
import { HostLists } from './host-lists.js';

describe('HostLists', () => {
  let lists: HostLists;
  let asked: string[] = [];
  const read = (key: string, row = key) =>
    lists.read<string>('a workspace', key, false, (add) => {
      asked.push(key);
      add([row]);
      return Promise.resolve(true);
    });

  beforeEach(() => {
    lists = new HostLists();
    asked = [];
  });
  afterEach(() => lists.onModuleDestroy());

  it('keeps 500 lists: the one that nobody has wanted for longest goes', async () => {
    for (let n = 0; n < 500; n++) await read(`${n}`);
    await read('0');
    await read('one more');
    asked = [];
    for (const key of ['0', '2', 'one more']) await read(key);
    expect(asked).toEqual([]);
    await read('1');
    expect(asked).toEqual(['1']);
  });

  it('keeps 16 MiB of lists', async () => {
    const half = 'x'.repeat(8 * 1024 * 1024);
    await read('first', half);
    await read('second', half);
    asked = [];
    await read('second', half);
    expect(asked).toEqual([]);
    await read('first', half);
    expect(asked).toEqual(['first']);
  });

  it('answers with a list that is larger than all that is kept, and keeps none of it', async () => {
    const large = 'x'.repeat(17 * 1024 * 1024);
    expect((await read('large', large)).rows).toEqual([large]);
    asked = [];
    await read('large', large);
    expect(asked).toEqual(['large']);
  });

  it('asks again when what it knows is a minute old', async () => {
    await read('old');
    await read('old');
    expect(asked).toEqual(['old']);
    const { now } = Date;
    Date.now = () => now() + 60_000;
    await read('old').finally(() => (Date.now = now));
    expect(asked).toEqual(['old', 'old']);
  });

  it('keeps what it knew when a host fails behind its first page', async () => {
    const failAfter = (...rows: string[]) =>
      lists.read<string>('a workspace', 'long', true, (add) => {
        add(rows);
        return Promise.reject(new HostError('limited', 0));
      });
    await failAfter('a', 'b', 'c');
    expect(await failAfter('a')).toMatchObject({ rows: ['a', 'b', 'c'], whole: false });
    expect(await failAfter('a', 'b', 'd', 'e')).toMatchObject({ rows: ['a', 'b', 'd', 'e'] });
  });

  it('leaves a host alone for as long as it has said', async () => {
    const fail = () =>
      lists.read('a workspace', 'limited', true, () => {
        asked.push('limited');
        return Promise.reject(new HostError('limited', 600));
      });
    expect(await fail()).toMatchObject({ whole: false, failure: { code: 'limited' } });
    expect(await fail()).toMatchObject({ failure: { code: 'limited' } });
    expect(asked).toEqual(['limited']);
  });
});
