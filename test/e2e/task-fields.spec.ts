import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createTask } from '../harness/tasks.js';

const pairs = (count: number, key: number, value: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i).padEnd(key, 'k'), 'v'.repeat(value)]));

describe('The limits of a task’s fields (reference §4)', () => {
  let member: Member;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const refusal = async (json: object) => {
    const { status, body } = await member.client.post<ErrorBody>('/v1/tasks', { content: 'x', ...json });
    return [status, body.error.code, body.error.param];
  };

  it('content has 1 to 200,000 characters', async () => {
    await createTask(member.client, { content: 'é'.repeat(200_000) });
    expect(await refusal({ content: 'é'.repeat(200_001) })).toEqual([400, 'invalid_field', 'content']);
  });

  it('title has 1 to 200 characters after trimming, else it is the first line of the content', async () => {
    const title = 't'.repeat(200);
    expect((await createTask(member.client, { content: 'x', title: `  ${title}\n` })).title).toBe(title);
    expect(await refusal({ title: `${title}t` })).toEqual([400, 'invalid_field', 'title']);
    expect((await createTask(member.client, { content: '\n\n  First line \nsecond' })).title).toBe('First line');
  });

  it('metadata has at most 16 pairs, keys of 1 to 64 and values of at most 512 characters', async () => {
    const most = pairs(16, 64, 512);
    expect(await createTask(member.client, { content: 'x', metadata: most })).toMatchObject({ metadata: most });
    const odd = { toString: 'a', hasOwnProperty: 'b', valueOf: 'c', plain: 'd' };
    const { id, ...odds } = await createTask(member.client, { content: 'x', metadata: odd });
    expect(odds).toMatchObject({ metadata: odd });
    const changed = await member.client.request('PATCH', `/v1/tasks/${id}`, {
      json: { metadata: { isPrototypeOf: 'e' } },
    });
    expect(changed.body).toMatchObject({ task: { metadata: { isPrototypeOf: 'e' } } });
    for (const metadata of [pairs(17, 3, 1), pairs(1, 65, 1), pairs(1, 3, 513), { '': 'x' }, { a: null }, ['a']]) {
      expect(await refusal({ metadata })).toEqual([400, 'invalid_field', 'metadata']);
    }
  });

  it.each(['maxSteps', 'maxTokens', 'maxDurationSeconds'])('budget.%s is a positive whole number', async (name) => {
    expect(await createTask(member.client, { content: 'x', budget: { [name]: 1 } })).toMatchObject({
      budget: { [name]: 1 },
    });
    for (const wrong of [0, -1, 1.5, '1', null]) {
      expect(await refusal({ budget: { [name]: wrong } })).toEqual([400, 'invalid_field', `budget.${name}`]);
    }
    expect(await createTask(member.client, { content: 'x' })).toMatchObject({ budget: null });
  });
});
