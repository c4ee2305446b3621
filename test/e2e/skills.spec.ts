import { createHash, randomUUID } from 'node:crypto';
import { bootApp, useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, DAILY } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeKey } from '../harness/keys.js';
import { pushSkill, pushZip, SKILLS, type SkillBody, skillFile, skillZip } from '../harness/skills.js';
import { zipOf } from '../harness/zips.js';

type Skill = { skill: SkillBody };
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [
  status,
  body.error.code,
  body.error.param,
];

describe('Skills (reference §27)', () => {
  let owner: Member;
  let ann: Member;
  let bob: Member;
  const service = useService(() => bootApp({ config: { plans: { paid: { storageBytes: 20 * 1024 * 1024 } } } }));
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
    bob = await makeMember(service, { workspace: owner.workspace });
  });

  const get = (id: string, { client } = owner) => client.get<Skill & ErrorBody>(`${SKILLS}/${id}`);
  const patch = (id: string, json: object, { client } = owner) =>
    client.patch<Skill & ErrorBody>(`${SKILLS}/${id}`, json);
  const remove = (id: string, { client } = owner) => client.delete<ErrorBody>(`${SKILLS}/${id}`);
  const versions = async (id: string, query = '') =>
    (await owner.client.get<{ versions: { version: number; description: string }[]; nextCursor: string | null }>(`${SKILLS}/${id}/versions${query}`)).body; // prettier-ignore
  const stored = async () => {
    const [row] = await service.db.query<{ bytes: string }>('SELECT stored_bytes AS bytes FROM storage_usage WHERE workspace_id = $1', [owner.workspace.id]); // prettier-ignore
    return Number(row?.bytes);
  };

  it('a zip makes one, which all members read', async () => {
    const zip = skillZip('release-notes', 'Writes them.', { name: 'a/b.txt', content: 'hello' });
    const made = await pushZip<Skill>(service, ann, zip);
    expect(made.status).toBe(201);
    const { skill } = made.body;
    expect(skill).toEqual({
      id: expect.any(String),
      name: 'release-notes',
      version: 1,
      description: 'Writes them.',
      files: 2,
      bytes: skillFile('release-notes', 'Writes them.').length + 5,
      sha256: sha256(zip),
      default: false,
      createdBy: { id: ann.user.id, name: expect.any(String) },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(made.location).toBe(`${SKILLS}/${skill.id}`);
    for (const who of [owner, ann, bob]) expect((await get(skill.id, who)).body).toEqual(made.body);
    const { body } = await bob.client.get<{ skills: SkillBody[]; nextCursor: null }>(SKILLS);
    expect(body).toEqual({ skills: [skill], nextCursor: null });
  });

  it('another zip of its name is the next version; the one that it has makes none', async () => {
    const first = await pushSkill(service, ann, 'notes', 'First.');
    expect(await pushSkill(service, ann, 'notes', 'First.')).toEqual(first);
    const second = await pushSkill(service, ann, 'notes', 'Second.');
    expect(second).toMatchObject({ id: first.id, version: 2, description: 'Second.', createdAt: first.createdAt });
    expect(await pushSkill(service, owner, 'notes', 'First.')).toMatchObject({ id: first.id, version: 3 });
    const all = await versions(first.id);
    expect(all.versions.map(({ version, description }) => [version, description])).toEqual([
      [3, 'First.'],
      [2, 'Second.'],
      [1, 'First.'],
    ]);
    const page = await versions(first.id, '?limit=2');
    expect(page.versions).toHaveLength(2);
    expect((await versions(first.id, `?limit=2&cursor=${page.nextCursor}`)).versions).toMatchObject([{ version: 1 }]);
    // Of twenty at once each is a version of its own.
    const pushes = Array.from({ length: 20 }, (_, n) => pushSkill(service, ann, 'notes', `At once ${n}.`));
    const made = (await Promise.all(pushes)).map(({ version }) => version);
    expect(made.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 4));
  });

  it('each version is downloaded as it was uploaded', async () => {
    const [first, second] = [skillZip('notes', 'First.'), skillZip('notes', 'Second.')];
    for (const zip of [first, second]) expect((await pushZip(service, ann, zip)).status).toBe(201);
    const [{ id } = { id: '' }] = (await owner.client.get<{ skills: SkillBody[] }>(SKILLS)).body.skills;
    const download = (query = '') =>
      fetch(`${service.url}${SKILLS}/${id}/content${query}`, {
        headers: { Authorization: `Bearer ${bob.key.secret}` },
      });
    const answer = await download();
    expect(answer.headers.get('content-type')).toBe('application/zip');
    expect(answer.headers.get('content-disposition')).toContain('filename="notes-2.zip"');
    expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(second));
    expect(sha256(Buffer.from(await (await download('?version=1')).arrayBuffer()))).toBe(sha256(first));
    const refused = async (query: string) => {
      const { status } = await download(query);
      return status;
    };
    expect(await refused('?version=3')).toBe(404);
    expect(await refused('?version=0')).toBe(400);
    expect(await refused('?version=x')).toBe(400);
  });

  it('what is no skill is refused with its file and line, and leaves nothing', async () => {
    const zip = zipOf([{ name: 'SKILL.md', content: '---\nname: Notes\ndescription: x\n---\n' }]);
    const { status, body } = await pushZip(service, ann, zip);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_skill', param: 'file', message: expect.stringMatching(/^SKILL\.md, line 2: name has to be 1 to 64/) }); // prettier-ignore
    expect(refusedBy(await pushZip(service, ann, skillZip('notes', 'x', { name: 'l', mode: 0o120777 })))).toEqual([400, 'invalid_skill', 'file']); // prettier-ignore
    expect(refusedBy(await pushZip(service, ann, Buffer.alloc(10 * 1024 * 1024 + 1)))).toEqual([
      413,
      'too_large',
      null,
    ]);
    expect((await owner.client.get<{ skills: SkillBody[] }>(SKILLS)).body.skills).toEqual([]);
    expect(await stored()).toBe(0);
    const rows = await service.db.query('SELECT FROM files WHERE workspace_id = $1', [owner.workspace.id]);
    expect(rows).toEqual([]);
  });

  it('only who made it, owners and admins change it; only owners and admins give it to all tasks', async () => {
    const { id } = await pushSkill(service, ann, 'notes');
    expect(refusedBy(await pushZip(service, bob, skillZip('notes', 'Mine.')))).toEqual([403, 'not_owner', null]);
    expect(refusedBy(await remove(id, bob))).toEqual([403, 'not_owner', null]);
    for (const who of [ann, bob]) {
      expect(refusedBy(await patch(id, { default: true }, who))).toEqual([403, 'role_not_allowed', null]);
    }
    expect((await patch(id, { default: true })).body.skill).toMatchObject({ default: true, version: 1 });
    const before = (await patch(id, { default: true })).body;
    expect((await patch(id, {})).body).toEqual(before);
    expect((await patch(id, { default: false })).body.skill.default).toBe(false);
    expect(refusedBy(await patch(id, { default: null }))).toEqual([400, 'invalid_field', 'default']);
    expect(refusedBy(await patch(id, { name: 'x' }))).toEqual([400, 'unknown_field', 'name']);
    expect((await pushSkill(service, owner, 'notes', 'By the owner.')).version).toBe(2);
    expect((await remove(id, ann)).status).toBe(200);
  });

  it('another workspace, and an id that is none, find nothing', async () => {
    const { id } = await pushSkill(service, ann, 'notes');
    const other = await makeMember(service, { role: 'owner' });
    for (const one of [id, randomUUID(), 'notes']) {
      expect(refusedBy(await get(one, other))).toEqual([404, 'not_found', null]);
      expect(refusedBy(await patch(one, { default: true }, other))).toEqual([404, 'not_found', null]);
      expect(refusedBy(await remove(one, other))).toEqual([404, 'not_found', null]);
      for (const what of ['versions', 'content']) {
        expect((await other.client.get(`${SKILLS}/${one}/${what}`)).status).toBe(404);
      }
    }
    expect((await other.client.get(SKILLS)).body).toEqual({ skills: [], nextCursor: null });
    // A name is of a workspace.
    expect((await pushSkill(service, other, 'notes')).version).toBe(1);
    expect((await get(id)).body.skill.version).toBe(1);
  });

  it('needs the scopes of projects', async () => {
    const { id } = await pushSkill(service, ann, 'notes');
    const reads = await makeKey(ann.client, { scopes: ['projects:read'] });
    expect((await pushZip(service, { key: { ...ann.key, secret: reads.secret } }, skillZip('more'))).status).toBe(403);
    const read = (path: string, { secret } = reads) =>
      fetch(service.url + path, { headers: { Authorization: `Bearer ${secret}` } });
    for (const path of [SKILLS, `${SKILLS}/${id}`, `${SKILLS}/${id}/content`])
      expect((await read(path)).status).toBe(200);
    const none = await makeKey(ann.client, { scopes: ['tasks:read', 'files:read'] });
    for (const path of [SKILLS, `${SKILLS}/${id}`, `${SKILLS}/${id}/content`]) {
      expect((await read(path, none)).status).toBe(403);
    }
  });

  it('counts to what the workspace stores, which its deletion gives back; nobody sees its zip as a file', async () => {
    const zip = skillZip('notes');
    await pushZip(service, ann, zip);
    expect(await stored()).toBe(zip.length);
    const rows = await service.db.query<{ id: string }>('SELECT id FROM files WHERE workspace_id = $1', [owner.workspace.id]); // prettier-ignore
    for (const who of [owner, ann]) {
      for (const what of ['', '/content'])
        expect((await who.client.get(`/v1/files/${rows[0]?.id}${what}`)).status).toBe(404);
      expect((await who.client.delete(`/v1/files/${rows[0]?.id}`)).status).toBe(404);
      expect((await who.client.get('/v1/files')).body).toEqual({ files: [], nextCursor: null });
    }
    const big = (name: string) =>
      skillZip(name, 'x', { name: 'big', content: Buffer.from(Array.from({ length: 9 * 1024 * 1024 }, (_, n) => (n * 31) & 255)), stored: true }); // prettier-ignore
    expect((await pushZip(service, ann, big('one'))).status).toBe(201);
    expect((await pushZip(service, ann, big('two'))).status).toBe(201);
    expect(refusedBy(await pushZip(service, ann, big('three')))).toEqual([402, 'storage_exhausted', null]);
    const { body } = await owner.client.get<{ skills: SkillBody[] }>(SKILLS);
    for (const { id } of body.skills) expect((await remove(id)).body).toEqual({ deleted: true, id });
    expect(await stored()).toBe(0);
    const left = await service.db.query('SELECT FROM files WHERE workspace_id = $1', [owner.workspace.id]);
    expect(left).toEqual([]);
  });

  it('stays while an automation names it, by name or by version, whoever made that', async () => {
    const { id } = await pushSkill(service, ann, 'notes');
    await pushSkill(service, ann, 'notes-of-others');
    const made = await bob.client.post<{ automation: AutomationBody & { skills: string[] } }>(AUTOMATIONS, { ...DAILY, skills: ['notes@1'] }); // prettier-ignore
    expect(made.status).toBe(201);
    const automation = `${AUTOMATIONS}/${made.body.automation.id}`;
    expect(made.body.automation.skills).toEqual(['notes@1']);
    for (const who of [ann, owner]) expect(refusedBy(await remove(id, who))).toEqual([409, 'skill_in_use', null]);
    await bob.client.patch(automation, { skills: ['notes'] });
    expect(refusedBy(await remove(id))).toEqual([409, 'skill_in_use', null]);
    await bob.client.patch(automation, { skills: ['notes-of-others'] });
    expect((await remove(id)).status).toBe(200);
    expect((await get(id)).status).toBe(404);
  });

  it('a workspace has 200, of which 20 are so by default', async () => {
    const { id: last } = await pushSkill(service, ann, 'notes');
    await service.db.query(
      `WITH many AS (
         INSERT INTO skills (id, workspace_id, name, created_by, is_default)
         SELECT gen_random_uuid(), workspace_id, 'more-' || n, created_by, n <= 20 FROM skills, generate_series(1, 199) n WHERE id = $1
         RETURNING id)
       INSERT INTO skill_versions (skill_id, version, description, files, bytes, file_id, created_by)
       SELECT many.id, 1, 'x', 1, 1, v.file_id, v.created_by FROM many, skill_versions v WHERE v.skill_id = $1`,
      [last],
    );
    expect(refusedBy(await pushZip(service, ann, skillZip('one-more')))).toEqual([409, 'too_many_skills', null]);
    expect((await pushSkill(service, ann, 'notes', 'A version is none more.')).version).toBe(2);
    expect(refusedBy(await patch(last, { default: true }))).toEqual([409, 'too_many_skills', null]);
  });

  it('is in the audit log: made, changed, deleted', async () => {
    const { id } = await pushSkill(service, ann, 'notes');
    await pushSkill(service, ann, 'notes');
    await pushSkill(service, ann, 'notes', 'Again.');
    await patch(id, { default: true });
    await remove(id);
    const rows = await service.db.query<{ action: string }>(
      `SELECT action FROM audit_log WHERE workspace_id = $1 AND target_id = $2 ORDER BY id`,
      [owner.workspace.id, id],
    );
    expect(rows.map(({ action }) => action)).toEqual(['skill.create', 'skill.update', 'skill.update', 'skill.delete']);
  });
});
