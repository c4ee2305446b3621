import { user } from '../../../test/harness/agent.js';
import { webUse } from './web-use.js';

const BOOK = new URL('https://book.example/rules');

describe('What a turn reads of the web (reference §27)', () => {
  it('has seen what the instructions of its agent name, beside what the conversation does', () => {
    const isSeen = (instructions: string, said = 'Hello') =>
      webUse({ web: { fetched: 0 }, instructions })?.([user(said)]).isSeen(BOOK);
    expect([isSeen(''), isSeen('Read book.example/rules first.'), isSeen('', BOOK.href)]).toEqual([false, true, true]);
  });

  it('is counted over all of its runs', () => {
    const use = webUse({ web: { fetched: 2 } });
    expect([use?.([]).begin(), use?.([]).begin()]).toEqual([3, 4]);
  });
});
