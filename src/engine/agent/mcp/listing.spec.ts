import { createHash } from 'node:crypto';
import { LeftOut } from './left-out.js';
import { calledName, offeredTools, TakenList } from './listing.js';
import { matches } from './mcp-servers.js';
import { headersOf, paramHeaders } from './param-headers.js';
import { shownSchema } from './schemas.js';

const tool = (name: unknown, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const listed = (entries: unknown[], more: object = {}) => {
  const list = new TakenList({ kind: 'program', tools: ['*'], ...more });
  list.add(entries);
  const { tools, leftOut } = list;
  return { names: tools.map(({ name }) => name), leftOut: leftOut.words, tools };
};

describe('The list of a server (reference §28)', () => {
  it('is read leniently: what is odd is left out alone, and the log says so', () => {
    const { names, leftOut } = listed([
      ...[null, 7, tool(null), tool('a', { inputSchema: null }), { name: 'b' }],
      ...[tool('c', { description: null, annotations: { readOnlyHint: null } }), tool('d')],
    ]);
    expect(names).toEqual(['c', 'd']);
    expect(leftOut).toMatch(/^\(without a name\): it has no name; .*; a: its inputSchema is no object; b: .* object$/);
  });

  it('has no names that a question cannot show or a database cannot keep', () => {
    const odd = ['a\0b', 'a\nb', 'a\u001b[2J', 'a\u0085', 'a\u2028', 'a\u202eb', 'a\ud800', '\udc00'];
    const { names, leftOut } = listed([...odd, 'ü 名 😀'].map((name) => tool(name)));
    expect(names).toEqual(['ü 名 😀']);
    expect(leftOut).toMatch(/^a\ufffdb: its name has characters that none may have; .*; and 3 more$/);
  });

  it('is kept without what a database cannot keep', () => {
    const inputSchema = { properties: { 'a\0': { enum: ['\ud800', 'b'], description: 'c\0' } } };
    const { tools } = listed([tool('a', { inputSchema, description: 'd\0\udfff' })]);
    expect(tools[0]).toMatchObject({ description: 'd\ufffd\ufffd' });
    expect(tools[0]?.inputSchema['properties']).toEqual({
      'a\ufffd': { enum: ['\ufffd', 'b'], description: 'c\ufffd' },
    });
  });

  it('is taken as far as the globs of the operator say', () => {
    const entries = ['get_a', 'get_b', 'search', 'create'].map((name) => tool(name));
    expect(listed(entries, { tools: ['get_*', 'search'] }).names).toEqual(['get_a', 'get_b', 'search']);
    expect(matches(['a*b*c'], 'aXbYc')).toBe(true);
    expect(matches(['a*a'], 'a')).toBe(false);
    expect(matches(['*'.repeat(60)], 'a'.repeat(10_000))).toBe(true);
  });

  it('is bounded: 64 tools, descriptions of 2,000 characters, schemas of 16 KiB', () => {
    const { names, leftOut } = listed(Array.from({ length: 70 }, (_, n) => tool(`t${n}`)));
    expect(names).toHaveLength(64);
    expect(leftOut).toMatch(/^t64: a server has at most 64 tools; .*; and 1 more$/);
    expect(listed([tool('a', { description: 'x'.repeat(5_000) })]).tools[0]?.description).toHaveLength(2_000);
    const large = { type: 'object', properties: { a: { description: 'x'.repeat(17_000) } } };
    expect(listed([tool('a', { inputSchema: large })]).names).toEqual([]);
  });

  it('gives names that models may use: of two equal ones the later is left out', () => {
    expect(calledName('docs', 'a.b/c d')).toBe('mcp__docs__a_b_c_d');
    const long = 'x'.repeat(80);
    const sum = createHash('sha256').update(`mcp__docs__${long}`).digest('hex').slice(0, 6);
    expect(calledName('docs', long)).toBe(`mcp__docs__${'x'.repeat(46)}_${sum}`);
    expect(calledName('docs', long)).toHaveLength(64);
    const leftOut = new LeftOut();
    const { tools } = listed([tool('b.c'), tool('b c'), tool('a')]);
    const all = offeredTools([{ name: 'docs', tools }], leftOut);
    expect(all.map(({ calledAs }) => calledAs)).toEqual(['mcp__docs__a', 'mcp__docs__b_c']);
    expect(leftOut.words).toBe('mcp__docs__b_c: another one is called the same');
  });

  it('has 256 tools of a task at most', () => {
    const { tools } = listed(Array.from({ length: 64 }, (_, n) => tool(`t${n}`)));
    const servers = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, tools }));
    expect(offeredTools(servers, new LeftOut())).toHaveLength(256);
  });
});

describe('The schema of a tool (reference §28)', () => {
  it('has local references in place, and nothing that only tools of schemas read', () => {
    const given = {
      ...{ $schema: 's', $id: 'i', 'x-own': 1, anyOf: [{}], type: ['object', 'null'] },
      properties: { a: { $ref: '#/$defs/A', description: 'mine' }, 'x-b': { $ref: 'https://e.example/x' }, $id: {} },
      $defs: { A: { type: 'string', 'x-c': 1 } },
      required: ['a'],
    };
    expect(shownSchema(given, { left: 1e6 })).toEqual({
      type: 'object',
      properties: { a: { type: 'string', description: 'mine' }, 'x-b': {}, $id: {} },
      required: ['a'],
    });
    expect(shownSchema({}, { left: 1e6 })).toEqual({ type: 'object', properties: {} });
  });

  it('ends where references go round, after 8 of them', () => {
    const given = {
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { properties: { a: { $ref: '#/$defs/A' } } } },
    };
    expect(JSON.stringify(shownSchema(given, { left: 1e6 })).match(/properties/g)).toHaveLength(9);
    const wide = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, { $ref: '#' }]));
    expect(() => shownSchema({ properties: wide }, { left: 1e6 })).toThrow('its schema has more than 16 KiB');
  });
});

describe('Arguments as headers (reference §28)', () => {
  const schema = (property: object, more: object = {}) => ({ type: 'object', properties: { a: property }, ...more });
  it('are those that the schema marks rightly', () => {
    const declared = paramHeaders(schema({ type: 'string', 'x-mcp-header': 'Region' }));
    expect(declared).toEqual([{ path: ['a'], name: 'Region' }]);
    expect(headersOf(declared ?? [], { a: 'eu' })).toEqual({ 'Mcp-Param-Region': 'eu' });
    expect(headersOf(declared ?? [], { a: ' ü' })).toEqual({ 'Mcp-Param-Region': '=?base64?IMO8?=' });
    expect(headersOf(declared ?? [], { a: null })).toEqual({});
  });

  it.each([
    ['at the root', { type: 'object', 'x-mcp-header': 'A' }],
    ['of another type', schema({ type: 'number', 'x-mcp-header': 'A' })],
    ['of no name', schema({ type: 'string', 'x-mcp-header': 'A b' })],
    ['in a list', schema({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } })],
    [
      'twice',
      schema(
        { type: 'string', 'x-mcp-header': 'A' },
        { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } } },
      ),
    ],
  ])('are wrong %s, and the tool of a url is left out', (_, inputSchema) => {
    expect(paramHeaders(inputSchema)).toBeNull();
    expect(listed([tool('t', { inputSchema })], { kind: 'url' }).names).toEqual([]);
    expect(listed([tool('t', { inputSchema })]).names).toEqual(['t']);
  });
});
