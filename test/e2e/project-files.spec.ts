import { randomBytes } from 'node:crypto';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { storedFiles } from '../harness/files.js';
import { addProjectFile, createProject, type FileBody } from '../harness/projects.js';

const LIMIT = 1024 * 1024;

describe('Project files (reference §3, §7)', () => {
  let owner: Member;
  let ann: Member;
  let bob: Member;

  const service = useService(() => bootApp({ env: { MAX_UPLOAD_BYTES: String(LIMIT) } }));
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
    bob = await makeMember(service, { workspace: owner.workspace });
  });

  const shared = () => createProject(ann, { name: 'Shared', visibility: 'workspace' });
  const filesOf = async (who: Member, projectId: string, query = '') =>
    (await who.client.get<{ files: FileBody[]; nextCursor: string | null }>(`/v1/projects/${projectId}/files${query}`)).body; // prettier-ignore
  const post = (who: Member, projectId: string, body: FormData | string, type?: string) =>
    fetch(`${service.url}/v1/projects/${projectId}/files`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${who.key.secret}`, ...(type === undefined ? {} : { 'Content-Type': type }) },
      body,
    });
  const form = (bytes: string | Uint8Array<ArrayBuffer>, field = 'file') => {
    const made = new FormData();
    made.append(field, new Blob([bytes], { type: 'text/plain' }), 'a.txt');
    return made;
  };

  it('a member adds one to a project that it sees; it is answered with 201 and its Location', async () => {
    const { id: projectId } = await shared();
    const answer = await post(bob, projectId, form('hello'));
    const body = (await answer.json()) as { file: FileBody };
    expect(answer.status).toBe(201);
    const { id, createdAt } = body.file;
    expect(body).toEqual({
      file: {
        id,
        name: 'a.txt',
        mediaType: 'text/plain',
        size: 5,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        origin: 'project',
        taskId: null,
        projectId,
        createdBy: { id: bob.user.id, name: expect.any(String) },
        downloadUrl: `${service.url}/v1/files/${id}/content`,
        createdAt,
      },
    });
    expect(answer.headers.get('location')).toBe(`/v1/files/${id}`);
    for (const who of [ann, bob, owner]) {
      expect((await who.client.get(`/v1/files/${id}`)).body).toEqual(body);
      expect((await who.client.get(`/v1/files/${id}/content`)).text).toBe('hello');
      expect((await filesOf(who, projectId)).files).toEqual([body.file]);
    }
  });

  it('a wrong form is 400, 413 or 415 and leaves nothing, whether the project exists or not', async () => {
    const before = await storedFiles(service);
    for (const id of [(await shared()).id, crypto.randomUUID()]) {
      const two = form('x');
      two.append('file', new Blob(['y']), 'b.txt');
      const cases: [Promise<Response>, number][] = [
        [post(ann, id, two), 400],
        [post(ann, id, form('x', 'data')), 400],
        [post(ann, id, '--b\r\nbroken', 'multipart/form-data; boundary=b'), 400],
        [post(ann, id, form(new Uint8Array(LIMIT + 1))), 413],
        [post(ann, id, '{}', 'application/json'), 415],
      ];
      for (const [answer, status] of cases) expect((await answer).status).toBe(status);
    }
    expect(await storedFiles(service)).toEqual(before);
  });

  it('a project that may not be seen answers as one that does not exist, and nothing is stored for it', async () => {
    const hidden = await createProject(ann);
    const before = await storedFiles(service);
    const bodies = new Set<string>();
    for (const id of [hidden.id, crypto.randomUUID(), 'x']) {
      for (const answer of [
        await post(bob, id, form(randomBytes(9))),
        await fetch(`${service.url}/v1/projects/${id}/files`, {
          headers: { Authorization: `Bearer ${bob.key.secret}` },
        }),
      ]) {
        // prettier-ignore
        const { error } = (await answer.json()) as ErrorBody;
        bodies.add(JSON.stringify([answer.status, { ...error, requestId: '' }]));
      }
    }
    expect(bodies.size).toBe(1);
    expect([...bodies][0]).toMatch(/^\[404,.*"code":"not_found"/);
    expect(await storedFiles(service)).toEqual(before);
  });

  describe('removing one', () => {
    type Who = 'its uploader' | 'the owner of the project' | 'a member' | 'a viewer' | 'an admin' | 'a stranger';
    it.each<[string, Who, string]>([
      ['shared', 'its uploader', 'ok'],
      ['shared', 'the owner of the project', 'ok'],
      ['shared', 'a member', 'not_owner'],
      ['shared', 'a viewer', 'role_not_allowed'],
      ['shared', 'an admin', 'ok'],
      ['shared', 'a stranger', 'not_found'],
      ['private', 'its uploader', 'not_found'],
      ['private', 'the owner of the project', 'ok'],
      ['private', 'a member', 'not_found'],
      ['private', 'an admin', 'ok'],
    ])('of a %s project, by %s: %s', async (kind, who, expected) => {
      const { workspace } = owner;
      const people: Record<Who, () => Member | Promise<Member>> = {
        'its uploader': () => bob,
        'the owner of the project': () => ann,
        'a member': () => makeMember(service, { workspace }),
        'a viewer': () => makeMember(service, { workspace, role: 'viewer' }),
        'an admin': () => makeMember(service, { workspace, role: 'admin' }),
        'a stranger': () => makeMember(service, { role: 'owner' }),
      };
      const { id: projectId } = await shared();
      const file = await addProjectFile(service, bob, projectId, 'x');
      if (kind === 'private') await ann.client.patch(`/v1/projects/${projectId}`, { visibility: 'private' });
      const { client } = await people[who]();
      const path = `/v1/projects/${projectId}/files/${file.id}`;
      const { status, body } = await client.delete<ErrorBody>(path);
      expect(status === 200 ? 'ok' : body.error.code).toBe(expected);
      if (status === 200) expect(body).toEqual({ deleted: true, id: file.id });
      const left = (await filesOf(owner, projectId)).files.length;
      expect(left).toBe(status === 200 ? 0 : 1);
      expect((await owner.client.get(`/v1/files/${file.id}/content`)).status).toBe(status === 200 ? 404 : 200);
      if (status === 200) expect((await owner.client.delete(path)).status).toBe(404);
    });

    it('works only through its own project', async () => {
      const [one, two] = [await shared(), await shared()];
      const file = await addProjectFile(service, ann, one.id, 'x');
      for (const [project, id] of [
        [two.id, file.id],
        [one.id, crypto.randomUUID()],
        [one.id, 'x'],
        ['x', file.id],
      ]) {
        expect((await ann.client.delete(`/v1/projects/${project}/files/${id}`)).status).toBe(404);
      }
      expect((await ann.client.get(`/v1/files/${file.id}`)).status).toBe(200);
    });
  });

  it('both scopes are needed to read, to add and to remove', async () => {
    const { id } = await shared();
    const file = await addProjectFile(service, ann, id, 'x');
    for (const scope of ['projects:read', 'projects:write', 'files:read', 'files:write'] as const) {
      const narrow = await makeMember(service, { workspace: owner.workspace, scopes: [scope] });
      const answers = [
        (await narrow.client.get(`/v1/projects/${id}/files`)).status,
        (await post(narrow, id, form('x'))).status,
        (await narrow.client.delete(`/v1/projects/${id}/files/${file.id}`)).status,
      ];
      expect(answers).toEqual([403, 403, 403]);
    }
  });

  it('pages hold everything once, newest first; a cursor is good for its own project alone', async () => {
    const [one, two] = [await shared(), await shared()];
    const names = [];
    for (let n = 0; n < 5; n++) names.unshift((await addProjectFile(service, ann, one.id, 'x', `${n}.txt`)).name);
    const walked: FileBody[] = [];
    let cursor = '';
    for (let next: string | null = ''; next !== null;) {
      const page = await filesOf(ann, one.id, `?limit=2${next === '' ? '' : `&cursor=${next}`}`);
      walked.push(...page.files);
      next = page.nextCursor;
      cursor = next ?? cursor;
    }
    expect(walked.map(({ name }) => name)).toEqual(names);
    const other = await ann.client.get<ErrorBody>(`/v1/projects/${two.id}/files?cursor=${cursor}`);
    expect([other.status, other.body.error.code]).toEqual([400, 'invalid_cursor']);
    const foreign = await bob.client.get<ErrorBody>(`/v1/projects/${one.id}/files?cursor=${cursor}`);
    expect([foreign.status, foreign.body.error.code]).toEqual([400, 'invalid_cursor']);
  });

  it("after the project's deletion they stay, without a project, seen by their uploaders, owners and admins", async () => {
    const { id } = await shared();
    const [his, hers] = [await addProjectFile(service, bob, id, 'his'), await addProjectFile(service, ann, id, 'hers')];
    expect((await ann.client.delete(`/v1/projects/${id}`)).status).toBe(200);
    const seen = async (who: Member) => {
      const answers = [
        await who.client.get(`/v1/files/${his.id}/content`),
        await who.client.get(`/v1/files/${hers.id}`),
      ];
      return answers.map(({ status }) => status);
    };
    expect([await seen(bob), await seen(ann), await seen(owner)]).toEqual([
      [200, 404],
      [404, 200],
      [200, 200],
    ]);
    expect((await owner.client.get(`/v1/files/${his.id}`)).body).toEqual({ file: { ...his, projectId: null } });
    expect((await owner.client.get(`/v1/projects/${id}/files`)).status).toBe(404);
    const left = async ({ client }: Member) => {
      const { body } = await client.get<{ files: FileBody[] }>('/v1/files?project=none');
      return body.files.map((file) => file.id).filter((one) => [his.id, hers.id].includes(one));
    };
    expect([await left(bob), await left(ann), await left(owner)]).toEqual([[his.id], [hers.id], [hers.id, his.id]]);
  });

  it('then they are deleted one by one, and their bytes no longer count; any other file is in use', async () => {
    const who = await makeMember(service);
    const counted = async () => {
      const sql = 'SELECT stored_bytes::int AS bytes FROM storage_usage WHERE workspace_id = $1';
      return (await service.db.query<{ bytes: number }>(sql, [who.workspace.id]))[0]?.bytes;
    };
    const { id } = await createProject(who);
    const [one, two] = [await addProjectFile(service, who, id, 'one'), await addProjectFile(service, who, id, 'other')];
    const end = async (file: FileBody) => {
      const { status, body } = await who.client.delete<ErrorBody>(`/v1/files/${file.id}`);
      return status === 200 ? body : body.error.code;
    };
    expect([await end(one), await counted()]).toEqual(['file_in_use', 8]);
    expect((await who.client.delete(`/v1/projects/${id}`)).status).toBe(200);
    // Of two at once one finds it.
    const both = await Promise.all([end(one), end(one)]);
    expect(both).toEqual(expect.arrayContaining([{ deleted: true, id: one.id }, 'not_found']));
    expect(await counted()).toBe(5);
    expect((await who.client.get(`/v1/files/${one.id}/content`)).status).toBe(404);
    expect([await end(two), await counted()]).toEqual([{ deleted: true, id: two.id }, 0]);
    expect((await who.client.get('/v1/files')).body).toEqual({ files: [], nextCursor: null });
    const wrong = await who.client.get<ErrorBody>(`/v1/files?project=${id}`);
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'invalid_query']);
  });

  it('one that is added while its project is deleted is either in it before, or 404', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await shared();
      const [added] = await Promise.all([post(bob, id, form('race')), ann.client.delete(`/v1/projects/${id}`)]);
      expect([201, 404]).toContain(added.status);
      await added.text();
      expect(await service.db.query('SELECT 1 FROM files WHERE project_id = $1', [id])).toEqual([]);
    }
  });
});
