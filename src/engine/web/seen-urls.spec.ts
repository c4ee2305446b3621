import { assistant, call, user } from '../../../test/harness/agent.js';
import type { ConversationMessage, ToolResult } from '../models/conversation.js';
import { pageUrl } from './page-url.js';
import { isSeen } from './seen-urls.js';

const URL_ = 'https://mill.example/a?b=1';
const seen = (conversation: ConversationMessage[], url = URL_) => isSeen(pageUrl(url), conversation);
const found = (name: string, result: ToolResult) => [assistant('', call('1', name, {}, result))];
const output = (text: string) => ({ status: 'success' as const, output: { url: 'https://x.example/', text } });

describe('An address that somebody has named (reference §27)', () => {
  it.each([
    ['alone', URL_],
    ['in a sentence', `See ${URL_}.`],
    ['in brackets', `(see ${URL_})`],
    ['as Markdown', `[the page](${URL_}), or not`],
    ['as Markdown of itself', `[https://x.example](${URL_} "title")`],
    ['in JSON', `{"url":"${URL_}","n":1}`],
    ['in JSON that escapes slashes', `{"url":"https:\\/\\/mill.example\\/a?b=1"}`],
    ['in HTML', `<a href='https://mill.example/a?b=1&amp;c=2'>`, 'https://mill.example/a?b=1&c=2'],
    ['with http', 'http://mill.example/a?b=1#part'],
    ['in capitals', 'HTTPS://MILL.example/a?b=1'],
    ['with brackets in it', 'https://mill.example/Wheel_(water)', 'https://mill.example/Wheel_(water)'],
    ['of a host alone', 'https://mill.example', 'https://mill.example/'],
    ['in other letters', 'https://mill.example/ä', 'https://mill.example/%C3%A4'],
  ])('%s counts, in a message and in a page', (_how, text, url = URL_) => {
    expect([seen([user(text)], url), seen(found('web_fetch', output(text)), url)]).toEqual([true, true]);
  });

  it('counts without https:// in what a person writes, and not in what a page says', () => {
    expect(seen([user('Look at mill.example/a?b=1, please.')])).toBe(true);
    expect(seen(found('web_fetch', output('mill.example/a?b=1')))).toBe(false);
  });

  it('counts in an answer of a person, in comments of a review and in notes of the owner', () => {
    const answered = { content: `Take ${URL_}`, options: [{ id: URL_ }], files: [] };
    expect(seen(found('ask', { status: 'success', output: answered }))).toBe(true);
    const review = { type: 'custom' as const, kind: 'review', data: { path: 'a', text: `As ${URL_} says` } };
    expect(seen([user('x', { parts: [review] })])).toBe(true);
    const notes = `<surroundings>\n<owner_notes file="/project/AGENTS.md">\nSee ${URL_}\n</owner_notes>\n</surroundings>`;
    expect(seen([user('x', { parts: [{ type: 'surroundings', text: notes }] })])).toBe(true);
    const folder = {
      status: 'success' as const,
      output: 'x',
      forModel: { notes: [{ file: 'a/AGENTS.md', text: URL_ }] },
    };
    expect(seen(found('read', folder))).toBe(true);
  });

  it('counts in a page and in an answer also where an agent program has asked for them, by its own name of the tool', () => {
    const answered = { status: 'success' as const, output: { content: `Take ${URL_}`, options: null, files: [] } };
    expect(seen(found('mcp__millwright__web_fetch', output(URL_)))).toBe(true);
    expect(seen(found('millwright_ask', answered))).toBe(true);
  });

  it.each<[string, ConversationMessage[]]>([
    [
      'what an agent program says of such a call',
      found('mcp__millwright__web_fetch', { status: 'success', output: URL_ }),
    ],
    [
      'what a server of that name answers',
      found('mcp__millwright__web_fetch', { status: 'success', output: { text: URL_ } }),
    ],
    [
      'what a command has printed',
      found('bash', { status: 'success', output: { exitCode: 0, stdout: URL_, stderr: '' } }),
    ],
    ['what stands in a file', found('read', { status: 'success', output: URL_ })],
    ['what the agent has said', [assistant(URL_)]],
    ['what the agent has asked for', [assistant('', call('1', 'web_fetch', { url: URL_ }))]],
    [
      'an error, which names what was asked for',
      found('web_fetch', { status: 'error', error: `${URL_} answered 404.` }),
    ],
    [
      'what a person chose among what the agent gave',
      found('ask', { status: 'success', output: { content: null, options: [{ id: URL_ }], files: [] } }),
    ],
    [
      'what the service says of files and of the output of checks',
      [user(`Checks failed: ${URL_}`, { byService: true })],
    ],
    [
      'names of files in the surroundings',
      [user('x', { parts: [{ type: 'surroundings', text: `<surroundings>\n${URL_}\n</surroundings>` }] })],
    ],
    [
      'the name of an attachment',
      [user('x', { parts: [{ type: 'file', fileId: '1', name: URL_, mediaType: 'text/plain', path: 'a' }] })],
    ],
    ['the beginning of another address', [user(`${URL_}23`)]],
    ['another address of the host', [user('https://mill.example/')]],
  ])('%s does not count', (_what, conversation) => expect(seen(conversation)).toBe(false));

  it('is found in a long text in a moment', () => {
    const long = ['https://'.repeat(100_000), 'a.'.repeat(200_000), `${')'.repeat(300_000)}`, 'a-'.repeat(200_000)];
    const began = performance.now();
    for (const text of long) expect(seen([user(text)])).toBe(false);
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
