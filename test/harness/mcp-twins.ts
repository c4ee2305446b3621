// Two workspaces with the same in them: what a tool does in the one, its route does in the other, and both must be the same.
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { type Scope, SCOPES } from '../../src/platform/http/endpoint.js';
import { newId } from '../../src/platform/database/ids.js';
import type { TestApp } from './app.js';
import { createAutomation } from './automation-requests.js';
import { makeCaller } from './callers.js';
import { type Answer, type ErrorBody, makeMember, type Member } from './client.js';
import { attach, makeTask, postForm, upload } from './files.js';
import { McpClient, type RpcAnswer, type ToolResult } from './mcp.js';
import { createProject } from './projects.js';
import { createTask } from './tasks.js';
import { until } from './until.js';

export type Json = Record<string, unknown>;
/** What stands in a workspace, by names that situations use. */
export type Ids = Record<'task' | 'ended' | 'asking' | 'interaction' | 'deleted' | 'hidden' | 'foreign' | 'file' | 'hiddenFile' | 'project' | 'hiddenProject' | 'automation' | 'upload' | 'used', string>; // prettier-ignore

/** Why somebody may be refused, or not: each makes one caller of a workspace. */
const without = (...gone: Scope[]) => ({ scopes: SCOPES.filter((one) => !gone.includes(one)) });
type MakeCaller = (service: TestApp, workspace: Member['workspace']) => Promise<Member>;
const member =
  (options: object): MakeCaller =>
  (service, workspace) =>
    makeMember(service, { workspace, ...options });
const ended =
  (sql: string): MakeCaller =>
  async (service, workspace) => {
    const one = await makeMember(service, { workspace });
    await service.db.query(`UPDATE api_keys SET ${sql} WHERE id = $1`, [one.key.id]);
    return one;
  };
export const CALLERS: Record<string, MakeCaller> = {
  'an owner': member({ role: 'owner' }),
  'an admin': member({ role: 'admin' }),
  'another member': member({}),
  'a viewer': member({ role: 'viewer' }),
  'a service account': (service, workspace) => makeCaller(service, workspace, { role: 'member', kind: 'service' }),
  'a service account that reads': (service, workspace) => makeCaller(service, workspace, { role: 'viewer', kind: 'service' }),
  'a key without scopes': member({ scopes: [] }),
  'a key without what reads tasks': member(without('tasks:read')),
  'a key without what writes tasks': member(without('tasks:write')),
  'a key without files': member(without('files:read', 'files:write')),
  'a key without projects and automations': member(without('projects:read', 'automations:read', 'automations:write')),
  'a viewer without what reads': member({ role: 'viewer', ...without('tasks:read', 'files:read') }),
  'a key that was revoked': ended('revoked_at = now()'),
  'a key that has expired': ended(`created_at = now() - interval '2 days', expires_at = now() - interval '1 day'`),
  'somebody who was removed': async (service, workspace) => {
    const one = await makeMember(service, { workspace });
    await service.app.get(MembershipsService).remove(workspace.id, one.user.id);
    return one;
  },
  'somebody of another workspace': (service) => makeMember(service),
}; // prettier-ignore

/** One of the two workspaces. */
export class Side {
  private readonly callers = new Map<string, Promise<Member>>();
  private constructor(
    readonly service: TestApp,
    readonly owner: Member,
    private readonly stranger: Member,
  ) {}

  static async make(service: TestApp, plan: 'free' | 'paid' = 'paid'): Promise<Side> {
    const owner = await makeMember(service, { role: 'owner', plan });
    return new Side(service, owner, await makeMember(service));
  }

  caller(name: string): Promise<Member> {
    const known = this.callers.get(name) ?? CALLERS[name]?.(this.service, this.owner.workspace);
    if (known === undefined) throw new Error(`Nobody is ${name}.`);
    this.callers.set(name, known);
    return known;
  }

  /** New things of each kind. */
  async things(): Promise<Ids> {
    const { service, owner, stranger } = this;
    const project = await createProject(owner, { name: 'P', visibility: 'workspace' });
    const hiddenProject = await createProject(owner, { name: 'Q' });
    const create = async (by: Member, more: Json = {}) => (await createTask(by.client, { content: 'x', ...more })).id;
    const [task, deleted, foreign] = [await create(owner), await create(owner), await create(stranger)];
    const hidden = await create(owner, { projectId: hiddenProject.id });
    await owner.client.post(`/v1/tasks/${deleted}/cancel`);
    expect((await owner.client.delete(`/v1/tasks/${deleted}`)).status).toBe(200);
    const ended = await makeTask(service, owner);
    const asking = await makeTask(service, owner);
    const interaction = newId();
    await this.ask(asking, interaction);
    const attached = async (to: string) => {
      const { id } = await upload(service, owner, 'größer');
      const [file] = await attach(service, owner, to, [id]);
      return { id: file?.id ?? '', upload: id };
    };
    const [one, other] = [await attached(ended), await attached(hidden)];
    return {
      ...{ task, ended, asking, interaction, deleted, hidden, foreign, file: one.id, hiddenFile: other.id },
      ...{ project: project.id, hiddenProject: hiddenProject.id, used: one.upload },
      automation: (await createAutomation(owner)).id,
      upload: (await upload(service, owner, 'x')).id,
    };
  }

  private async ask(task: string, interaction: string): Promise<void> {
    await this.service.db.query(
      `WITH task AS (UPDATE tasks SET status = 'awaiting_input', turn = 1 WHERE id = $1 RETURNING id),
       message AS (
         INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts)
         SELECT $3::uuid, id, 1, 1, 1, 'assistant', 'in_progress', '[{"type": "tool", "toolCallId": "call_1"}]' FROM task
         RETURNING id, task_id),
       call AS (
         INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state)
         SELECT id, 0, 'call_1', 'ask', '{}', 'running' FROM message)
       INSERT INTO interactions (id, task_id, message_id, tool_call_id, type, question, expires_at)
       SELECT $2::uuid, task_id, id, 'call_1', 'question', 'Why?', now() + interval '1 hour' FROM message`,
      [task, interaction, newId()],
    );
  }
}

/** How a tool's arguments are said to its route: written here once more, so that both are compared. */
export function byRoute(service: TestApp, who: Member, tool: string, args: Json): Promise<Answer<ErrorBody>> {
  const { taskId, idempotencyKey, uploadIds, fileId, automationId, ...fields } = args;
  const key = idempotencyKey ?? (['cancel_task', 'run_automation'].includes(tool) ? undefined : crypto.randomUUID());
  const headers = key === undefined ? {} : { 'Idempotency-Key': key as string };
  const attachments = (uploadIds as string[] | undefined)?.map((uploadId) => ({ uploadId }));
  const json = { ...fields, ...(attachments && { attachments }) };
  const at = (id: unknown) => encodeURIComponent(String(id));
  const query = new URLSearchParams({ limit: '20', ...(fields as Record<string, string>) }).toString();
  const get = (path: string, more: object = {}) => who.client.request<ErrorBody>('GET', path, more);
  const post = (path: string, more: object) => who.client.request<ErrorBody>('POST', path, { headers, ...more });
  switch (tool) {
    case 'create_task':
      return post('/v1/tasks', { json });
    case 'send_message':
      return post(`/v1/tasks/${at(taskId)}/messages`, { json });
    case 'answer_task':
      return post(`/v1/tasks/${at(taskId)}/interaction`, { json });
    case 'cancel_task':
      return post(`/v1/tasks/${at(taskId)}/cancel`, {});
    case 'run_automation':
      return post(`/v1/automations/${at(automationId)}/run`, {});
    case 'upload_file':
      return sendForm(service, who, fields);
    case 'get_task':
      return get(`/v1/tasks/${at(taskId)}`);
    case 'list_models':
      return get('/v1/models');
    case 'read_file':
      return get(`/v1/files/${at(fileId)}/content`, { headers: { Range: `bytes=${Number(fields['offset'] ?? 0)}-` } });
    default:
      return get(`${listOf(tool, at(taskId))}?${query}`);
  }
}

const listOf = (tool: string, taskId: string): string => {
  const [, what = ''] = tool.split('_');
  return ['messages', 'files'].includes(what) ? `/v1/tasks/${taskId}/${what}` : `/v1/${what}`;
};

async function sendForm(service: TestApp, who: Member, { name, text, base64 }: Json): Promise<Answer<ErrorBody>> {
  const form = new FormData();
  const bytes = base64 === undefined ? String(text) : Buffer.from(base64 as string, 'base64');
  form.append('file', new Blob([bytes]), name as string);
  const answer = await postForm(service, who, form);
  const body = await answer.text();
  return { status: answer.status, headers: answer.headers, text: body, body: JSON.parse(body) as ErrorBody };
}

const LIMITS = ['x-ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-global-remaining'];

/** Calls the tool on the one side and its route on the other, and compares all that is said. Resolves with the error's code. */
export async function compare(tool: string, [left, right]: [Side, Side], [by, beside]: [Member, Member], [args, same]: [Json, Json]): Promise<string | undefined> {
  const through = await new McpClient(left.service.url, by.key.secret).call(tool, args);
  const direct = await byRoute(right.service, beside, tool, same);
  const requestId = through.headers.get('x-request-id') ?? '';
  const said = told(tool, through);
  const expected = direct.status >= 400 ? { error: { ...direct.body.error, requestId } } : ofRoute(tool, direct);
  expect(plain(said.json)).toEqual(plain(expected));
  const asItIs = [401, 500, 503].includes(direct.status);
  expect([said.status, said.isError]).toEqual([asItIs ? direct.status : 200, direct.status >= 400]);
  if (direct.status >= 400 && !asItIs) expect(plain(said.text)).toEqual(plain(direct.body.error.message));
  expect(LIMITS.map((name) => through.headers.get(name))).toEqual(LIMITS.map((name) => direct.headers.get(name)));
  expect(through.headers.get('retry-after')).toBe(asItIs ? direct.headers.get('retry-after') : null);
  return direct.status >= 400 ? direct.body.error.code : undefined;
} // prettier-ignore

function told(tool: string, { status, body }: Answer<RpcAnswer<ToolResult>>) {
  if (body.result === undefined) return { status, isError: true, json: body, text: '' };
  const { isError = false, structuredContent, content } = body.result;
  const json = tool === 'read_file' && !isError ? content[0]?.text : structuredContent;
  return { status, isError, json, text: content[0]?.text };
}

const ofRoute = (tool: string, { text, body }: Answer<object>) => (tool === 'read_file' ? text : body);

/** Without what is another one in each workspace and at each time. */
function plain(json: unknown): unknown {
  const text = JSON.stringify(json)
    .replace(/"nextCursor":"[^"]*"/g, '"nextCursor":"…"')
    .replace(/[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}|"\d{4}-\d\d-[^"]*Z"|User \d+/gi, '…')
    .replace(/"waitingFor":(null|\{[^}]*\})/g, '"waitingFor":…')
    .replace(/in \d+ seconds/g, 'in … seconds')
    .replace(/upload of \d+ bytes/g, 'upload of … bytes')
    .replace(/"…"|…/g, '…');
  return text;
}

/**
 * What the two have done by the audit log, once as much is on record for both as was refused or done.
 * @param known false: /mcp itself has refused the credential, before anybody looked at what was asked.
 */
export async function sameRecord([left, right]: [Side, Side], [by, beside]: [Member, Member], known: boolean): Promise<number> {
  const rows = ({ service }: Side, { user, workspace }: Member) =>
    service.db.query<{ act: string }>(
      `SELECT action || ' ' || coalesce(target_type, '-') || ' ' || (target_id IS NOT NULL) || ' ' || outcome AS act
       FROM audit_log WHERE workspace_id = $1 AND actor_id = $2 ORDER BY at, id`,
      [workspace.id, user.id],
    );
  const expected = await settled(() => rows(right, beside));
  const found = await until('the record of the tool', async () => {
    const some = await rows(left, by);
    return some.length >= expected.length ? some : null;
  });
  expect(found.map(({ act }) => act).sort()).toEqual(expected.map(({ act }) => (known ? act : 'mcp.call - false refused')).sort());
  return found.length;
} // prettier-ignore

/** Refusals go on record behind their answers: the rows once they have stayed the same for some looks. */
async function settled<T>(read: () => Promise<T[]>): Promise<T[]> {
  let [before, looks] = [-1, 0];
  return until('the record to be whole', async () => {
    const now = await read();
    looks = now.length === before ? looks + 1 : 0;
    before = now.length;
    return looks >= 5 ? now : null;
  });
}
