import { OutputRing } from './output-ring.js';

describe('What a command has said (reference §27.2)', () => {
  it('is read in pieces that make the whole, wherever a character was cut', () => {
    const ring = new OutputRing();
    const whole = 'naïve → 漢字 🙂\n'.repeat(3);
    let [said, from] = ['', 0];
    for (const byte of Buffer.from(whole)) {
      ring.add(Buffer.from([byte]));
      const { text, next } = ring.read(from, 1024, '', true);
      said += text;
      from = next;
    }
    expect([said, from]).toEqual([whole, Buffer.byteLength(whole)]);
  });

  it('is shown to its last byte when it has ended within a character', () => {
    const ring = new OutputRing();
    ring.add(Buffer.from('漢').subarray(0, 2));
    expect(ring.read(0, 1024, '', true)).toEqual({ text: '', next: 0 });
    expect(ring.read(0, 1024, '', false)).toEqual({ text: '\uFFFD', next: 2 });
  });

  it('says what is left out where it is left out, also where nothing of the beginning is asked for', () => {
    const ring = new OutputRing();
    ring.add(Buffer.alloc(600 * 1024, 'a'));
    ring.add(Buffer.alloc(2 * 1024 * 1024, 'b'));
    ring.add(Buffer.from('end'));
    const { text } = ring.read(550 * 1024, 1000, '', false);
    const left = ring.bytes - 550 * 1024 - 1000;
    expect(text).toBe(`\n[… ${left} bytes left out …]\n${'b'.repeat(997)}end`);
  });

  it('keeps at most 1.5 MiB however much comes: 512 KiB of the beginning, and at least as much of the end', () => {
    const ring = new OutputRing();
    for (let n = 0; n < 3000; n++) {
      ring.add(Buffer.from(`${String(n).padStart(1023)}\n`));
      expect(ring.held).toBeLessThanOrEqual(1.5 * 1024 ** 2);
    }
    const [begin, end] = ring.read(0, Infinity, '', false).text.split(/\n\[… \d+ bytes left out …\]\n/);
    expect([begin?.length, end?.length]).toEqual([512 * 1024, 512 * 1024]);
    expect(end).toMatch(/ 2999\n$/);
  });

  it('keeps the beginning and the end of much, and says how much lies between', () => {
    const ring = new OutputRing();
    ring.add(Buffer.from('begin\n'));
    for (let n = 0; n < 40; n++) ring.add(Buffer.alloc(65_536, 'x'));
    ring.add(Buffer.from('\nend 漢').subarray(0, -1));
    const { text, next } = ring.read(0, 1000, '; elsewhere', true);
    expect(text).toMatch(/^begin\nx+\n\[… \d+ bytes left out; elsewhere …\]\nx+\nend $/);
    const left = Number(/… (\d+) bytes/.exec(text)?.[1]);
    expect(next).toBe(ring.bytes - 2);
    expect(Buffer.byteLength(text.replace(/\n\[….*…\]\n/, '')) + left).toBe(next);
    expect(ring.end(6).subarray(0, 4).toString()).toBe('end ');
  });
});
