import { SCOPES } from '../../src/platform/http/endpoint.js';
import { useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { createProject } from '../harness/projects.js';

describe('The order of the checks (reference §1)', () => {
  let member: Member;
  let other: Member;
  const none = crypto.randomUUID();

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    other = await makeMember(service, { workspace: member.workspace });
  });

  const codeOf = async (client: Client, method: string, path: string, json?: object) => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const options = json === undefined ? { headers } : { headers, json };
    return (await client.request<ErrorBody>(method, path, options)).body.error.code;
  };

  it.each<[string, string, object, string]>([
    ['PATCH', `/v1/projects/${none}`, { name: 5 }, 'invalid_field'],
    ['PATCH', `/v1/tasks/${none}`, { colour: 'red' }, 'unknown_field'],
    ['POST', `/v1/tasks/${none}/messages`, {}, 'invalid_field'],
    ['POST', `/v1/tasks/${none}/interaction`, { content: 'x' }, 'invalid_field'],
    ['POST', `/v1/tasks/${none}/cancel`, { why: 'x' }, 'invalid_body'],
  ])('fields come before existence: %s %s', async (method, path, json, code) => {
    expect(await codeOf(member.client, method, path, json)).toBe(code);
  });

  it('limit and cursor come before existence', async () => {
    for (const path of [`/v1/tasks/${none}/messages`, `/v1/tasks/${none}/files`, `/v1/projects/${none}/files`]) {
      expect(await codeOf(member.client, 'GET', `${path}?limit=0`)).toBe('invalid_query');
      expect(await codeOf(member.client, 'GET', `${path}?cursor=x`)).toBe('invalid_cursor');
      expect(await codeOf(member.client, 'GET', path)).toBe('not_found');
    }
  });

  it('the scope that depends on the body comes after the fields and before existence', async () => {
    const scopes = SCOPES.filter((scope) => scope !== 'files:write');
    const { client } = await makeMember(service, { workspace: member.workspace, scopes });
    const attachments = [{ uploadId: 'x' }];
    for (const path of ['/v1/tasks', `/v1/tasks/${none}/messages`]) {
      expect(await codeOf(client, 'POST', path, { attachments, colour: 'red' })).toBe('unknown_field');
      expect(await codeOf(client, 'POST', path, { attachments: [5] })).toBe('invalid_field');
      expect(await codeOf(client, 'POST', path, { attachments })).toBe('missing_scope');
    }
    const [path, interactionId] = [`/v1/tasks/${none}/interaction`, none];
    expect(await codeOf(client, 'POST', path, { attachments })).toBe('invalid_field');
    expect(await codeOf(client, 'POST', path, { interactionId, attachments })).toBe('missing_scope');
    expect(await codeOf(client, 'POST', path, { interactionId, content: 'x' })).toBe('not_found');
  });

  it('existence and visibility come before ownership', async () => {
    const hidden = await createProject(member);
    const shared = await createProject(member, { name: 'P', visibility: 'workspace' });
    for (const method of ['PATCH', 'DELETE']) {
      const json = method === 'PATCH' ? { name: 'Q' } : undefined;
      expect(await codeOf(other.client, method, `/v1/projects/${none}`, json)).toBe('not_found');
      expect(await codeOf(other.client, method, `/v1/projects/${hidden.id}`, json)).toBe('not_found');
      expect(await codeOf(other.client, method, `/v1/projects/${shared.id}`, json)).toBe('not_owner');
    }
  });

  it('existence and visibility come before the state', async () => {
    const completed = await makeTask(service, member);
    expect(await codeOf(other.client, 'POST', `/v1/tasks/${completed}/cancel`)).toBe('not_found');
    expect(await codeOf(member.client, 'POST', `/v1/tasks/${completed}/cancel`)).toBe('task_not_cancellable');
    const answer = { interactionId: none, content: 'x' };
    expect(await codeOf(other.client, 'POST', `/v1/tasks/${completed}/interaction`, answer)).toBe('not_found');
    expect(await codeOf(member.client, 'POST', `/v1/tasks/${completed}/interaction`, answer)).toBe(
      'interaction_not_pending',
    );
  });
});
