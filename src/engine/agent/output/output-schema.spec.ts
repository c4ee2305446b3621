import { OUTPUT_BYTES, outputOf, type OutputSchema, schemaFault } from './output-schema.js';

const fault = (schema: object) => schemaFault(schema as OutputSchema, 'a workspace');
const read = (schema: object, text: string) => outputOf(schema as OutputSchema, text, 'a workspace');

const TOO_LONG = /longer than 100 ms/;

/** Of each step two more. */
const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [`d${n}`, { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }]), // prettier-ignore
);

describe('A schema for the answers of a task (reference §15)', () => {
  it.each<[string, object]>([
    ['an empty one', {}],
    [
      'what libraries write',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'https://example.test/a' },
    ],
    ['keywords and formats that nobody knows', { type: 'string', format: 'colour', example: 'red', nullable: true }],
    ['a tree', { type: 'object', properties: { left: { $ref: '#' }, right: { $ref: '#' } } }],
    ['names of JavaScript', { properties: { toString: { type: 'string' } }, required: ['toString'] }],
    ['one of almost 16 KiB', wide(30)],
    ['one of a hundred levels', Array.from({ length: 100 }).reduce<object>((items) => ({ items }), {})],
  ])('is taken: %s', async (_what, schema) => {
    expect(await fault(schema)).toBeNull();
  });

  it('cannot have answers checked later, when another question is asked', async () => {
    const schema = { $async: true, type: 'object', required: ['x'] };
    const both = [read(schema, '{"n": 1}'), read({ type: 'object' }, '{"n": 1}')];
    expect(await Promise.all(both)).toEqual([{ fault: expect.stringContaining("'x'") }, { output: expect.anything() }]);
    expect(await fault({ properties: { a: schema } })).toMatch(/async/);
  });

  it.each<[string, object, RegExp]>([
    ['an unknown type', { type: 'text' }, /is no JSON Schema: \/type must be/],
    ['a pattern that is none', { pattern: '(' }, /cannot be compiled: .*Unterminated group/],
    ['a reference to nothing', { $ref: '#/$defs/a' }, /cannot be compiled: can't resolve reference/],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, /2020-12/],
    ['a reference to itself', { $ref: '#' }, /refers to itself/],
    ['a circle of references', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, /refers to itself/], // prettier-ignore
    ['a pattern that tries everything', { type: 'string', pattern: '^(a+)+$' }, TOO_LONG],
    ['such a pattern for names', { properties: { a: { patternProperties: { '^(\\w+\\s?)*$': {} } } } }, TOO_LONG], // prettier-ignore
    ['what doubles at each step', { $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'null' } } }, TOO_LONG], // prettier-ignore
    ['the same below a property', { properties: { a: { items: { $ref: '#/$defs/d0' } } }, $defs: { ...doubling, d40: {} } }, TOO_LONG], // prettier-ignore
  ])('is refused: %s', async (_what, schema, why) => {
    expect(await fault(schema)).toMatch(why);
    // The next one is served by a new thread.
    expect(await fault({ type: 'object' })).toBeNull();
  });
});

describe('The JSON of an answer', () => {
  const SCHEMA = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  };

  it.each([
    ['alone', '{"n": 1}'],
    ['with space around it', '\n  {"n": 1}\n'],
    ['in a block', '```json\n{"n": 1}\n```'],
    ['in a block without a word', 'Here it is:\n\n```\n{"n": 1}\n```\nDone.'],
    ['in the last block', '```bash\necho "{}"\n```\n\n```json\n{"n": 2}\n```\n\n````JSON\n{"n": 1}\n````'],
    ['in a block that is left open', 'So:\n```json\n{"n": 1}'],
    ['after words', 'I have counted.\n\n{"n": 1}'],
  ])('is found %s', async (_where, text) => {
    expect(await read(SCHEMA, text)).toEqual({ output: '{"n":1}' });
  });

  it('may be any JSON value, as the schema says', async () => {
    expect(await read({}, '12.50')).toEqual({ output: '12.5' });
    expect(await read({ type: 'null' }, 'null')).toEqual({ output: 'null' });
    expect(await read({ type: 'array' }, '[0.1, 1e21, -3]')).toEqual({ output: '[0.1,1e+21,-3]' });
  });

  it('holds what the database can hold', async () => {
    expect(await read({}, '["a\\u0000b", "\\ud800"]')).toEqual({ output: '["a\ufffdb","\ufffd"]' });
  });

  it.each<[string, string, RegExp]>([
    ['words', 'I could not do it.', /no JSON/],
    ['a number that no program reads', '[1e999]', /too large/],
    ['too many levels', `${'['.repeat(101)}${']'.repeat(101)}`, /deeper than 100/],
    ['too many bytes', `"${'é'.repeat(OUTPUT_BYTES / 2)}"`, /at most 262144/],
  ])('does not fit when it is or holds %s', async (_what, text, why) => {
    expect(await read({}, text)).toEqual({ fault: expect.stringMatching(why) as unknown });
  });

  it('that does not fit is told by places and reasons, in at most 2,000 characters', async () => {
    expect(await read(SCHEMA, '{"n": 1.5, "m": 2}')).toEqual({
      fault: 'The value must NOT have additional properties: "m"\n/n must be integer',
    });
    const { fault: told = '' } = (await read({ items: { type: 'string' } }, JSON.stringify(Array(500).fill(1)))) as {
      fault?: string;
    };
    expect(told).toMatch(/^\/0 must be string\n\/1 must be string\n[^]*\nand \d+ more$/);
    expect(told.length).toBeLessThanOrEqual(2_000);
  });

  it('that a pattern does not come to an end with does not fit', async () => {
    const slow = { type: 'string', pattern: '^(x+x+)+y$' };
    expect(await read(slow, `"${'x'.repeat(60)}"`)).toEqual({ fault: expect.stringMatching(/100 ms/) as unknown });
    expect(await read(slow, '"xxy"')).toEqual({ output: '"xxy"' });
  });
});

function wide(count: number): object {
  const field = {
    type: 'object',
    description: 'What is said of a field to the model that fills it. '.repeat(5),
    properties: { name: { type: 'string', pattern: '^[a-z]+$' }, n: { type: 'integer', minimum: 0 }, tags: { enum: ['a', 'b'] } }, // prettier-ignore
    required: ['name', 'n'],
    additionalProperties: false,
  };
  const properties = Object.fromEntries(Array.from({ length: count }, (_, n) => [`field_${n}`, field]));
  return { type: 'object', properties, required: Object.keys(properties), unevaluatedProperties: false };
}
