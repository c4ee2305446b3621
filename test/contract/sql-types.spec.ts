import { columns } from '../../src/platform/database/columns.js';
import { bool, field, int, jsonb, raw, sql, text, uuid } from '../../src/platform/database/sql.js';
import { Task } from '../../src/resources/tasks/task.entity.js';

describe('SQL with named values', () => {
  it('numbers the values in the order of their first appearance, and one name is one value', () => {
    const find = sql`SELECT 1 WHERE a = ${uuid('id')} AND b = ${text('name')} AND c = ${uuid('id')}`.rows();
    const query = find({ name: 'n', id: 'i' });
    expect(query.text).toBe('SELECT 1 WHERE a = $1::uuid AND b = $2::text AND c = $1::uuid');
    expect(query.values).toEqual(['i', 'n']);
  });

  it('carries the values of a fragment into the statement', () => {
    const auth = field<{ user: string; all: boolean }>();
    const seen = sql`(${auth('auth', 'all', 'boolean')} OR owner = ${auth('auth', 'user', 'uuid')})`;
    const query = sql`SELECT 1 WHERE ${seen} AND n = ${int('n')} AND ${seen}`.rows()({
      auth: { user: 'u', all: false },
      n: 3,
    });
    expect(query.text).toBe(
      'SELECT 1 WHERE ($1::boolean OR owner = $2::uuid) AND n = $3::int AND ($1::boolean OR owner = $2::uuid)',
    );
    expect(query.values).toEqual([false, 'u', 3]);
  });

  it('refuses one name with two types', () => {
    expect(() => sql`SELECT ${int('a')}, ${text('a')}`.rows()).toThrow("The value 'a' has two types.");
  });

  it('writes JSON as text, and null as NULL', () => {
    const put = sql`INSERT INTO t VALUES (${jsonb<{ a: number } | null>()('value')})`.rows();
    expect(put({ value: { a: 1 } }).values).toEqual(['{"a":1}']);
    expect(put({ value: null }).values).toEqual([null]);
  });

  it('gives statements of one text one name, and others another', () => {
    const make = () => sql`SELECT ${bool('yes')}`.rows();
    expect(make()({ yes: true }).name).toBe(make()({ yes: false }).name);
    expect(sql`SELECT ${bool('no')} AS other`.rows()({ no: true }).name).not.toBe(make()({ yes: true }).name);
  });

  it('lists the columns of an entity under their properties', () => {
    const list = columns(Task, 't', ['id', 'createdById', 'inputTokens']);
    expect(list.parts).toEqual([
      't.id AS "id", t.created_by AS "createdById", t.input_tokens::float8 AS "inputTokens"',
    ]);
    expect(() => columns(Task, 't', ['nothing' as 'id'])).toThrow('Task.nothing is not a column.');
  });

  it('is refused by the compiler with a wrong, missing or superfluous value, column or text', () => {
    const find = sql`SELECT ${raw('1')} WHERE a = ${uuid('id')} AND b = ${int('n')}`.rows();
    // @ts-expect-error a value is missing
    find({ id: 'i' });
    // @ts-expect-error a value has the wrong type
    find({ id: 'i', n: '3' });
    // @ts-expect-error a value is superfluous
    find({ id: 'i', n: 3, more: 1 });
    // @ts-expect-error plain text is not SQL
    expect(() => sql`SELECT ${'1'}`.rows()).toThrow();
    // @ts-expect-error there is no such column
    expect(() => columns(Task, 't', ['nothing'])).toThrow();
    const { row } = columns(Task, 't', ['id']);
    // @ts-expect-error the column is not selected
    void row?.title;
  });
});
