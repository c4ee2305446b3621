// Bodies of uploads: forms as they should be, and as they should not.
import fc from 'fast-check';
import { skillZip } from '../harness/skills.js';
import type { Operation } from './operations.js';

export interface Form {
  /** As sent; an odd one is still a name. */
  filename: string;
  type: string | null;
  /** Latin 1: one character is one byte. */
  content: string;
  /** Repeats the content, so that large ones stay short to print. */
  times: number;
}

/** More than the service under test takes: `MAX_UPLOAD_BYTES` of the world. */
export const MAX_UPLOAD = 64 * 1024;

/** What names of files are refused for (reference §7); a defect below has one. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;
const NAMES = ['a.txt', '../../etc/passwd', 'C:\\dir\\x.html', '.', '..', 'é😀.png', 'a\tb\u0001c', 'x'.repeat(400)];

const form: fc.Arbitrary<Form> = fc.record({
  filename: fc.oneof(
    fc.constantFrom(...NAMES),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .map((name) => name.replace(/["\\\r\n]/g, '_').replace(HIDDEN, '_')),
  ),
  type: fc.constantFrom('text/plain', 'text/html', 'image/svg+xml', 'application/json; charset=x', 'nonsense', null),
  content: fc.oneof(
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(text).toString('latin1')),
    fc.constantFrom(
      '',
      '%PDF-1.7\n',
      '\x89PNG\r\n\x1a\n',
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      '\r\n--',
      '--b',
    ),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
  times: fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(0, 2, 100) }),
});

/** Few names: some are known already, and get a next version. */
const skill: fc.Arbitrary<Form> = fc.tuple(fc.nat(50), fc.string({ maxLength: 20 })).map(([name, more]) => ({
  filename: 'skill.zip',
  type: 'application/zip',
  content: skillZip(`skill-${name}`, undefined, { name: 'more.txt', content: more }).toString('latin1'),
  times: 1,
}));

/** What an operation takes. */
export const formOf = ({ template }: Operation): fc.Arbitrary<Form> =>
  template === '/v1/skills' ? fc.oneof({ weight: 5, arbitrary: skill }, { weight: 1, arbitrary: form }) : form;

export interface Written {
  type: string;
  /** Latin 1. */
  body: string;
}

const BOUNDARY = 'boundary-of-the-fuzz';

/** One part named `file`. */
export function written(given: Form): Written {
  return wrapped(part(given));
}

function wrapped(parts: string, boundary = BOUNDARY): Written {
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${parts}--${boundary}--\r\n` };
}

function part(
  { filename, type, content, times }: Form,
  head = '',
  name = 'name="file"; ',
  boundary = BOUNDARY,
): string {
  const declared = type === null ? '' : `Content-Type: ${type}\r\n`;
  const disposition = `Content-Disposition: form-data; ${name}filename="${bytes(filename)}"\r\n`;
  return `--${boundary}\r\n${disposition}${declared}${head}\r\n${content.repeat(times)}\r\n`;
}

function bytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}

const whole = (given: Form) => written(given).body;
const cut = (text: string, share: number) => text.slice(0, Math.floor(text.length * share));

/** What may be wrong with a form. Some of these are still right: then 201 is. */
export const DEFECTS: Record<string, (given: Form) => Partial<Written>> = {
  'another boundary': (given) => ({ body: whole(given).replaceAll(BOUNDARY, 'other') }),
  'no boundary': () => ({ type: 'multipart/form-data' }),
  'an empty boundary': () => ({ type: 'multipart/form-data; boundary=' }),
  'a long boundary': (given) => wrapped(part(given, '', undefined, 'b'.repeat(300)), 'b'.repeat(300)),
  'not a form': () => ({ type: 'text/plain' }),
  'no end': (given) => ({ body: part(given) }),
  'half an end': (given) => ({ body: `${part(given)}--${BOUNDARY}` }),
  'cut early': (given) => ({ body: cut(whole(given), 0.2) }),
  'cut late': (given) => ({ body: cut(whole(given), 0.8) }),
  empty: () => ({ body: '' }),
  'no parts': () => ({ body: `--${BOUNDARY}--\r\n` }),
  'two files': (given) => wrapped(part(given) + part(given)),
  'a field first': (given) => wrapped(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n${part(given)}`),
  'a field last': (given) => wrapped(`${part(given)}--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\ny\r\n`),
  'another name': (given) => wrapped(part(given, '', 'name="files"; ')),
  'a name with a hidden character': (given) => wrapped(part({ ...given, filename: 'invoice\u202efdp.exe' })),
  'an empty file name': (given) => wrapped(part({ ...given, filename: '' })),
  'no name': (given) => wrapped(part(given, '', '')),
  'a huge name': (given) => wrapped(part(given, '', `name="${'n'.repeat(20_000)}"; `)),
  'a huge header': (given) => wrapped(part(given, `X-Long: ${'x'.repeat(80_000)}\r\n`)),
  'many headers': (given) => wrapped(part(given, 'X-Many: 1\r\n'.repeat(3000))),
  'no disposition': (given) => wrapped(`--${BOUNDARY}\r\n\r\n${given.content}\r\n`),
  'no headers': (given) => wrapped(`--${BOUNDARY}\r\n${given.content}\r\n`),
  'an extended name': (given) => wrapped(part(given, '', `name="file"; filename*=UTF-8''%e2%82%ac%00; `)),
  'a broken extended name': (given) => wrapped(part(given, '', `name="file"; filename*=UTF-8''%zz%ff; `)),
  'a name of broken UTF-8': (given) => wrapped(part(given, '', 'name="file"; filename="\xff\xfe\x80"; ')),
  'a NUL in the headers': (given) => wrapped(part(given, 'X-Nul: \0\r\n')),
  'a transfer encoding': (given) => wrapped(part(given, 'Content-Transfer-Encoding: base64\r\n')),
  'bare line feeds': (given) => ({ body: whole(given).replaceAll('\r\n', '\n') }),
  'a preamble': (given) => ({ body: `Before.\r\n${whole(given)}` }),
  'an epilogue': (given) => ({ body: `${whole(given)}\r\nAfter.` }),
  nested: (given) => wrapped(part({ ...given, type: 'multipart/mixed; boundary=inner', content: '--inner\r\n\r\nx\r\n--inner--' })),
  'too large': (given) => wrapped(part({ ...given, content: 'x', times: MAX_UPLOAD + 1 })),
  'much too large': (given) => wrapped(part({ ...given, content: 'x'.repeat(1000), times: 1200 })),
  'as large as may be': (given) => wrapped(part({ ...given, content: 'x', times: MAX_UPLOAD })),
}; // prettier-ignore
