// What is done to a right body: to its values, and to the bytes in which it is written.
import fc from 'fast-check';

/** At one place of a body, counted through it in the order of its text. */
export type Change =
  | { kind: 'set'; value: unknown }
  | { kind: 'delete' }
  | { kind: 'add'; key: string; value: unknown }
  | { kind: 'stretch'; times: number };

const KEYS = ['x', '', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON', '0', '$where', 'content ', 'Content', 'k'.repeat(300), 'a\0b', '\ud800']; // prettier-ignore
/** Fields of bodies, for values that they do not take. */
const KNOWN = ['name', 'description', 'visibility', 'content', 'attachments', 'title', 'projectId', 'model', 'effort', 'budget', 'metadata', 'mode', 'interactionId', 'optionIds', 'approvals', 'whenBlocked', 'web', 'decision', 'reason', 'remember']; // prettier-ignore
const deep = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

const VALUES = [
  null, true, false, 0, -0, -1, 1.5, 1e21, 2 ** 53, -(2 ** 53), 1e308, '', ' ', '0', 'null', '\0', 'a\0', '\ud800', '\udfff', '\ud83d\ude00',
  '\u202e', '\ufeff', "'; --", '%s%n', '${x}', '../..', [], {}, [null], [[]], { length: 1 }, { toString: 1 }, { $ne: 1 }, { then: 1 },
  deep(31), deep(33), 'x'.repeat(201), '\u00a0'.repeat(10), Array<number>(1000).fill(0), '2020-01-01', '0190a000-0000-7000-8000-000000000001',
]; // prettier-ignore

export const CHANGES: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('set' as const), value: oddValue() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), key: oddKey(), value: oddValue() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stretch' as const), times: fc.constantFrom(2, 21, 101) }) },
);

function oddValue(): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...VALUES) },
    fc.jsonValue({ maxDepth: 3 }),
    fc.constant(null),
  );
}

function oddKey(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...KNOWN) },
    fc.constantFrom(...KEYS),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
}

/** The body with one change; what is not there to be changed stays. */
export function changed(body: unknown, at: number, change: Change): unknown {
  const places = count(body);
  let left = at % places;
  const visit = (value: unknown): unknown => {
    if (left-- === 0) return applied(value, change);
    if (Array.isArray(value)) return value.map(visit).filter((item) => item !== undefined);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item)]));
  };
  return visit(body);
}

function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + count(item), 1);
}

function applied(value: unknown, change: Change): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  switch (change.kind) {
    case 'set':
      return change.value;
    case 'delete':
      return undefined;
    case 'add':
      // Not by a spread: `__proto__` would set the prototype.
      return isObject ? Object.fromEntries([...Object.entries(value), [change.key, change.value]]) : [value, change.value];
    case 'stretch':
      if (typeof value === 'string') return value.repeat(Math.min(change.times, Math.ceil(250_000 / (value.length + 1))));
      if (Array.isArray(value)) return Array.from({ length: change.times }, () => value as unknown[]).flat();
      return typeof value === 'number' ? value * change.times : value;
  }
} // prettier-ignore

/** How a text is written as bytes. */
export type Spelling =
  | { kind: 'bom' | 'utf16' | 'utf16-bom' | 'latin1' | 'spaces' | 'twice' | 'duplicate' | 'comment' | 'single quotes' | 'trailing comma' | 'over a MiB' | 'just a MiB' | 'array' }
  | { kind: 'cut' | 'byte'; at: number; byte: number }
  | { kind: 'number'; text: string }; // prettier-ignore

const NUMBERS = ['1e400', '-0', '01', '1.', '.5', '0x10', 'NaN', 'Infinity', '9007199254740993', '123456789012345678901234567890', '1E+2', '-1e-400']; // prettier-ignore

export const spelling: fc.Arbitrary<Spelling> = fc.oneof(
  fc.record({ kind: fc.constantFrom('bom', 'utf16', 'utf16-bom', 'latin1', 'spaces', 'twice', 'duplicate', 'comment', 'single quotes', 'trailing comma', 'array') }),
  fc.record({ kind: fc.constantFrom('cut' as const, 'byte' as const), at: fc.nat(200), byte: fc.nat(255) }),
  fc.record({ kind: fc.constant('number' as const), text: fc.constantFrom(...NUMBERS) }),
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('over a MiB' as const, 'just a MiB' as const) }) },
); // prettier-ignore

const MIB = 1024 * 1024;

/** The text of a JSON body in another spelling. */
export function spelled(json: string, how: Spelling): Buffer {
  const utf8 = Buffer.from(json);
  switch (how.kind) {
    case 'bom':
      return Buffer.from(`\ufeff${json}`);
    case 'utf16':
      return Buffer.from(json, 'utf16le');
    case 'utf16-bom':
      return Buffer.from(`\ufeff${json}`, 'utf16le');
    case 'latin1':
      return Buffer.from(json.replace(/"$/, 'é"'), 'latin1');
    case 'spaces':
      return Buffer.from(` \t\r\n${json}\n `);
    case 'twice':
      return Buffer.from(json + json);
    case 'array':
      return Buffer.from(`[${json}]`);
    case 'duplicate':
      return Buffer.from(json.replace(/^\{("(?:[^"\\]|\\.)*":)/, '{$1null,$1'));
    case 'comment':
      return Buffer.from(json.replace('{', '{/* */'));
    case 'single quotes':
      return Buffer.from(json.replaceAll('"', "'"));
    case 'trailing comma':
      return Buffer.from(json.replace(/\}$/, ',}'));
    case 'over a MiB':
      return Buffer.concat([utf8, Buffer.alloc(MIB, ' ')]);
    case 'just a MiB':
      return Buffer.concat([utf8, Buffer.alloc(Math.max(0, MIB - utf8.length), ' ')]);
    case 'cut':
      return utf8.subarray(0, how.at % (utf8.length + 1));
    case 'byte':
      return withByte(utf8, how.at, how.byte);
    case 'number':
      return Buffer.from(json.replace(/\}$/, `,"maxSteps":${how.text}}`).replace('{,', '{'));
  }
}

function withByte(bytes: Buffer, at: number, byte: number): Buffer {
  const place = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, place), Buffer.of(byte), bytes.subarray(place + 1)]);
}

/** In place of any body, also where none is taken. */
export const BODY_TEXTS = ['{}', '', ' ', '{"x":1}', 'null', '[]', '"x"', '0', '{', '\0', 'x=1&y=2', '{}'.repeat(1000)];

/** For paths and queries: as it stands in the request, so without what HTTP itself forbids there. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', '0', '-1', '1', '50', '51', '100', '101', '1e1', '007', '%00', '%2F', '%2e%2e', '..', '.', '%', '%zz', '%e0%a4%a', '%C0%80', '%ED%A0%80', 'x'.repeat(3000), 'a'.repeat(64), 'null', 'undefined', '*', '%0d%0aX-Evil:1', '0190A000-0000-7000-8000-000000000001', '%20', '+', 'a;b', 'a=b', '[]', '%F0%9F%98%80', 'completed', 'asc', 'swagger-ui.css'),
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
); // prettier-ignore
