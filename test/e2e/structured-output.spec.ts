import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { PROVIDER_KINDS, type ProviderAnswer, ProviderServer } from '../harness/provider-server.js';
import { createTask, finished, readMessages, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

type Task = TaskBody & { outputSchema: unknown; result: { text: string | null; output: unknown } | null };

/** In an order that `jsonb` would not keep. */
const outputSchema = {
  type: 'object',
  properties: { reason: { type: 'string' }, n: { type: 'integer' } },
  required: ['reason', 'n'],
  additionalProperties: false,
};
const GOOD = '{"reason": "counted", "n": 3}';
const VALUE = { reason: 'counted', n: 3 };
const run = (json: string) => `\`\`\`bash\ntrue\n\`\`\`\n\n\`\`\`output\n${json}\n\`\`\``;

describe('Tasks that ask for JSON (reference §4, §15)', () => {
  let provider: ProviderServer;
  let member: Member;
  let answers: (ProviderAnswer | (() => Promise<ProviderAnswer>))[];

  const service = useService(async () => {
    provider = await ProviderServer.start();
    provider.script = () => {
      const answer = answers.shift() ?? { text: GOOD };
      return typeof answer === 'function' ? answer() : answer;
    };
    const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };
    const models = PROVIDER_KINDS.map((kind) => ({ id: kind, provider: kind, model: kind, baseUrl: provider.url }));
    const runbook = { id: 'runbook', provider: 'runbook', default: true };
    // A lease that does not run out by itself.
    return bootWorker({ env: { ...keys, LEASE_SECONDS: '600' }, config: { models: [...models, runbook] } });
  });
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
  });
  beforeEach(() => {
    answers = [];
    provider.requests.length = 0;
  });
  afterAll(() => provider.stop());

  const made = (client: Client, body: object) => createTask(client, { outputSchema, ...body }) as Promise<Task>;
  const ended = (id: string) => finished(member.client, id) as Promise<Task>;

  it('have the value in `result.output`, beside the text, of the last turn that was completed', async () => {
    const { client } = member;
    const { id, outputSchema: shown } = await made(client, { content: run(GOOD) });
    expect(JSON.stringify(shown)).toBe(JSON.stringify(outputSchema));
    const first = await ended(id);
    expect(first).toMatchObject({ status: 'completed', result: { output: VALUE } });
    expect(first.result?.text).toContain('counted');
    await client.post(`/v1/tasks/${id}/messages`, { content: run('{"reason": "again", "n": 4}') });
    expect((await ended(id)).result?.output).toEqual({ reason: 'again', n: 4 });
    const { tasks } = (await client.get<{ tasks: Task[] }>('/v1/tasks')).body;
    expect(tasks.find((one) => one.id === id)?.result?.output).toEqual({ reason: 'again', n: 4 });
  });

  it('have it in a fork of the last turn; one of an earlier turn has the text alone, and goes on with the schema', async () => {
    const { client } = member;
    const { id } = await made(client, { content: run(GOOD) });
    await ended(id);
    await client.post(`/v1/tasks/${id}/messages`, { content: run('{"reason": "again", "n": 4}') });
    await ended(id);
    const fork = async (body: object) => (await client.post<{ task: Task }>(`/v1/tasks/${id}/fork`, body)).body.task;
    const last = await fork({});
    expect(last).toMatchObject({ outputSchema, result: { output: { reason: 'again', n: 4 } } });
    const earlier = await fork({ turn: 1 });
    expect(earlier).toMatchObject({ result: { text: expect.stringContaining('counted'), output: null } });
    await client.post(`/v1/tasks/${earlier.id}/messages`, { content: run(GOOD) });
    expect((await ended(earlier.id)).result?.output).toEqual(VALUE);
  });

  it('fail, `output_invalid`, when the answer does not fit after it was mended; a message may bring one that does', async () => {
    const { client } = member;
    const { id } = await made(client, { content: run('{"reason": "none"}') });
    const failed = await ended(id);
    expect(failed).toMatchObject({ status: 'failed', result: null });
    expect(failed.statusReason).toMatchObject({ code: 'output_invalid', retryable: false });
    expect((await readMessages(client, id)).filter(({ role }) => role === 'assistant').length).toBe(3);
    await client.post(`/v1/tasks/${id}/messages`, { content: run(GOOD) });
    expect(await ended(id)).toMatchObject({ status: 'completed', result: { output: VALUE } });
  });

  it('show the value where the policy shows text', async () => {
    const { id } = await made(member.client, { content: run(GOOD) });
    await ended(id);
    const expose = (kinds: string[] | null) => service.app.get(WorkspacesService).expose(member.workspace.id, kinds);
    await expose(['reasoning']);
    expect((await ended(id)).result).toMatchObject({ text: null, output: null });
    await expose(null);
    expect((await ended(id)).result).toMatchObject({ output: VALUE });
  });

  it('take no schema that is none, that is too long, points elsewhere or takes too long, and none as null', async () => {
    const refused = async (schema: unknown) => {
      const { status, body } = await member.client.post<ErrorBody>('/v1/tasks', { content: 'x', outputSchema: schema });
      return `${status} ${body.error.code} ${body.error.param} ${body.error.message}`;
    };
    for (const [schema, why] of [
      [[], /an object/],
      ['{}', /an object/],
      [true, /an object/],
      [{ description: 'é'.repeat(8_192) }, /16384 bytes/],
      [{ $ref: 'https://example.test/schema.json' }, /begin with "#"/],
      [{ properties: { a: { $dynamicRef: 'other.json#/a' } } }, /begin with "#"/],
      [{ type: 'text' }, /no JSON Schema/],
      [{ pattern: '^(a|a)*$' }, /longer than 100 ms/],
    ] as const) {
      expect(await refused(schema)).toMatch(/^400 invalid_field outputSchema outputSchema /);
      expect(await refused(schema)).toMatch(why);
    }
    expect(await made(member.client, { content: 'x', outputSchema: null })).toMatchObject({ outputSchema: null });
  });

  it.each(PROVIDER_KINDS)(
    '%s: with calls, a round that mends, a hand-over in it and a further turn, each request begins with the one before',
    async (model) => {
      const { client } = member;
      let release: (answer: ProviderAnswer) => void = () => undefined;
      const held = () => new Promise<ProviderAnswer>((resolve) => (release = resolve));
      const glob = { text: 'I look.', calls: [{ name: 'glob', arguments: '{"pattern": "*"}' }] };
      answers = [glob, { text: `Here it is:\n\n\`\`\`json\n{"n": "3"}\n\`\`\`` }, held, held];
      const { id } = await made(client, { content: 'Count.', model });
      await until('the request that mends', () => provider.requests.length === 3, { within: 150_000 });
      const late = release;
      await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
      await until('that of the worker that takes over', () => provider.requests.length === 4, { within: 150_000 });
      late({ text: GOOD });
      release({ text: `\`\`\`json\n${GOOD}\n\`\`\`` });
      expect(await ended(id)).toMatchObject({ status: 'completed', result: { output: VALUE } });
      await client.post(`/v1/tasks/${id}/messages`, { content: 'Once more.' });
      expect(await ended(id)).toMatchObject({ status: 'completed', result: { text: GOOD, output: VALUE } });

      const requests = provider.requests.map(({ pieces }) => pieces);
      expect(requests[3]).toEqual(requests[2]);
      for (const [index, pieces] of requests.slice(1).entries()) {
        const before = requests[index] ?? [];
        expect(pieces.slice(0, before.length)).toEqual(before);
      }
      expect(requests[2]?.at(-1)).toContain('/n must be integer');
      // Once in the instructions, with its keys in the order that was given.
      const written = JSON.stringify(JSON.stringify(outputSchema)).slice(1, -1);
      expect(provider.requests.map(({ sent }) => sent.split(written).length)).toEqual([2, 2, 2, 2, 2]);
    },
    60_000,
  );
});
