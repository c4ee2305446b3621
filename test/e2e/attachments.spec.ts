import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { walk } from '../harness/pages.js';

describe('Attachments (reference §7)', () => {
  let member: Member;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const attached = async (...names: string[]) => {
    const fresh = await makeTask(service, member);
    const made = await Promise.all(names.map((name) => upload(service, member, 'x', { name })));
    return attach(service, member, fresh, made.map(({ id }) => id)); // prettier-ignore
  };

  it('makes a file of each, in order, with paths of their own under attachments/', async () => {
    const files = await attached('a.txt', 'b.txt', 'a.txt', 'a.txt');
    expect(files.map(({ name, path }) => [name, path])).toEqual([
      ['a.txt', 'attachments/a.txt'],
      ['b.txt', 'attachments/b.txt'],
      ['a.txt', 'attachments/a (2).txt'],
      ['a.txt', 'attachments/a (3).txt'],
    ]);
    const [first] = files;
    expect(first).toMatchObject({
      origin: 'attachment',
      createdById: member.user.id,
      size: 1,
      mediaType: 'text/plain',
    });
  });

  it('takes one upload several times, and heeds what the task has already', async () => {
    const fresh = await makeTask(service, member);
    const { id } = await upload(service, member, 'twice', { name: 'r.md' });
    const first = await attach(service, member, fresh, [id, id]);
    const then = await attach(service, member, fresh, [id]);
    const paths = ['attachments/r.md', 'attachments/r (2).md', 'attachments/r (3).md'];
    expect([...first, ...then].map(({ path }) => path)).toEqual(paths);
    expect(new Set([...first, ...then].map((file) => file.id)).size).toBe(3);
  });

  it('refuses an unknown, foreign, expired or malformed upload in the same words, and makes nothing', async () => {
    const colleague = await makeMember(service, { workspace: member.workspace, role: 'owner' });
    const [mine, theirs, old] = await Promise.all([member, colleague, member].map((who) => upload(service, who, 'x')));
    await service.db.query('UPDATE uploads SET expires_at = now() WHERE id = $1', [old?.id]);
    const fresh = await makeTask(service, member);
    const messages = new Set<string>();
    for (const id of [crypto.randomUUID(), theirs?.id, old?.id, 'no-uuid', '']) {
      const error: unknown = await attach(service, member, fresh, [String(mine?.id), String(id)]).catch(
        (e: unknown) => e,
      );
      expect(error).toMatchObject({ code: 'invalid_upload', status: 400, param: 'attachments[1].uploadId' });
      messages.add((error as Error).message);
    }
    expect(messages.size).toBe(1);
    expect(await service.db.query('SELECT id FROM files WHERE task_id = $1', [fresh])).toEqual([]);
  });

  it('lists them newest first, page by page', async () => {
    const fresh = await makeTask(service, member);
    const { id } = await upload(service, member, 'x');
    for (let i = 0; i < 5; i += 1) await attach(service, member, fresh, [id]);
    const seen = await walk(member.client, `/v1/tasks/${fresh}/files`, 2);
    const order = await service.db.query('SELECT id FROM files WHERE task_id = $1 ORDER BY created_at DESC, id DESC', [
      fresh,
    ]);
    expect(seen.map((id) => ({ id }))).toEqual(order);
    expect(seen).toHaveLength(5);
  });
});
