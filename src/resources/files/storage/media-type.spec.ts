import { declared, servedType, sniff, typeByName } from './media-type.js';

describe('media types', () => {
  test.each([
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'), 'image/png'],
    ['a PDF', Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n'), 'application/pdf'],
    ['XML', Buffer.from('<?xml version="1.0"?><a/>'), 'application/xml'],
    ['a bitmap', Buffer.from('424d46000000000000003600000028000000', 'hex'), 'image/bmp'],
  ])('%s is known by its first bytes', async (_what, bytes, expected) => {
    expect(await sniff(bytes)).toBe(expected);
  });

  test.each([
    ['nothing', ''],
    ['prose', 'hello'],
    ['prose that begins like a bitmap', 'BM25 ranks documents by the words of the query, each weighted by its rarity.'],
    ['prose that begins like a program', 'MZ is how the letters of the format begin, and this is a sentence about it.'],
    ['a sample that ends within a character', 'BM25 is not a bitmap, and here a character is cut: é'],
  ])('%s has no signature', async (_what, text) => {
    const bytes = Buffer.from(text);
    expect(await sniff(text.endsWith('é') ? bytes.subarray(0, -1) : bytes)).toBeNull();
  });

  test.each([
    ['text/markdown', 'text/markdown'],
    ['Text/Plain; charset=utf-8', 'text/plain'],
    ['application/vnd.api+json', 'application/vnd.api+json'],
    ['nonsense', null],
    ['text/', null],
    ['text/plain\r\nX-Evil: 1', null],
    ['*/*', null],
    ['', null],
    [undefined, null],
  ])('the declared type %j counts as %j', (given, expected) => {
    expect(declared(given)).toBe(expected);
  });

  test.each([
    ['report.md', 'text/markdown'],
    ['CHANGES.PATCH', 'text/x-diff'],
    ['a.constructor', null],
    ['Makefile', null],
    [undefined, null],
  ])('the name %j says %j', (name, expected) => {
    expect(typeByName(name)).toBe(expected);
  });

  test.each([
    ...['text/html', 'text/x-html', 'application/xhtml+xml', 'application/hta', 'application/x-hta', 'message/rfc822'],
    ...[
      'image/svg+xml',
      'image/svg',
      'image/x-svg+xml',
      'image/svg-xml',
      'text/xml',
      'application/xml',
      'application/atom+xml',
    ],
    ...[
      'text/vbscript',
      'text/x-vbscript',
      'text/javascript',
      'application/x-javascript',
      'text/jscript',
      'text/ecmascript',
    ],
    ...[
      'text/cache-manifest',
      'text/event-stream',
      'multipart/related',
      'multipart/x-mixed-replace',
      'application/mathml+xml',
    ],
    ...[
      'application/x-shockwave-flash',
      'application/java-archive',
      'application/x-ms-application',
      'application/wasm',
    ],
    ...['application/x-thing', 'text/x-thing', 'x-world/x-vrml', 'model/vnd.usdz+zip', 'nonsense', ''],
  ])('%s is never served as such', (type) => {
    expect(servedType(type)).toBe('application/octet-stream');
  });

  test.each([
    ...['text/plain', 'text/csv', 'text/markdown', 'text/x-diff', 'text/css', 'text/calendar'],
    ...[
      'image/png',
      'image/jpeg',
      'image/vnd.adobe.photoshop',
      'image/x-icon',
      'audio/mpeg',
      'video/mp4',
      'font/woff2',
    ],
    ...['application/json', 'application/vnd.api+json', 'application/yaml', 'application/pdf', 'application/rtf'],
    ...['application/zip', 'application/gzip', 'application/x-tar', 'application/epub+zip', 'application/octet-stream'],
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.oasis.opendocument.spreadsheet',
    'application/msword',
  ])('%s is served as such', (type) => {
    expect(servedType(type)).toBe(type);
  });
});
