// Who says what the tasks of all are told (reference §27).
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember } from '../harness/client.js';
import { pushSkill, pushZip, type SkillBody, SKILLS, skillZip } from '../harness/skills.js';

describe('A skill that all tasks have (reference §27)', () => {
  const service = useService();

  it('gets another version from owners and admins alone; the same zip again is none', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const member = await makeMember(service, { workspace: owner.workspace });
    const { id } = await pushSkill(service, member, 'house', 'One.');
    expect((await pushSkill(service, member, 'house', 'Two.')).version).toBe(2);
    const set = (json: object) => owner.client.patch<{ skill: SkillBody }>(`${SKILLS}/${id}`, json);
    expect((await set({ default: true })).body.skill.default).toBe(true);
    const { status, body } = await pushZip<ErrorBody>(service, member, skillZip('house', 'Three.'));
    expect([status, body.error?.code]).toEqual([403, 'role_not_allowed']);
    expect((await pushSkill(service, member, 'house', 'Two.')).version).toBe(2);
    expect((await pushSkill(service, owner, 'house', 'Three.')).version).toBe(3);
    await set({ default: false });
    expect((await pushSkill(service, member, 'house', 'Four.')).version).toBe(4);
  });
});
