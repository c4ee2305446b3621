import { numbers, SEED } from '../../../../test/harness/numbers.js';
import { Finder, formsOf, Mask, masked } from './mask.mjs';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const ODD = `p"a&s/s wörd+<${'ab'.repeat(9)}>`;
const SAME = 'abcabcabcabcabcabcabcabc';
const secrets = [
  { name: 'TOKEN', value: VALUE },
  { name: 'ODD', value: ODD },
  { name: 'SAME', value: SAME },
];
const finder = new Finder(secrets, { pieces: true });

/** Through a stream, in these pieces. */
async function through(mask: Mask, chunks: Buffer[]): Promise<Buffer> {
  const parts: Buffer[] = [];
  mask.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise((resolve) => mask.once('end', resolve));
  for (const chunk of chunks) mask.write(chunk);
  mask.end();
  await ended;
  return Buffer.concat(parts);
}
const split = (data: Buffer, random: () => number, most: number): Buffer[] => {
  const chunks = [];
  for (let at = 0; at < data.length;) {
    const next = Math.min(data.length, at + 1 + Math.floor(random() * most));
    chunks.push(data.subarray(at, next));
    at = next;
  }
  return chunks;
};
/** The longest run of bytes of a value's form that stands in the data. */
const longestRun = (data: Buffer, form: Buffer) => {
  let longest = 0;
  for (let at = 0; at < form.length; at++)
    while (at + longest < form.length && data.includes(form.subarray(at, at + longest + 1))) longest++;
  return longest;
};

describe('What hosts answer is masked', () => {
  it('in each form that a text may have of a value', () => {
    const text = (data: string | Buffer) => masked(finder, Buffer.from(data)).toString();
    for (const { name, value } of secrets)
      for (const form of formsOf(value)) expect(text(Buffer.concat([Buffer.from('<'), form, Buffer.from('>')]))).toBe(`<[secret ${name}]>`); // prettier-ignore
    expect(text(`a ${VALUE} b ${JSON.stringify(ODD)} c`)).toBe('a [secret TOKEN] b "[secret ODD]" c');
    for (const before of ['', 'u', 'us', 'user:', 'x-access-token:'])
      expect(Buffer.from(text(Buffer.from(`${before}${VALUE}\n`).toString('base64')), 'utf8').toString()).toMatch(/\[secret TOKEN\]/); // prettier-ignore
    expect(text('nothing of it: ghp_16C7 wörd')).toBe('nothing of it: ghp_16C7 wörd');
  });

  it('to the end of a Base64 that ends with it, padding and all, as that of a user and a password', async () => {
    const whole = new Finder(secrets, { pieces: false });
    for (const { name, value } of secrets)
      for (const before of ['', 'u', 'us', 'x-access-token:'])
        for (const code of ['base64', 'base64url'] as const)
          for (const escaped of [(text: string) => text, encodeURIComponent]) {
            const echo = Buffer.from(`"${escaped(Buffer.from(`${before}${value}`).toString(code))}"`);
            const all = [
              masked(finder, echo),
              masked(whole, echo),
              await through(
                new Mask(finder),
                split(echo, () => 0, 1),
              ),
            ];
            for (const shown of all)
              expect([before, code, shown.toString().replace(/^"[\w+/%]*/, '')]).toEqual([
                before,
                code,
                `[secret ${name}]"`,
              ]);
            expect(await through(new Mask(finder, { keepsLength: true }), [echo])).toHaveLength(echo.length);
          }
  });

  it('in pieces of 22 bytes too, and in pieces of none where only whole values are looked for', () => {
    const piece = VALUE.slice(3, 25);
    expect(masked(finder, Buffer.from(`(${piece})`)).toString()).toBe('([secret TOKEN])');
    const whole = new Finder(secrets, { pieces: false });
    expect(masked(whole, Buffer.from(`(${piece})`)).toString()).toBe(`(${piece})`);
    expect(masked(whole, Buffer.from(`(${VALUE})`)).toString()).toBe('([secret TOKEN])');
  });

  it('however a stream is cut, with and without another length', async () => {
    const random = numbers(SEED);
    const below = (n: number) => Math.floor(random() * n);
    const filler = () => Buffer.from(Array.from({ length: below(40) }, () => 'abcgh_p16C7e "&'.charCodeAt(below(15))));
    for (let round = 0; round < 300; round++) {
      const planted = Array.from({ length: 1 + below(3) }, () => {
        const { value } = secrets[below(secrets.length)] ?? { value: '' };
        const forms = formsOf(value);
        return forms[below(forms.length)] ?? Buffer.alloc(0);
      });
      const data = Buffer.concat([...planted.flatMap((form) => [filler(), form]), filler()]);
      const chunks = split(data, random, round % 3 === 0 ? 1 : 50);
      const about = `seed ${SEED}, round ${round}`;
      const shown = await through(new Mask(finder), chunks);
      const same = await through(new Mask(finder, { keepsLength: true }), chunks);
      expect([about, same.length]).toEqual([about, data.length]);
      for (const form of planted)
        for (const bytes of [shown, same]) expect([about, bytes.includes(form)]).toEqual([about, false]);
      for (const form of planted) expect(longestRun(same, form)).toBeLessThan(22);
      expect([about, shown.includes('[secret ')]).toEqual([about, true]);
    }
  });

  it('and all else comes through as it is, at once where it cannot be the beginning of a value', async () => {
    const random = numbers(SEED + 1);
    const data = Buffer.from(Array.from({ length: 200_000 }, () => Math.floor(random() * 256)));
    expect((await through(new Mask(finder), split(data, random, 5_000))).equals(data)).toBe(true);
    const mask = new Mask(finder);
    const events: string[] = [];
    mask.on('data', (part: Buffer) => events.push(part.toString()));
    mask.write('data: one\n\n');
    expect(events).toEqual(['data: one\n\n']);
    // The first bytes of a value alone are no reason to wait: a message may end with them.
    mask.write('ghp');
    expect(events.splice(1)).toEqual(['ghp']);
    mask.write('data: ghp_16');
    expect(events.join('')).toBe('data: one\n\ndata: ');
    mask.end('!\n\n');
    await new Promise((resolve) => mask.once('end', resolve));
    expect(events.join('')).toBe('data: one\n\ndata: ghp_16!\n\n');
  });

  it('an endless value of equal bytes holds nothing back for ever', async () => {
    const equal = new Finder([{ name: 'EQUAL', value: 'a'.repeat(40) }], { pieces: true });
    const mask = new Mask(equal);
    let shown = 0;
    mask.on('data', (part: Buffer) => (shown += part.length));
    for (let n = 0; n < 1_000; n++) mask.write(Buffer.alloc(1_000, 'a'));
    expect(mask.readableLength + shown).toBeLessThan(100);
    mask.end('b');
    await new Promise((resolve) => mask.once('end', resolve));
    expect(shown).toBe('[secret EQUAL]b'.length);
  });
});
