// What an agent names stays there for as long as new tasks may have it (reference §27.5).
import { changeAgent, createAgent } from '../harness/agents.js';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { pushSkill } from '../harness/skills.js';

describe('What an agent names (reference §27.5)', () => {
  let owner: Member;
  let member: Member;
  const service = useService();
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    member = await makeMember(service, { workspace: owner.workspace });
  });

  const deleted = (path: string) => owner.client.delete<ErrorBody | null>(path);
  const code = ({ status, body }: { status: number; body: ErrorBody | null }) => [status, body?.error.code];

  it('an environment is not deleted while an agent that is not archived names it, in a channel too', async () => {
    const environment = { slug: 'node', setup: ['true'] };
    expect((await owner.client.post('/v1/environments', environment)).status).toBe(201);
    const { slug } = await createAgent(owner.client, { environment: 'node', channels: { stable: 1 } });
    const inUse = await deleted('/v1/environments/node');
    expect(code(inUse)).toEqual([409, 'environment_in_use']);
    expect(inUse.body?.error.message).toContain(slug);
    await changeAgent(owner.client, slug, { environment: null });
    expect(code(await deleted('/v1/environments/node'))).toEqual([409, 'environment_in_use']);
    await changeAgent(owner.client, slug, { channels: {} });
    expect((await deleted('/v1/environments/node')).status).toBe(200);
  });

  it('an agent comes back, and a channel names a version, only when what they name is there', async () => {
    const { id } = await pushSkill(service, owner, 'notes');
    const { slug } = await createAgent(owner.client, { skills: ['notes'] });
    await changeAgent(owner.client, slug, { skills: [] });
    await changeAgent(owner.client, slug, { archived: true });
    expect((await deleted(`/v1/skills/${id}`)).status).toBe(200);
    const change = (json: object) => owner.client.patch<ErrorBody>(`/v1/agents/${slug}`, { version: 2, ...json });
    const both = await change({ archived: false, channels: { old: 1 } });
    expect([both.status, both.body.error.param]).toEqual([404, 'skills[0]']);
    expect((await change({ archived: false })).status).toBe(200);
    expect((await change({ channels: { old: 1 } })).status).toBe(404);
  });

  it('a skill that there is not is 404 beside an agent that has others', async () => {
    await pushSkill(service, owner, 'notes');
    const { slug } = await createAgent(owner.client, { skills: ['notes'] });
    const asked = { content: 'Look.', agent: slug, skills: ['other'] };
    const { status, body } = await member.client.post<ErrorBody>('/v1/tasks', asked);
    expect([status, body.error.param]).toEqual([404, 'skills[0]']);
  });
});
