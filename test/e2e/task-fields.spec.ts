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

  it.each([
    ...['a\nb', 'a\tb', 'a\u001b[31mb', 'a\u007f', 'a\u0085b'],
    ...['a\u2028b', 'a\u202eb', 'a\u2066b', 'a\u200fb', 'a\u061cb', 'a\u200bb', 'a\u2060b', 'a\ufeffb', 'a\u{e0041}'],
  ])('title %j is 400: one line of what is shown', async (title) => {
    expect(await refusal({ title })).toEqual([400, 'invalid_field', 'title']);
    const { id } = await createTask(member.client, { content: 'x' });
    expect((await member.client.patch(`/v1/tasks/${id}`, { title })).status).toBe(400);
  });

  it.each([
    ['a heading', '## Fix it\n', 'Fix it'],
    ['a fence', '```bash\ntrue\n```\nThat was it.', 'true'],
    ['front matter', '---\ntitle: X\ntags: [a]\n---\n\n# Fix it\n', 'Fix it'],
    ['front matter, as Windows ends its lines', '---\r\ntitle: X\r\n---\r\nFix it\r\n', 'Fix it'],
    ['front matter in TOML', '+++\ntitle = "X"\n+++\nFix it', 'Fix it'],
    ['front matter that does not end', '---\ntitle: X', 'title: X'],
    ['front matter alone', '---\ntitle: X\n---\n', 'title: X'],
    ['a rule', '***\nFix it\n===\n', 'Fix it'],
    ['a list', '- one\n- two', 'one'],
    ['control characters', '\u001b[31mFix\u0007\tit\u001b[0m', '[31mFix it [0m'],
    ['hidden characters', '\u202e# \u200bFix\u2066 it\u{e0041}', 'Fix it'],
    ['a hidden line', '\u200b\n\u2060\u200d\nFix it', 'Fix it'],
    ['marks alone', '---\n***\n', 'Task'],
    ['a question mark', '?', '?'],
    ['emphasis and code', '# **Fix** the `foo_bar` of _two_', 'Fix the foo_bar of two'],
    ['a list, a quote, a number', '> 1. Do *this* now', 'Do this now'],
    ['a link and a picture', '![logo](a.png) See [the plan](https://example.com/a_b)', 'logo See the plan'],
    ['signs that mark nothing', 'Set snake_case_name to 2 * 3 & less', 'Set snake_case_name to 2 * 3 & less'],
    ['marks alone', '[a]: https://example.com', '[a]: https://example.com'],
  ])('a title from content with %s', async (_what, content, title) => {
    expect(await createTask(member.client, { content })).toMatchObject({ title });
  });

  it('metadata has at most 16 pairs, keys of 1 to 64 and values of at most 512 characters', async () => {
    const most = pairs(16, 64, 512);
    expect(await createTask(member.client, { content: 'x', metadata: most })).toMatchObject({ metadata: most });
    const odd = { toString: 'a', hasOwnProperty: 'b', valueOf: 'c', plain: 'd' };
    const { id, ...odds } = await createTask(member.client, { content: 'x', metadata: odd });
    expect(odds).toMatchObject({ metadata: odd });
    const changed = await member.client.patch(`/v1/tasks/${id}`, { metadata: { isPrototypeOf: 'e' } });
    expect(changed.body).toMatchObject({ task: { metadata: { isPrototypeOf: 'e' } } });
    for (const metadata of [pairs(17, 3, 1), pairs(1, 65, 1), pairs(1, 3, 513), { '': 'x' }, { a: null }, ['a']]) {
      expect(await refusal({ metadata })).toEqual([400, 'invalid_field', 'metadata']);
    }
  });

  it('tags are at most 16 different ones of 1 to 64 characters each, in one line', async () => {
    const most = Array.from({ length: 16 }, (_, n) => `${n}`.padEnd(64, 't'));
    const { id, ...made } = await createTask(member.client, { content: 'x', tags: ['😀'.repeat(64), 'a b', 'A b'] });
    expect(made).toMatchObject({ tags: ['😀'.repeat(64), 'a b', 'A b'], archived: false });
    const path = `/v1/tasks/${id}`;
    for (const tags of [most, []]) {
      expect((await member.client.patch(path, { tags })).body).toMatchObject({ task: { tags } });
    }
    const wrong = [[...most, 'one more'], ['a', 'a'], [''], ['x'.repeat(65)], [' a'], ['a\nb'], ['a\u202eb'], [1], [null], [['a']], 'a', {}, null];
    for (const tags of wrong) {
      expect([tags, ...(await refusal({ tags }))]).toEqual([tags, 400, 'invalid_field', 'tags']);
      expect((await member.client.patch(path, { tags })).status).toBe(400);
    }
    expect(await refusal({ archived: true })).toEqual([400, 'unknown_field', 'archived']);
    for (const archived of ['true', 1, null]) {
      expect((await member.client.patch(path, { archived })).status).toBe(400);
    }
  }); // prettier-ignore

  it.each([
    ['maxSteps', 1_000_000],
    ['maxTokens', 1_000_000_000_000],
    ['maxDurationSeconds', 31_622_400],
  ])('budget.%s is a whole number from 1 to %d', async (name, most) => {
    for (const right of [1, most]) {
      expect(await createTask(member.client, { content: 'x', budget: { [name]: right } })).toMatchObject({
        budget: { [name]: right },
      });
    }
    for (const wrong of [0, -1, 1.5, '1', most + 1, [], {}]) {
      expect(await refusal({ budget: { [name]: wrong } })).toEqual([400, 'invalid_field', `budget.${name}`]);
    }
    expect(await createTask(member.client, { content: 'x' })).toMatchObject({ budget: null });
  });

  it('a budget that was read can be sent back, as it is, in a create and in a PATCH: null is "not given"', async () => {
    const budget = { maxSteps: 5, maxTokens: null, maxDurationSeconds: null, maxCost: null };
    const made = await createTask(member.client, { content: 'x', budget: { maxSteps: 5 } });
    expect(made).toMatchObject({ budget });
    expect(await createTask(member.client, { content: 'x', budget })).toMatchObject({ budget });
    const changed = await member.client.patch(`/v1/tasks/${made.id}`, { budget });
    expect([changed.status, changed.body]).toMatchObject([200, { task: { budget } }]);
    expect(await service.db.query('SELECT DISTINCT budget FROM tasks WHERE budget @> $1', ['{"maxSteps": 5}'])).toEqual(
      [{ budget: { maxSteps: 5 } }],
    );
  });

  it('budget.maxCost is an amount in USD as text, and refused for a model without prices', async () => {
    const { body } = await member.client.post<ErrorBody>('/v1/tasks', { content: 'x', budget: { maxCost: '0.50' } });
    expect(body.error).toMatchObject({
      code: 'invalid_field',
      param: 'budget.maxCost',
      message: 'budget.maxCost: the model "runbook" has no prices to count by; leave it out, or send null.',
    });
    for (const wrong of [1, '', '-1', '0', '0.0', '1e3', '1.1234567', ' 1', '1,5']) {
      const answer = await member.client.post<ErrorBody>('/v1/tasks', { content: 'x', budget: { maxCost: wrong } });
      expect([wrong, answer.status, answer.body.error.param]).toEqual([wrong, 400, 'budget.maxCost']);
      expect(answer.body.error.message).toMatch(/^budget\.maxCost must be/);
    }
    const made = await createTask(member.client, { content: 'x' });
    const json = { budget: { maxCost: '2' } };
    expect((await member.client.patch(`/v1/tasks/${made.id}`, json)).status).toBe(400);
  });

  it('what a task under way has not read has 1,000,000 characters together; one that is over takes a message all the same', async () => {
    const { id } = await createTask(member.client, { content: 'é'.repeat(200_000) });
    const send = (characters: number, mode?: string) =>
      member.client.post<ErrorBody>(`/v1/tasks/${id}/messages`, { content: 'é'.repeat(characters), mode });
    for (const characters of [200_000, 200_000, 200_000, 199_999]) expect((await send(characters)).status).toBe(202);
    const { status, body } = await send(2, 'steer');
    expect([status, body.error.code, body.error.param]).toEqual([409, 'too_much_unread', 'content']);
    expect((await send(2, 'interrupt')).status).toBe(409);
    expect((await send(1)).status).toBe(202);
    expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    expect((await send(2)).status).toBe(202);
    expect((await send(1)).status).toBe(409);
  });
});
