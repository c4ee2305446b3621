import { useService } from '../harness/app.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createProject, type ProjectBody, putIntoProject } from '../harness/projects.js';
import { makeTask } from '../harness/files.js';

describe('Projects (reference §3, §4, §11)', () => {
  let owner: Member;
  let ann: Member;

  const service = useService();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
  });

  const read = (client: Client, id: string) => client.get<{ project: ProjectBody }>(`/v1/projects/${id}`);
  const codeOf = (answer: Answer<unknown>) => (answer.body as ErrorBody).error.code;

  describe('creating', () => {
    it('a minimal request carries only a name: the project is private, and the caller owns it', async () => {
      const { status, body, headers } = await ann.client.post<{ project: ProjectBody }>('/v1/projects', {
        name: '  Mill  ',
      });
      expect(status).toBe(201);
      expect(body).toEqual({
        project: {
          id: expect.stringMatching(/^[0-9a-f-]{14}7/),
          name: 'Mill',
          description: null,
          visibility: 'private',
          tags: [],
          environment: null,
          checks: null,
          maxRepairs: null,
          owner: { id: ann.user.id, name: expect.any(String) },
          createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
          updatedAt: body.project.createdAt,
        },
      });
      expect(headers.get('location')).toBe(`/v1/projects/${body.project.id}`);
      expect((await read(ann.client, body.project.id)).body).toEqual(body);
    });

    it.each<[string, Record<string, unknown>, string, string]>([
      ['without a name', {}, 'invalid_field', 'name'],
      ['with a blank name', { name: ' \n ' }, 'invalid_field', 'name'],
      ['with a name of two lines', { name: 'a\nb' }, 'invalid_field', 'name'],
      ['with a control character in its name', { name: 'a\u0007b' }, 'invalid_field', 'name'],
      ['with another one', { name: 'a\u0085b' }, 'invalid_field', 'name'],
      ['with a name that runs backwards', { name: 'a\u202eb' }, 'invalid_field', 'name'],
      ['with a hidden character in its name', { name: 'a\u200bb' }, 'invalid_field', 'name'],
      ['with a line separator in its name', { name: 'a\u2028b' }, 'invalid_field', 'name'],
      ['with a joiner as name', { name: '\u200d' }, 'invalid_field', 'name'],
      ['with a name of 201 characters', { name: 'x'.repeat(201) }, 'invalid_field', 'name'],
      ['with a number as name', { name: 7 }, 'invalid_field', 'name'],
      ['with null as name', { name: null }, 'invalid_field', 'name'],
      ['with a long description', { name: 'x', description: 'x'.repeat(4001) }, 'invalid_field', 'description'],
      ['with another visibility', { name: 'x', visibility: 'public' }, 'invalid_field', 'visibility'],
      ['with null as visibility', { name: 'x', visibility: null }, 'invalid_field', 'visibility'],
      ['with a tag twice', { name: 'x', tags: ['a', 'a'] }, 'invalid_field', 'tags'],
      ['with an unknown field', { name: 'x', owner: 'me' }, 'unknown_field', 'owner'],
    ])('%s is 400', async (_what, json, code, param) => {
      const { status, body } = await ann.client.post<ErrorBody>('/v1/projects', json);
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    });

    it('takes names of 200 and descriptions of 4,000 characters, and a description of null', async () => {
      const long = { name: 'n'.repeat(200), description: 'd'.repeat(4000) };
      expect(await createProject(ann, long)).toMatchObject(long);
      expect(await createProject(ann, { name: 'x', description: null })).toMatchObject({ description: null });
    });

    it('may carry an Idempotency-Key: sent again it makes no second one, not even after its deletion', async () => {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const post = () => ann.client.request<{ project: ProjectBody }>('POST', '/v1/projects', { json: { name: 'Once' }, headers }); // prettier-ignore
      const first = await post();
      expect((await ann.client.delete(`/v1/projects/${first.body.project.id}`)).status).toBe(200);
      const second = await post();
      expect([second.status, second.text, second.headers.get('idempotent-replayed')]).toEqual([
        201,
        first.text,
        'true',
      ]);
      expect((await read(ann.client, first.body.project.id)).status).toBe(404);
      const bare = await ann.client.request('POST', '/v1/projects', { json: { name: 'No key' } });
      expect(bare.status).toBe(201);
    });
  });

  describe('changing', () => {
    it('PATCH changes what it is given, null clears the description, {} changes nothing', async () => {
      const made = await createProject(ann, { name: 'A', description: 'D' });
      const path = `/v1/projects/${made.id}`;
      expect((await ann.client.patch(path, {})).body).toEqual({ project: made });
      const changed = await ann.client.patch<{ project: ProjectBody }>(path, {
        name: ' B ',
        visibility: 'workspace',
        tags: ['t'],
      });
      expect(changed.status).toBe(200);
      const { updatedAt } = changed.body.project;
      expect(changed.body.project).toEqual({ ...made, name: 'B', visibility: 'workspace', tags: ['t'], updatedAt });
      expect(updatedAt > made.updatedAt).toBe(true);
      const cleared = await ann.client.patch<{ project: ProjectBody }>(path, { description: null });
      expect(cleared.body.project).toMatchObject({ name: 'B', description: null, visibility: 'workspace' });
      expect((await read(ann.client, made.id)).body).toEqual(cleared.body);
    });

    it.each([{ name: null }, { name: '' }, { visibility: null }, { visibility: 'x' }, { description: 1 }, { id: 'x' }])(
      '%j is 400',
      async (json) => {
        const { id } = await createProject(ann, { name: 'A' });
        expect((await ann.client.patch(`/v1/projects/${id}`, json)).status).toBe(400);
      },
    );
  });

  it('deleting again is 404; the answer of the first names the id', async () => {
    const { id } = await createProject(ann, { name: 'A' });
    const first = await ann.client.delete(`/v1/projects/${id}`);
    expect([first.status, first.body]).toEqual([200, { deleted: true, id }]);
    expect((await ann.client.delete(`/v1/projects/${id}`)).status).toBe(404);
    expect((await read(ann.client, id)).status).toBe(404);
  });

  describe('who may do what', () => {
    type Who = 'its owner' | 'a member' | 'a viewer' | 'an admin' | 'an owner' | 'a stranger';
    let people: Record<Who, Member>;

    beforeAll(async () => {
      const { workspace } = owner;
      people = {
        'its owner': ann,
        'a member': await makeMember(service, { workspace }),
        'a viewer': await makeMember(service, { workspace, role: 'viewer' }),
        'an admin': await makeMember(service, { workspace, role: 'admin' }),
        'an owner': owner,
        'a stranger': await makeMember(service, { role: 'owner' }),
      };
    });

    // Read, change, delete.
    it.each<[string, Who, string, string, string]>([
      ['private', 'its owner', 'ok', 'ok', 'ok'],
      ['private', 'a member', 'not_found', 'not_found', 'not_found'],
      ['private', 'a viewer', 'not_found', 'role_not_allowed', 'role_not_allowed'],
      ['private', 'an admin', 'ok', 'ok', 'ok'],
      ['private', 'an owner', 'ok', 'ok', 'ok'],
      ['private', 'a stranger', 'not_found', 'not_found', 'not_found'],
      ['workspace', 'its owner', 'ok', 'ok', 'ok'],
      ['workspace', 'a member', 'ok', 'not_owner', 'not_owner'],
      ['workspace', 'a viewer', 'ok', 'role_not_allowed', 'role_not_allowed'],
      ['workspace', 'an admin', 'ok', 'ok', 'ok'],
      ['workspace', 'an owner', 'ok', 'ok', 'ok'],
      ['workspace', 'a stranger', 'not_found', 'not_found', 'not_found'],
    ])('a %s project for %s: read %s, change %s, delete %s', async (visibility, who, ...expected) => {
      const { id } = await createProject(ann, { name: 'A', visibility });
      const { client } = people[who];
      const path = `/v1/projects/${id}`;
      const answers = [await client.get(path), await client.patch(path, { name: 'B' })];
      const listed = await client.get<{ projects: ProjectBody[] }>('/v1/projects');
      answers.push(await client.delete(path));
      expect(answers.map((answer) => (answer.status === 200 ? 'ok' : codeOf(answer)))).toEqual(expected);
      expect(listed.body.projects.some((project) => project.id === id)).toBe(expected[0] === 'ok');
    });

    it('what may not be seen answers exactly as what does not exist', async () => {
      const { id } = await createProject(ann, { name: 'A' });
      const { client } = people['a member'];
      const bodies = new Set<string>();
      for (const given of [id, crypto.randomUUID(), 'x', '%00']) {
        for (const answer of [
          await client.get<ErrorBody>(`/v1/projects/${given}`),
          await client.patch<ErrorBody>(`/v1/projects/${given}`, { name: 'B' }),
          await client.delete<ErrorBody>(`/v1/projects/${given}`),
        ]) {
          bodies.add(JSON.stringify([answer.status, { ...answer.body.error, requestId: '' }]));
        }
      }
      expect([...bodies]).toHaveLength(1);
    });
  });

  describe('pages', () => {
    it('limit is 1 to 50, the default 50', async () => {
      for (const limit of ['0', '51', '-1', 'x', '1.5', '']) {
        const { status, body } = await ann.client.get<ErrorBody>(`/v1/projects?limit=${limit}`);
        expect([limit, status, body.error.code, body.error.message]).toEqual([
          limit, 400, 'invalid_query', 'limit must be a whole number from 1 to 50.',
        ]); // prettier-ignore
      }
      const { client, workspace, user } = await makeMember(service);
      await service.db.query(
        `INSERT INTO projects (id, workspace_id, owner_id, name, visibility, created_at)
         SELECT overlay(gen_random_uuid()::text placing '7' from 15 for 1)::uuid, $1, $2, n::text, 'private', now() - make_interval(secs => n / 3)
         FROM generate_series(1, 51) n`,
        [workspace.id, user.id],
      );
      type Page = { projects: ProjectBody[]; nextCursor: string | null };
      const first = (await client.get<Page>('/v1/projects')).body;
      expect(first.projects).toHaveLength(50);
      const rest = (await client.get<Page>(`/v1/projects?limit=50&cursor=${first.nextCursor}`)).body;
      expect([rest.projects.length, rest.nextCursor]).toEqual([1, null]);
      const walked: ProjectBody[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { body } = await client.get<Page>(`/v1/projects?limit=4${query}`);
        walked.push(...body.projects);
        cursor = body.nextCursor;
      }
      expect(walked).toEqual([...first.projects, ...rest.projects]);
      const order = walked.map(({ createdAt, id }) => `${createdAt} ${id}`);
      expect(order).toEqual([...order].sort().reverse());
    });
  });

  it('after its deletion its tasks stay without a project, seen by their creators, owners and admins', async () => {
    const { workspace } = owner;
    const member = await makeMember(service, { workspace });
    const project = await createProject(ann, { name: 'Shared', visibility: 'workspace' });
    const task = await makeTask(service, ann);
    await putIntoProject(service, task, project.id);
    expect((await member.client.get(`/v1/tasks/${task}`)).body).toMatchObject({ task: { projectId: project.id } });
    expect((await ann.client.delete(`/v1/projects/${project.id}`)).status).toBe(200);
    expect((await member.client.get(`/v1/tasks/${task}`)).status).toBe(404);
    for (const { client } of [ann, owner]) {
      expect((await client.get(`/v1/tasks/${task}`)).body).toMatchObject({ task: { projectId: null } });
    }
  });
});
