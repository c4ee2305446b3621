import { TakenList } from './listing.js';

const tool = (name: string, inputSchema: object = { type: 'object' }) => ({ name, inputSchema });
const listed = (schema: object, kind: 'program' | 'url' = 'program') => {
  const list = new TakenList({ kind, tools: ['*'] });
  list.add([tool('odd', schema), tool('sound')]);
  return { names: list.tools.map(({ name }) => name), leftOut: list.leftOut.words };
};
const nested = (depth: number, around: (inner: object) => object) => {
  let made: object = {};
  for (let at = 0; at < depth; at++) made = around(made);
  return made;
};
const references = (count: number) => Array.from({ length: count }, () => ({ $ref: '#/$defs/A' }));

describe('A schema that is made to hold a worker up (reference §28)', () => {
  it.each([
    ['lists of references that multiply', { anyOf: references(8_000), $defs: { A: { anyOf: references(8_000) } } }],
    ['values that multiply', { properties: Object.fromEntries(references(500).map((one, n) => [`p${n}`, one])), $defs: { A: { enum: Array(9_000).fill(1) } } }], // prettier-ignore
    ['long references', { properties: { a: { anyOf: references(5_000) } }, $defs: { A: { $ref: `#${'/x'.repeat(60_000)}` } } }], // prettier-ignore
    ['a megabyte of definitions', { $defs: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`d${n}`, { type: 'string', description: 'Some words.' }])) }], // prettier-ignore
    ['sixteen megabytes', { description: 'x'.repeat(16 * 1024 ** 2) }],
  ])('is left out alone, at once: %s', (_, schema) => {
    const began = performance.now();
    const { names, leftOut } = listed(schema, 'url');
    expect(names).toEqual(['sound']);
    expect(leftOut).toMatch(/^odd: its schema/);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it.each([
    ['objects', { properties: nested(3_000, (properties) => ({ properties: { properties } })) }],
    ['lists', { anyOf: nested(5_000, (inner) => [inner]) }],
    ['a value', { properties: { a: { default: nested(20_000, (inner) => [inner]) } } }],
    ['references', { $defs: { A: nested(60, (a) => ({ items: { properties: { a } } })) }, properties: { a: { $ref: '#/$defs/A' } } }], // prettier-ignore
  ])('is left out alone when it is nested too deeply: %s', (_, schema) => {
    for (const kind of ['program', 'url'] as const) {
      expect(listed(schema, kind)).toEqual({ names: ['sound'], leftOut: 'odd: its schema is nested too deeply' });
    }
  });

  it('is not one that is large before its references are in place, and small then', () => {
    const used = { type: 'string', description: 'x'.repeat(5_000) };
    const unused = { type: 'string', description: 'x'.repeat(50_000) };
    expect(listed({ properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: used, B: unused } }).leftOut).toBeNull();
  });
});
