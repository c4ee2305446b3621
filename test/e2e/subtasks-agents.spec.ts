// Which agent a task of a task has, and that it may do no more with it than its parent (reference §27.3, docs/decisions/0106).
import { changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { pushSkill } from '../harness/skills.js';
import { type ChildTask, delegate, DONE, part, SubtaskBench } from '../harness/subtasks.js';
import { script } from '../harness/tasks.js';

type Task = ChildTask & Record<string, unknown>;

describe('The agents of tasks of tasks (reference §27.3)', () => {
  let model: ModelServer;
  let bench: SubtaskBench;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        titles: false,
        models: [
          { id: 'usual', provider: 'openai-compatible' },
          { id: 'other', provider: 'openai-compatible' },
        ],
      },
    });
  });
  beforeEach(async () => {
    // An owner: who may widen for a task of his own lets no agent widen.
    bench = new SubtaskBench(await makeMember(service, { role: 'owner' }));
    model.requests.length = 0;
  });
  afterAll(() => model.stop());

  const made = async (parts: object[], more: Record<string, unknown> = {}) => {
    const parent = await bench.run([delegate(...parts)], more);
    return { id: parent.id, tasks: (await bench.childrenOf(parent.id)) as Task[] };
  };
  const only = async (one: object, more: Record<string, unknown> = {}) => (await made([one], more)).tasks[0];
  /** The first request of the task of this title. What its parents were told has its text, too, and more. */
  const requestOf = (title: string) => {
    const asked = model.requests.map(({ body }) => ({ body, told: JSON.stringify(body.messages.at(-1)) }));
    const [found] = asked
      .filter(({ told }) => told.startsWith('{"role":"user"') && told.includes(`${title} is done.`))
      .sort((one, other) => one.told.length - other.told.length);
    if (found === undefined) throw new Error(`No request of ${title}.`);
    return found.body;
  };
  const toolsOf = (title: string) => (requestOf(title).tools ?? []).map((tool) => tool.function.name);

  it('without a name a task has the agent of its parent, or none as that, whatever the default is', async () => {
    await createAgent(bench.client, { slug: 'lead', instructions: 'Lead the way.' });
    await createAgent(bench.client, { slug: 'usual', instructions: 'As usual.' });
    await changeAgent(bench.client, 'usual', { default: true });
    expect(await only(part('A'), { agent: 'lead' })).toMatchObject({ agent: { slug: 'lead', version: 1 } });
    expect(requestOf('A').messages[0]?.content).toContain('Lead the way.');
    expect(await only(part('B'), { agent: null })).toMatchObject({ agent: null });
  });

  it('a name is its newest version, a version or a channel, and the task says which it was', async () => {
    await createAgent(bench.client, { slug: 'lead', instructions: 'Lead the way.' });
    await createAgent(bench.client, { instructions: 'Number one.', channels: { stable: 1 } });
    await changeAgent(bench.client, 'reviewer', { instructions: 'Number two.' });
    const named = ['reviewer', 'reviewer@1', 'reviewer@stable'].map((agent, at) => part(`Part ${at}`, [], { agent }));
    const { tasks } = await made([...named, part('Part 3')], { agent: 'lead' });
    expect(tasks.map(({ agent }) => agent)).toEqual([
      { slug: 'reviewer', version: 2 },
      { slug: 'reviewer', version: 1 },
      { slug: 'reviewer', version: 1 },
      { slug: 'lead', version: 1 },
    ]);
    const told = [0, 1, 2, 3].map((at) => requestOf(`Part ${at}`).messages[0]?.content);
    expect(told).toEqual(['Number two.', 'Number one.', 'Number one.', 'Lead the way.'].map((text): unknown => expect.stringContaining(text))); // prettier-ignore
    expect(told[0]).not.toContain('Lead the way.');
  });

  it('the agent says the model, the schema, the tags and the metadata that nobody else says', async () => {
    const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    await createAgent(bench.client, { model: 'other', outputSchema, tags: ['review'], metadata: { team: 'core' } });
    const content = script({ text: '{"ok":true}' });
    const { id, tasks } = await made(
      [
        part('A', [], { content, agent: 'reviewer' }),
        part('B', [], { content, agent: 'reviewer', model: 'usual' }),
        part('C'),
      ],
      { model: 'usual' },
    );
    const says = { outputSchema, tags: ['review'], metadata: { team: 'core' } };
    expect(tasks).toMatchObject([
      { model: 'other', ...says },
      { model: 'usual', ...says },
      { model: 'usual', outputSchema: null, tags: [], metadata: {} },
    ]);
    expect((await bench.told(id)).map(({ output }) => output)).toEqual([{ ok: true }, { ok: true }, null]);
  });

  it.each([
    ['none', 'writes', 'writes'],
    ['writes', 'secrets', 'writes'],
    ['secrets', 'none', 'secrets'],
    ['none', 'none', 'none'],
  ])('of approvals the stricter counts: %s of the parent and %s of the agent are %s', async (own, says, both) => {
    await createAgent(bench.client, { approvals: says });
    expect(await only(part('A', [], { agent: 'reviewer' }), { approvals: own })).toMatchObject({ approvals: both });
  });

  it.each([
    [true, null, true],
    [true, false, false],
    [false, true, false],
  ])('the web is there when both have it: %j of the parent and %j of the agent are %j', async (own, says, both) => {
    await createAgent(bench.client, { web: says });
    expect(await only(part('A', [], { agent: 'reviewer' }), { web: own })).toMatchObject({ web: both });
  });

  it('a budget of the agent makes the share smaller, and never larger', async () => {
    await createAgent(bench.client, { slug: 'small', budget: { maxSteps: 3, maxDurationSeconds: 60 } });
    await createAgent(bench.client, { slug: 'large', budget: { maxSteps: 900, maxDurationSeconds: 9000 } });
    const of = (agent: string, maxSteps?: number) => part(agent, [], { agent, ...(maxSteps && { maxSteps }) });
    const parts = [of('small'), of('large'), of('small', 8), of('large', 8)];
    const limits = ({ tasks }: { tasks: Task[] }) =>
      tasks.map(({ budget }) => [Number(budget?.['maxSteps']), Number(budget?.['maxDurationSeconds'])]);
    // 80 steps are left; half of them are for four tasks.
    const withBudget = await made(parts, { budget: { maxSteps: 81, maxDurationSeconds: 5000 } });
    expect(limits(withBudget).map(([steps]) => steps)).toEqual([3, 10, 3, 8]);
    expect(limits(withBudget).map(([, seconds = 0]) => (seconds > 60 ? seconds <= 5000 : seconds))).toEqual([60, true, 60, true]); // prettier-ignore
    const query = 'SELECT reserved_steps AS n FROM task_children WHERE parent_id = $1 ORDER BY number';
    const shares = await service.db.query(query, [withBudget.id]);
    expect(shares).toEqual([{ n: 3 }, { n: 10 }, { n: 3 }, { n: 8 }]);
    expect(limits(await made(parts))).toEqual([[3, 60], [900, 9000], [3, 60], [8, 9000]]); // prettier-ignore
  });

  it('tools that an agent above does not have no agent below has, two levels down', async () => {
    await createAgent(bench.client, { slug: 'lead', tools: { deny: ['web_fetch', 'bash'] } });
    await createAgent(bench.client, { slug: 'second', tools: { deny: ['write'] } });
    await createAgent(bench.client, { slug: 'third', tools: { deny: ['edit', 'bash'] } });
    await createAgent(bench.client, { slug: 'free' });
    const inner = delegate(part('C', [], { agent: 'third' }), part('D'));
    const b = { title: 'B', content: script(inner, DONE), folder: 'empty', agent: 'second' };
    await made([part('A', [], { agent: 'free' }), b], { agent: 'lead' });
    const has = (title: string) => ['bash', 'write', 'edit', 'read'].filter((name) => toolsOf(title).includes(name));
    expect(has('A')).toEqual(['write', 'edit', 'read']);
    expect(has('C')).toEqual(['read']);
    expect(has('D')).toEqual(['edit', 'read']);
  });

  it('of skills it has those of its parent that the agent names too', async () => {
    for (const name of ['one', 'two', 'three']) await pushSkill(service, bench.member, name);
    await createAgent(bench.client, { slug: 'some', skills: ['two', 'three'] });
    await createAgent(bench.client, { slug: 'silent' });
    const { tasks } = await made([part('A', [], { agent: 'some' }), part('B', [], { agent: 'silent' })], {
      skills: ['one', 'two'],
    });
    const names = tasks.map(({ skills }) => (skills as { name: string }[]).map(({ name }) => name));
    expect(names).toEqual([['two'], ['one', 'two']]);
  });

  it.each([
    ['there-is-none', 'There is no agent "there-is-none". There are: reviewer.'],
    ['theirs', 'There is no agent "theirs". There are: reviewer.'],
    ['No slug', 'There is no agent "No slug". There are: reviewer.'],
    ['reviewer@2', 'The agent reviewer has no such version or channel: "reviewer@2".'],
    ['reviewer@beta', 'The agent reviewer has no such version or channel: "reviewer@beta".'],
    ['gone', 'The agent gone is archived and takes no new task.'],
    ['gone@1', 'The agent gone is archived and takes no new task.'],
  ])('%s is an error of the call that says where, and nothing is made', async (agent, sentence) => {
    const stranger = await makeMember(service, { role: 'owner' });
    await createAgent(stranger.client, { slug: 'theirs' });
    await createAgent(bench.client);
    await createAgent(bench.client, { slug: 'gone' });
    await changeAgent(bench.client, 'gone', { archived: true });
    const { id, tasks } = await made([part('A', [], { agent: 'reviewer' }), part('B', [], { agent })]);
    expect(await bench.results(id)).toMatchObject([{ status: 'error', error: `tasks[1].agent: ${sentence}` }]);
    expect(tasks).toEqual([]);
    expect(await bench.read(id)).toMatchObject({ status: 'completed', children: { tasks: 0 } });
  });
});
