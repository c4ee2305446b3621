import { attachment, cleanName, freeName } from './file-name.js';

describe('file names', () => {
  test.each([
    ['a.txt', 'a.txt'],
    ['dir/sub/a.txt', 'a.txt'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['a\u0000\n\r\t\u007f\u0085b.txt', 'ab.txt'],
    ['Übersicht 報告 🎉.md', 'Übersicht 報告 🎉.md'],
    ['a\u202eb\u200b\u2028.txt', 'ab.txt'],
    ['half \ud83d pair', 'half \u{fffd} pair'],
    ['', 'file'],
    ['   ', 'file'],
    ['\u0007', 'file'],
    ['dir/', 'file'],
    ['.', 'file'],
    ['..', 'file'],
    ['.env', '.env'],
    [undefined, 'file'],
  ])('%j becomes %j', (given, expected) => {
    expect(cleanName(given)).toBe(expected);
  });

  test('a long name is cut at a character, at 255 bytes, and keeps its extension', () => {
    const name = cleanName(`${'🎉'.repeat(100)}.tar`);
    expect(name).toBe(`${'🎉'.repeat(62)}.tar`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(Buffer.byteLength(cleanName('x'.repeat(300)))).toBe(255);
    expect(Buffer.byteLength(cleanName(`a.${'x'.repeat(300)}`))).toBe(255);
    expect(cleanName('x'.repeat(255))).toBe('x'.repeat(255));
  });

  test('a taken name gets a number before the extension', () => {
    expect(freeName('a.txt', new Set())).toBe('a.txt');
    expect(freeName('a.txt', new Set(['a.txt']))).toBe('a (2).txt');
    expect(freeName('a.txt', new Set(['a.txt', 'a (2).txt']))).toBe('a (3).txt');
    expect(freeName('.env', new Set(['.env']))).toBe('.env (2)');
    expect(freeName('Makefile', new Set(['Makefile']))).toBe('Makefile (2)');
    const long = `${'x'.repeat(251)}.txt`;
    expect(freeName(long, new Set([long]))).toBe(`${'x'.repeat(247)} (2).txt`);
  });

  test('no name can leave the quotes or the header', () => {
    const header = attachment('a"b\\c\r\nX-Evil: 1;é%41\'.txt');
    expect(header).toMatch(/^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[A-Za-z0-9%_.!~-]+$/);
    expect(decodeURIComponent(header.split("UTF-8''")[1] ?? '')).toBe('a"b\\c\r\nX-Evil: 1;é%41\'.txt');
  });
});
