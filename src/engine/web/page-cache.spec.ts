import { type KnownPage, PageCache } from './page-cache.js';

const URL_ = new URL('https://mill.example/');
const page = (text: string): KnownPage => ({ url: URL_.href, status: 200, mediaType: 'text/plain', title: null, text, cut: false }); // prettier-ignore

describe('Pages that a task has read (reference §27)', () => {
  let now = 0;
  let cache: PageCache;
  beforeEach(() => {
    now = 0;
    cache = new PageCache(() => now);
  });

  it('are there for 15 minutes, for that task alone', () => {
    cache.put('one', URL_, page('x'));
    now = 15 * 60_000 - 1;
    expect([cache.get('one', URL_)?.text, cache.get('two', URL_)]).toEqual(['x', null]);
    now += 1;
    expect(cache.get('one', URL_)).toBeNull();
  });

  it('go when there are more than 32 million characters, the oldest first', () => {
    for (const task of ['one', 'two', 'three']) cache.put(task, URL_, page('x'.repeat(12_000_000)));
    expect(['one', 'two', 'three'].map((task) => cache.get(task, URL_) !== null)).toEqual([false, true, true]);
    cache.put('three', URL_, page('x'));
    cache.put('four', URL_, page('x'.repeat(12_000_000)));
    expect(['two', 'three', 'four'].map((task) => cache.get(task, URL_) !== null)).toEqual([true, true, true]);
  });
});
