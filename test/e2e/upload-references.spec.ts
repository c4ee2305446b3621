import { KeysService } from '../../src/access/auth/keys.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import type { FileBody } from '../harness/projects.js';

type Created = ErrorBody & { task: { id: string } };

describe('Uploads and the files that they become (reference §7)', () => {
  let member: Member;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const keyOf = async (workspaceId: string, userId: string): Promise<Client> => {
    const keys = service.app.get(KeysService, { strict: false });
    const { secret } = await keys.create({ workspaceId, userId, name: 'k', scopes: SCOPES, lifetimeSeconds: null });
    return new Client(service.url, secret);
  };
  const create = (client: Client, ...uploadIds: string[]) =>
    client.post<Created>('/v1/tasks', { attachments: uploadIds.map((uploadId) => ({ uploadId })) });
  const refusal = async (client: Client, uploadId: string) => {
    const { status, body } = await create(client, uploadId);
    const { code, param, message } = body.error;
    return [status, code, param, message];
  };
  const filesOf = async (task: string) =>
    (await member.client.get<{ files: FileBody[] }>(`/v1/tasks/${task}/files`)).body.files;

  it('an upload creates no durable file until it is referenced by a task or a message', async () => {
    const files = () => service.db.query('SELECT id FROM files');
    const before = await files();
    const { id } = await upload(service, member, 'x');
    expect(await files()).toEqual(before);
    expect((await member.client.get(`/v1/files/${id}`)).status).toBe(404);
    const { body } = await create(member.client, id);
    const [attached] = await filesOf(body.task.id);
    expect(attached).toMatchObject({ origin: 'attachment', taskId: body.task.id, size: 1 });
    await member.client.post(`/v1/tasks/${body.task.id}/messages`, { attachments: [{ uploadId: id }] });
    expect(await filesOf(body.task.id)).toHaveLength(2);
  });

  it('the upload id is bound to the user and workspace of the credential that created it', async () => {
    const { id } = await upload(service, member, 'x');
    const unknown = await refusal(member.client, crypto.randomUUID());
    expect(unknown.slice(0, 3)).toEqual([400, 'invalid_upload', 'attachments[0].uploadId']);
    const colleague = await makeMember(service, { workspace: member.workspace, role: 'owner' });
    expect(await refusal(colleague.client, id)).toEqual(unknown);
    const { workspace } = await makeMember(service);
    await service.app.get(MembershipsService).add(workspace.id, member.user.id, 'owner');
    expect(await refusal(await keyOf(workspace.id, member.user.id), id)).toEqual(unknown);
    expect((await create(await keyOf(member.workspace.id, member.user.id), id)).status).toBe(201);
  });

  it('it may be referenced several times until it expires; each reference makes its own file', async () => {
    const { id } = await upload(service, member, 'shared');
    const { body } = await create(member.client, id, id);
    const files = await filesOf(body.task.id);
    expect(new Set(files.map((file) => file.id)).size).toBe(2);
    expect(new Set(files.map((file) => file.sha256)).size).toBe(1);
    const unknown = await refusal(member.client, crypto.randomUUID());
    await service.db.query('UPDATE uploads SET expires_at = now() WHERE id = $1', [id]);
    expect(await refusal(member.client, id)).toEqual(unknown);
    // What it has become stays.
    const content = await member.client.get(`/v1/files/${files[0]?.id}/content`);
    expect([content.status, content.text]).toEqual([200, 'shared']);
  });

  it('a task takes 1 to 20 attachments', async () => {
    const { id } = await upload(service, member, 'x');
    expect((await create(member.client, ...Array.from({ length: 20 }, () => id))).status).toBe(201);
    const { status, body } = await create(member.client, ...Array.from({ length: 21 }, () => id));
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_field', 'attachments']);
  });

  it('task files are immutable: there is no way to change one, to add one to a task or to take one away', async () => {
    const { id } = await upload(service, member, 'x');
    const { body } = await create(member.client, id);
    const [file] = await filesOf(body.task.id);
    for (const method of ['PUT', 'PATCH', 'POST', 'DELETE']) {
      for (const path of [
        `/v1/files/${file?.id}`,
        `/v1/files/${file?.id}/content`,
        `/v1/tasks/${body.task.id}/files`,
      ]) {
        // A file of a deleted project alone can be deleted.
        const refused = method === 'DELETE' && path === `/v1/files/${file?.id}` ? 409 : 405;
        expect((await member.client.request(method, path)).status).toBe(refused);
      }
    }
    expect(await filesOf(body.task.id)).toEqual([file]);
  });
});
