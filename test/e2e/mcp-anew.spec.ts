// The credential that /mcp has found counts for one request: whatever is read later is read with what its caller is then.
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { type Holder, holding, waiting } from '../harness/locks.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { Side } from '../harness/mcp-twins.js';
import { change } from '../harness/members.js';
import { createProject } from '../harness/projects.js';
import { createTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface List {
  tasks: { id: string }[];
}
const LONG = { description: 'x'.repeat(12_000) };
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

describe('A list that is asked for again, after something has ended in between (reference §29)', () => {
  const service = useService();
  let owner: Member;
  let shared: string;
  let own: string;
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    shared = (await createProject(owner, { name: 'Shared', visibility: 'workspace' })).id;
    own = (await createProject(owner, { name: 'Own' })).id;
    for (const projectId of [shared, own, shared, own, shared, own]) {
      await createTask(owner.client, { content: 'x', projectId, outputSchema: LONG });
    }
  });

  /** The answer of a list whose first reading is held until something has happened; it is too long, so that it is asked for again. */
  async function listed(who: Member, meanwhile: () => Promise<unknown>, args: object = {}) {
    const lock: Holder = await holding(service.db, 'LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE');
    const asked = new McpClient(service.url, who.key.secret).call<List & ErrorBody>('list_tasks', args as Record<string, unknown>);
    try {
      await until('the reading to wait', async () => (await waiting(service.db)).length > 0);
      await meanwhile();
    } finally {
      await lock.release();
    }
    return asked;
  } // prettier-ignore
  const sql = (text: string, ...values: string[]) => service.db.query(text, values);

  it('as it is, it has as many as fit', async () => {
    const { body } = await listed(owner, () => Promise.resolve());
    expect(body.result.structuredContent.tasks).toHaveLength(3);
  });

  it.each<[string, (who: Member) => Promise<unknown>]>([
    ['the key was revoked', ({ key }) => sql('UPDATE api_keys SET revoked_at = now() WHERE id = $1', key.id)],
    ['the membership has ended', ({ user }) => sql('DELETE FROM memberships WHERE user_id = $1', user.id)],
  ])('%s: 401', async (_what, end) => {
    const who = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
    const { status, body } = await listed(who, () => end(who));
    expect([status, (body as unknown as ErrorBody).error.code]).toEqual([401, 'invalid_credential']);
  });

  it('an admin who is a member now does not see what only admins see', async () => {
    const who = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
    const demote = () => sql(`UPDATE memberships SET role = 'member' WHERE user_id = $1`, who.user.id);
    const { body } = await listed(who, demote);
    const mine = new Set((await who.client.get<List>('/v1/tasks')).body.tasks.map(({ id }) => id));
    const { tasks } = body.result.structuredContent;
    expect([tasks.length, mine.size]).toEqual([3, 3]);
    expect(tasks.filter(({ id }) => !mine.has(id))).toEqual([]);
  });

  it('a project that is private now is none', async () => {
    const who = await makeMember(service, { workspace: owner.workspace });
    const hide = () => sql(`UPDATE projects SET visibility = 'private' WHERE id = $1`, shared);
    const { body } = await listed(who, hide, { projectId: shared });
    const direct = await who.client.get<List>(`/v1/tasks?projectId=${shared}`);
    expect(direct.body.tasks ?? []).toEqual([]);
    expect(JSON.stringify(body)).not.toContain(LONG.description);
    await sql(`UPDATE projects SET visibility = 'workspace' WHERE id = $1`, shared);
  });
});

describe('What follows a first reading (reference §29)', () => {
  const service = useService();
  let side: Side;
  beforeAll(async () => {
    side = await Side.make(service);
  });
  const demote = ({ user }: Member) =>
    service.db.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = $1`, [user.id]);

  it('a question that was read is not answered by somebody who only reads by then', async () => {
    const { asking, interaction } = await side.things();
    const who = await makeMember(service, { workspace: side.owner.workspace, role: 'admin' });
    const mcp = new McpClient(service.url, who.key.secret);
    const inputResponses = { [interaction]: { action: 'accept', content: { answer: 'Yes.' } } };
    const answer = (method: string, params: Record<string, unknown>) =>
      mcp.askModern<ToolResult<ErrorBody>>(method, { ...params, inputResponses }, { elicitation: {}, ...TASKS });
    const args = { taskId: asking, interactionId: interaction };
    /** The task is read first: that waits, and the answer comes behind it. */
    const held = async (method: string, params: Record<string, unknown>) => {
      await service.db.query(`UPDATE memberships SET role = 'admin' WHERE user_id = $1`, [who.user.id]);
      const lock = await holding(service.db, 'LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE');
      const asked = answer(method, params);
      try {
        await until('it to wait', async () => (await waiting(service.db)).length > 0);
        await demote(who);
      } finally {
        await lock.release();
      }
      return (await asked).body;
    };
    const byTool = await held('tools/call', { name: 'answer_task', arguments: args });
    expect(byTool.result.structuredContent.error.code).toBe('role_not_allowed');
    const byMethod = await held('tasks/update', { taskId: `${asking}.1` });
    const { code, data } = byMethod.error;
    // It reads the messages before it answers: by then the task is none that they see.
    expect([code, (data as unknown as ErrorBody).error.code]).toEqual([-32602, 'not_found']);
    const { body } = await side.owner.client.get<{ task: TaskBody }>(`/v1/tasks/${asking}`);
    expect(body.task.pendingInteraction?.id).toBe(interaction);
  });

  it('an admin who is a member now does not wait on for a task of somebody’s own: not found', async () => {
    const { hidden } = await side.things();
    const who = await makeMember(service, { workspace: side.owner.workspace, role: 'admin' });
    const mcp = new McpClient(service.url, who.key.secret);
    const asked = mcp.call<ErrorBody>('get_task', { taskId: hidden, waitSeconds: 50 });
    await until('it to wait', async () => (await (await fetch(`${service.url}/metrics`)).text()).includes('millwright_event_streams 1\n')); // prettier-ignore
    expect((await change(side.owner.client, who, 'member')).status).toBe(200);
    const changed = performance.now();
    const { body } = await asked;
    // They would wait for 50 s.
    expect(performance.now() - changed).toBeLessThan(20_000);
    expect([body.result.isError, body.result.structuredContent.error.code]).toEqual([true, 'not_found']);
  });

  it('one who may not write any more still waits for what they have begun, and reads its end', async () => {
    const { ended } = await side.things();
    const who = await makeMember(service, { workspace: side.owner.workspace });
    const mcp = new McpClient(service.url, who.key.secret);
    const { id } = await createTask(who.client, { content: 'x' });
    const asked = mcp.call<{ task: TaskBody }>('send_message', { taskId: id, content: 'More.', waitSeconds: 50 });
    await until('it to wait', async () => (await (await fetch(`${service.url}/metrics`)).text()).includes('millwright_event_streams 1\n')); // prettier-ignore
    expect((await change(side.owner.client, who, 'viewer')).status).toBe(200);
    expect((await mcp.call<ErrorBody>('send_message', { taskId: ended, content: 'x' })).body.result.isError).toBe(true);
    expect((await side.owner.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    expect((await asked).body.result.structuredContent.task.status).toBe('cancelled');
  });
});
