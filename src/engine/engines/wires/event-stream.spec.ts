import { EventStream } from './event-stream.js';

function read(text: string, size: number): string[] {
  const stream = new EventStream();
  const bytes = Buffer.from(text);
  const events: string[] = [];
  for (let at = 0; at < bytes.length; at += size) events.push(...stream.add(bytes.subarray(at, at + size)));
  return [...events, ...stream.end()];
}

describe.each([1, 2, 3, 1_000])('bytes that come %i at a time', (size) => {
  it.each([
    ['LF', 'data: a\ndata: b\n\ndata: c\n\n'],
    ['CR and LF', 'data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n'],
    ['CR', 'data: a\rdata: b\r\rdata: c\r\r'],
    ['a byte order mark before them', '\uFEFFdata: a\ndata: b\n\ndata: c\n\n'],
    ['no space after the colon', 'data:a\ndata:b\n\ndata:c\n\n'],
    ['other fields and comments between', ': hi\nevent: x\ndata: a\nid: 7\ndata: b\nretry: 1\n\n:\n\ndata: c\n\n'],
    ['no blank line at the end', 'data: a\ndata: b\n\ndata: c'],
  ])('are the same events with lines that end in %s', (_, text) => {
    expect(read(text, size)).toEqual(['a\nb', 'c']);
  });

  it('keep characters of several bytes whole, and a byte order mark that stands elsewhere', () => {
    expect(read('data: größe 🙂\n\ndata: \uFEFFx\n\n', size)).toEqual(['größe 🙂', '\uFEFFx']);
  });

  it.each(['', '\n\n\n', ': nothing\n\n', 'event: x\n\n', 'nonsense'])('of %j are no event', (text) => {
    expect(read(text, size)).toEqual([]);
  });
});
