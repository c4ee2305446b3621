import { decoded, isRead, kindOf } from './page-text.js';

const bytes = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding);

describe('What an answer is read as (reference §27)', () => {
  it.each<[string, Buffer, unknown]>([
    ['text/html', bytes('x'), 'html'],
    ['application/xhtml+xml', bytes('x'), 'html'],
    ['text/plain', bytes('<html>'), 'text'],
    ['application/json', bytes('{}'), 'text'],
    ['application/feed+json', bytes('{}'), 'text'],
    ['application/atom+xml', bytes('<feed/>'), 'text'],
    ['image/svg+xml', bytes('<svg/>'), 'text'],
    ['text/plain', bytes('%PDF-1.7'), 'text'],
    ['application/pdf', bytes('%PDF-1.7'), { file: 'application/pdf' }],
    ['image/png', bytes('\x89PNG\r\n\x1a\n', 'latin1'), { file: 'image/png' }],
    ['image/jpeg', bytes('\x89PNG\r\n\x1a\n', 'latin1'), { file: 'image/png' }],
    ['image/png', bytes('no picture'), null],
    ['application/octet-stream', bytes('%PDF-1.7'), { file: 'application/pdf' }],
    ['', bytes('  <!DOCTYPE html><p>x'), 'html'],
    ['', bytes('plain'), 'text'],
    ['', bytes('a\0b'), null],
  ])('%s', (type, body, kind) => expect(kindOf(type, body)).toEqual(kind));

  it('is nothing for films, archives and programs', () => {
    for (const type of ['video/mp4', 'application/zip', 'application/x-executable', 'font/woff2', 'image/tiff'])
      expect(isRead(type)).toBe(false);
  });

  it.each<[string, Buffer, string | null, 'html' | 'text', string]>([
    ['as UTF-8 without a word', bytes('ä'), null, 'text', 'ä'],
    ['as the host says', bytes('\xe4', 'latin1'), 'iso-8859-1', 'text', 'ä'],
    [
      'as the page says',
      bytes('<meta charset="windows-1252">\x80', 'latin1'),
      null,
      'html',
      '<meta charset="windows-1252">€',
    ],
    [
      'as the page says in the old way',
      bytes('<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">\x83\x65', 'latin1'),
      null,
      'html',
      '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">テ',
    ],
    [
      'by the host before the page',
      bytes('<meta charset="shift_jis">ä'),
      'utf-8',
      'html',
      '<meta charset="shift_jis">ä',
    ],
    ['by a mark at the beginning before both', Buffer.from([0xff, 0xfe, 0xe4, 0x00]), 'utf-8', 'text', 'ä'],
    ['as UTF-8 where nobody knows what is said', bytes('ä'), 'x-unknown', 'text', 'ä'],
  ])('its characters are read %s', (_how, body, charset, kind, text) => {
    expect(decoded(body, charset, kind)).toBe(text);
  });
});
