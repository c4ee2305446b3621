import fc from 'fast-check';
import { MAX_DEPTH, MAX_VALUES, walkJson } from './json-walk.mjs';

const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/** A document as nodes, so that a key can stand twice in an object, and every text be written in several ways. */
type Node = { list: Node[] } | { pairs: [Text, Node][] } | { text: Text } | { literal: string };
interface Text {
  value: string;
  /** Which characters are written as escapes. */
  escaped: boolean[];
}

const unit = fc.oneof(
  fc.constantFrom('a', 'b', '"', '\\', '/', '\n', '\0', '\ud83d', '\ude00', 'é', ':', ',', '{', '[', '}'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const text: fc.Arbitrary<Text> = fc.record({
  value: fc.oneof(
    fc.array(unit, { maxLength: 3 }).map((all) => all.join('')),
    fc.constantFrom(...FORBIDDEN, 'a', 'key'),
  ),
  escaped: fc.array(fc.boolean(), { maxLength: 12 }),
});
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    text.map((one) => ({ text: one })),
    fc.constantFrom('0', '-1.5e3', 'true', 'false', 'null').map((literal) => ({ literal })),
    fc.array(tie('node'), { maxLength: 4 }).map((list) => ({ list })),
    fc.array(fc.tuple(text, tie('node')), { maxLength: 4 }).map((pairs) => ({ pairs })),
  ),
}));
const space = fc.constantFrom('', ' ', '\n\t');

function write(one: Node, gap: string): string {
  if ('literal' in one) return one.literal;
  if ('text' in one) return writeText(one.text);
  if ('list' in one) return `[${gap}${one.list.map((item) => write(item, gap)).join(`${gap},`)}${gap}]`;
  const pairs = one.pairs.map(([key, value]) => `${writeText(key)}${gap}:${gap}${write(value, gap)}`);
  return `{${gap}${pairs.join(`,${gap}`)}${gap}}`;
}

/** What a text without escapes cannot hold is written as an escape: half of a pair would not come through UTF-8. */
function writeText({ value, escaped }: Text): string {
  const must = (unit: string) => /["\\\p{Cc}\p{Surrogate}]/u.test(unit);
  const units = Array.from(value, (unit, at) => (must(unit) || escaped[at] === true ? unit.split('') : [unit]));
  return `"${units.map((each, at) => each.map((one) => (must(each.join('')) || escaped[at] === true ? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}` : one)).join('')).join('')}"`; // prettier-ignore
}

/** The rules, told of the nodes. */
function allowed(one: Node, depth = 1): boolean {
  const sound = ({ value }: Text) => value.isWellFormed() && !value.includes('\0');
  if ('literal' in one) return true;
  if ('text' in one) return sound(one.text);
  if (depth > MAX_DEPTH) return false;
  if ('list' in one) return one.list.every((item) => allowed(item, depth + 1));
  const keys = one.pairs.map(([key]) => key.value);
  if (new Set(keys).size < keys.length || keys.some((key) => FORBIDDEN.includes(key))) return false;
  return one.pairs.every(([key, value]) => sound(key) && allowed(value, depth + 1));
}

const parses = (json: string) => {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
};

describe('the walk over a body before it is parsed', () => {
  it('accepts a document exactly when it keeps the rules, however it is written', () => {
    fc.assert(
      fc.property(node, space, (document, gap) => {
        const json = write(document, gap);
        expect(parses(json)).toBe(true);
        expect(walkJson(json) === null).toBe(allowed(document));
      }),
      { numRuns: 3_000 },
    );
  });

  it('never throws and always ends, whatever the text is', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '\\u', '\\"', '"a"', '1', 'x', ' ', '\0', '\u2028'); // prettier-ignore
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((all) => all.join('')),
        (json) => {
          const fault = walkJson(json);
          // A text of these pieces that parses is small and has no forbidden key; only a key given twice can be wrong.
          if (parses(json)) expect(fault ?? 'twice').toMatch(/twice/);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['{"a":1,"a":1}', '"a"'],
    ['{"a":1,"\\u0061":1}', '"a"'],
    ['{"x":[{"":{"b":[],"c":1,"b":2}}]}', '"b"'],
    ['{"\\"":1,"\\u0022":2}', '"\\""'],
    [`{"${'k'.repeat(300)}":1,"${'k'.repeat(300)}":2}`, `"${'k'.repeat(100)}…"`],
  ])('names a key that is given twice in one object: %#', (json, key) => {
    expect(walkJson(json)).toBe(`The body has the key ${key} twice in one object.`);
  });

  it.each(['{"a":{"a":1},"b":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a","b":"a"}', '{"a":["a","a"],"A":1}'])(
    'takes one key for one in other objects, and values for none: %s',
    (json) => expect(walkJson(json)).toBeNull(),
  );

  it(`counts ${MAX_VALUES} keys and values, and not one more`, () => {
    const list = (items: number) => `{"a": [${Array(items).fill('"x" ').join(',')}]}`;
    const object = (pairs: number) => `{${Array.from({ length: pairs }, (_, n) => `"${n}":-1`).join(',')}}`;
    const told = 'The body has more than 10,000 keys and values.';
    expect([walkJson(list(MAX_VALUES - 3)), walkJson(list(MAX_VALUES - 2))]).toEqual([null, told]);
    expect([walkJson(object(MAX_VALUES / 2 - 1)), walkJson(object(MAX_VALUES / 2))]).toEqual([null, told]);
    expect(walkJson(`[${'{},'.repeat(MAX_VALUES)}`)).toBe(told);
  });
});
