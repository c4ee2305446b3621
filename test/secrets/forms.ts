// How a program writes a value down: by these forms hosts echo it, and the oracle finds it. They are made here anew, and not by what masks them.

export interface Form {
  name: string;
  /** Those bytes of it that depend on the value alone. */
  of: (value: string) => Buffer;
  /** What a host says that has it between other things. */
  said: (value: string) => Buffer;
}

const text = (name: string, of: (value: string) => string): Form => ({
  name,
  of: (value) => Buffer.from(of(value)),
  said: (value) => Buffer.from(`<it was ${of(value)}>`),
});
const each = (value: string, of: (code: string) => string) => Buffer.from(value).toString('hex').replace(/../g, of);
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** In Base64 behind so many bytes: of the first and the last group only the characters that have none of a neighbour's bits. */
function inBase64(before: number, url: boolean): Form {
  const coding = url ? 'base64url' : 'base64';
  const whole = (value: string) => Buffer.from('me:'.slice(0, before) + value + '\n').toString(coding);
  return {
    name: `Base64${url ? ' for addresses' : ''}, behind ${before}`,
    of: (value) => {
      const from = Math.ceil((before * 8) / 6);
      return Buffer.from(whole(value).slice(from, Math.floor(((before + value.length) * 8) / 6)));
    },
    said: (value) => Buffer.from(whole(value)),
  };
}

const FIRST: Form[] = [
  text('as it is', (value) => value),
  text('in capitals', (value) => value.toUpperCase()),
  text('in small letters', (value) => value.toLowerCase()),
  text('JSON', (value) => JSON.stringify(value).slice(1, -1)),
  text('HTML', (value) => value.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')),
  text('address', encodeURIComponent),
  text('address, small codes', (value) => encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())),
  text('form', (value) => new URLSearchParams([['', value]]).toString().slice(1)),
  text('all codes', (value) => each(value, (code) => `%${code}`)),
  text('all codes, capitals', (value) => each(value, (code) => `%${code.toUpperCase()}`)),
  text('hexadecimal', (value) => each(value, (code) => code)),
  text('hexadecimal, capitals', (value) => each(value, (code) => code.toUpperCase())),
];
const wide = (value: string) => Buffer.from(value, 'utf16le');

/** Those that are masked (reference §24), 22 of them. */
export const FORMS: Form[] = [
  ...FIRST,
  ...[0, 1, 2].map((before) => inBase64(before, false)),
  ...[0, 1, 2].map((before) => inBase64(before, true)),
  text('Base64 in an address', (value) => encodeURIComponent(Buffer.from(value).toString('base64').replace(/=+$/, ''))),
  { name: 'Base64 in lines', of: inBase64(0, false).of, said: (value) => lines(Buffer.from(`${'-'.repeat(54)}${value}\n`).toString('base64')) }, // prettier-ignore
  { name: 'UTF-16, little end first', of: wide, said: wide },
  { name: 'UTF-16, big end first', of: (value) => wide(value).swap16(), said: (value) => wide(value).swap16() },
];

function lines(base64: string): Buffer {
  return Buffer.from(base64.replace(/.{76}/g, '$&\n'));
}

/** What no mask can know: an order or a code of the host's own. What it gives away is measured. */
export const TRANSFORMS: Form[] = [
  text('reversed', (value) => [...value].reverse().join('')),
  text('each letter by thirteen', (value) => value.replace(/[a-z]/gi, (c) => String.fromCharCode(c.charCodeAt(0) + (c.toLowerCase() < 'n' ? 13 : -13)))), // prettier-ignore
  text('Base64 of Base64', (value) => Buffer.from(Buffer.from(value).toString('base64')).toString('base64')),
  text('a space behind each letter', (value) => [...value].join(' ')),
  text('hexadecimal with colons', (value) => each(value, (code) => `${code}:`)),
  text('JSON, each letter a code', (value) => each(value, (code) => `\\u00${code}`)),
  text('the first ten', (value) => value.slice(0, 10)),
  text('pieces of seven', (value) => value.replace(/.{7}/g, '$& ')),
  text('in decimals', (value) => [...Buffer.from(value)].join(',')),
];
