import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { makeNotes, NotesModule } from './notes.module.js';

interface NotesPage {
  notes: number[];
  nextCursor: string | null;
}

describe('Fields, queries and pages (reference §10, §11)', () => {
  let member: Member;

  const service = useService(() => bootApp({ imports: [NotesModule] }));
  beforeAll(async () => {
    await makeNotes(service.db);
    member = await makeMember(service);
  });

  it.each([
    ['unknown_field', 'colour', { text: 'a', colour: 'red' }],
    ['unknown_field', 'links[1].title', { text: 'a', links: [{ url: 'abc' }, { url: 'abc', title: 'x' }] }],
    ['unknown_field', 'style.size', { text: 'a', style: { weight: 'bold', size: 1 } }],
    ['unknown_field', 'toString', { text: 'a', toString: 1 }],
    ['unknown_field', 'hasOwnProperty', { text: 'a', hasOwnProperty: 1 }],
    ['unknown_field', 'links[0].hasOwnProperty', { text: 'a', links: [{ url: 'abc', hasOwnProperty: null }] }],
    ['unknown_field', 'links[0].toString', { text: 'a', links: [{ url: 'abc', toString: 'x' }] }],
    ['unknown_field', 'style.valueOf', { text: 'a', style: { weight: 'bold', valueOf: 1 } }],
    ['invalid_field', 'text', {}],
    ['invalid_field', 'text', { text: 1 }],
    ['invalid_field', 'text', { text: null }],
    ['invalid_field', 'text', { text: ['a'] }],
    ['invalid_field', 'text', { text: 'a'.repeat(201) }],
    ['invalid_field', 'links', { text: 'a', links: { url: 'abc' } }],
    ['invalid_field', 'links', { text: 'a', links: [{}, {}, {}, {}].map(() => ({ url: 'abc' })) }],
    ['invalid_field', 'links[0].url', { text: 'a', links: [{ url: 'ab' }] }],
    ['invalid_field', 'links[0]', { text: 'a', links: [1] }],
    ['invalid_field', 'links[0]', { text: 'a', links: [null] }],
    ['invalid_field', 'style', { text: 'a', style: [] }],
    ['invalid_field', 'style', { text: 'a', style: 'bold' }],
    ['invalid_field', 'style.weight', { text: 'a', style: {} }],
  ])('%s at %s', async (code, param, json) => {
    const { status, body } = await member.client.post<ErrorBody>('/v1/notes', json);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request', code, param });
    expect(body.error.message).toContain(param);
    expect(body.error.message).toMatch(/^[^\n]{10,200}\.$/);
  });
  it('with several faults of one field its type is named', async () => {
    const { body } = await member.client.post<ErrorBody>('/v1/notes', { text: 5 });
    expect(body.error.message).toBe('text must be a string.');
  });

  it.each([
    ['/v1/notes?colour=red', 'colour'],
    ['/v1/notes?limit=1&limit=2', 'limit'],
    ['/v1/notes?limit=1&limit=1', 'limit'],
    ['/v1/notes?limit=', 'limit'],
    ['/v1/notes?limit=0', 'limit'],
    ['/v1/notes?limit=101', 'limit'],
    ['/v1/notes?limit=-1', 'limit'],
    ['/v1/notes?limit=1.0', 'limit'],
    ['/v1/notes?limit=1e1', 'limit'],
    ['/v1/notes?limit=+5', 'limit'],
    ['/v1/notes?limit=%205', 'limit'],
    ['/v1/notes?limit[]=5', 'limit[]'],
    ['/v1/notes?contains=%00', 'contains'],
    ['/v1/notes?__proto__=1', '__proto__'],
    ['/v1/notes?constructor=1', 'constructor'],
    ['/v1/notes?prototype=1', 'prototype'],
  ])('%s is 400 invalid_query and names it', async (path, name) => {
    const { status, body } = await member.client.get<ErrorBody>(path);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_query' });
    expect(body.error.message).toContain(name);
  });
  it('a query on an operation that takes none is 400 too', async () => {
    for (const path of ['/v1/auth/context?x=1', '/v1/auth/context?limit=1', '/v1/notes/any?cursor=']) {
      expect((await member.client.get<ErrorBody>(path)).body.error.code).toBe('invalid_query');
    }
    expect((await member.client.get('/v1/auth/context?')).status).toBe(200);
  });

  it('pages follow each other and end', async () => {
    const seen: number[][] = [];
    let query = '?limit=2';
    for (;;) {
      const { body } = await member.client.get<NotesPage>(`/v1/notes${query}`);
      seen.push(body.notes);
      if (body.nextCursor === null) break;
      query = `?limit=2&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual([[1, 2], [3, 4], [5]]);
  });
  it('without a limit there are 50 to a page; a page of as many as there are is the last', async () => {
    const lister = await makeMember(service);
    for (let n = 0; n < 51; n++) await makeTask(service, lister);
    const sizes: [number, boolean][] = [];
    for (const query of ['', '?limit=50', '?limit=51', '?limit=100']) {
      const { body } = await lister.client.get<{ tasks: object[]; nextCursor: string | null }>(`/v1/tasks${query}`);
      sizes.push([body.tasks.length, body.nextCursor === null]);
    }
    expect(sizes).toEqual([
      [50, false],
      [50, false],
      [51, true],
      [51, true],
    ]);
  });
  it('a cursor is good for its list, its user and its filters alone', async () => {
    const first = await member.client.get<NotesPage>('/v1/notes?limit=2&contains=a');
    const cursor = first.body.nextCursor ?? '';
    const get = (client: Member['client'], query: string) => client.get<ErrorBody>(`/v1/notes?limit=3&${query}`);
    expect((await get(member.client, `contains=a&cursor=${cursor}`)).status).toBe(200);
    const colleague = await makeMember(service, { workspace: member.workspace });
    for (const [client, query] of [
      [colleague.client, `contains=a&cursor=${cursor}`],
      [member.client, `contains=b&cursor=${cursor}`],
      [member.client, `cursor=${cursor}`],
      [member.client, `contains=a&cursor=${cursor.slice(0, -1)}`],
      [member.client, `contains=a&cursor=${cursor}=`],
      [member.client, 'contains=a&cursor='],
      [member.client, 'contains=a&cursor=%F0%9F%98%80'],
    ] as const) {
      const { status, body } = await get(client, query);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({ code: 'invalid_cursor', param: 'cursor' });
    }
  });
});
