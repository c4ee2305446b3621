import { bootWorker, useService } from '../harness/app.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { makeMember, type Member } from '../harness/client.js';
import { PROVIDER_KINDS, type ProviderAnswer, ProviderServer } from '../harness/provider-server.js';
import { ASK, BASH, PATCH, PLAN, WRITE } from '../harness/raw-calls.js';
import { createTask, finished, reaches, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('What a model was once sent it is sent again, byte for byte (reference §15)', () => {
  let provider: ProviderServer;
  let member: Member;

  const service = useService(async () => {
    provider = await ProviderServer.start();
    const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' };
    // That of OpenAI writes patches, as plain text.
    const models = PROVIDER_KINDS.map((kind) => {
      return { id: kind, provider: kind, model: kind === 'openai' ? 'gpt-5.5' : kind, baseUrl: provider.url };
    });
    // A lease that does not run out by itself.
    return bootWorker({ env: { ...keys, LEASE_SECONDS: '600' }, config: { models } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => provider.stop());

  it.each(PROVIDER_KINDS)(
    '%s: after calls, approvals, an answer, a hand-over and a further message',
    async (model) => {
      const { client } = member;
      provider.requests.length = 0;
      let release: (answer: ProviderAnswer) => void = () => undefined;
      const held = () => new Promise<ProviderAnswer>((resolve) => (release = resolve));
      const call = (name: string, args: string, text?: string) => ({
        ...(text === undefined ? {} : { text }),
        calls: [{ name, arguments: args }],
      });
      const write =
        model === 'openai'
          ? { name: 'apply_patch', arguments: PATCH, freeform: true as const }
          : { name: 'write', arguments: WRITE };
      const script = [
        {
          text: 'I begin. ',
          calls: [{ name: 'todo', arguments: PLAN }, write],
        },
        call('bash', BASH),
        call('ask', ASK, 'I ask.'),
        held,
        call('edit', '{"path": "a.txt", "oldText": "B", "newText": "C", "unknown": {"zz": 1, "a": null}}'),
        { text: 'Done.' },
        call('read', '{"path": "a.txt"}'),
        { text: 'Done again.' },
      ];
      provider.script = () => {
        // The request that is held is asked twice: by the worker that lost the run, and by the one that took it over.
        const n = provider.requests.length - 1;
        const answer = n > 3 ? script[n - 1] : script[n];
        return typeof answer === 'function' ? answer() : (answer ?? { text: 'Done.' });
      };

      const { id } = await createTask(client, { content: 'Go.', model, approvals: 'writes' });
      const first = await approvalOf(client, id);
      await answerApproval(client, id, first, { decision: 'approve' });
      const second = await approvalOf(client, id, first);
      await answerApproval(client, id, second, { decision: 'approve', remember: 'task' });
      const asked = (await reaches(client, id, 'awaiting_input')).pendingInteraction;
      const interactionId = asked?.id;
      expect(asked?.type).toBe('choice');
      await client.post(`/v1/tasks/${id}/interaction`, { interactionId, optionIds: ['2'] });
      await until('the request that is held', () => provider.requests.length === 4, { within: 150_000 });
      const late = release;
      await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
      await until('the request of the worker that takes over', () => provider.requests.length === 5, {
        within: 150_000,
      });
      late({ text: 'Too late.' });
      release(call('glob', '{"pattern": "*"}'));
      expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
      await client.post(`/v1/tasks/${id}/messages`, { content: 'Once more.' });
      await until('the second turn to end', () => provider.requests.length === 9, { within: 150_000 });
      expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Done again.' } });

      expect((await readResults(client, id)).map(({ name }) => name)).toEqual([
        ...['todo', write.name, 'bash', 'ask', 'glob', 'edit', 'read'],
      ]);
      const requests = provider.requests.map(({ pieces }) => pieces);
      expect(requests[4]).toEqual(requests[3]);
      for (const [index, pieces] of requests.slice(1).entries()) {
        const before = requests[index] ?? [];
        expect(pieces.slice(0, before.length)).toEqual(before);
      }
      const last = requests.at(-1)?.join('\n') ?? '';
      // The arguments have the order of the model, and what a provider has sealed goes back to it.
      expect(last.replaceAll('\\"', '"')).toContain(JSON.stringify(JSON.parse(ASK)));
      if (model !== 'openai-compatible') expect(last).toContain('sealed');
      if (model !== 'openai') return;
      // The patch goes back as the text that it came as, with its result, which says that the file was made.
      const items = requests.at(-1)?.map((piece) => JSON.parse(piece) as Record<string, string>) ?? [];
      const [patch, result] = ['custom_tool_call', 'custom_tool_call_output'].map((type) =>
        items.filter((item) => item['type'] === type),
      );
      expect(patch).toMatchObject([{ name: 'apply_patch', input: PATCH }]);
      expect(result).toMatchObject([
        { call_id: patch?.[0]?.['call_id'], output: expect.stringContaining('A a.txt') as unknown },
      ]);
      expect((await readResults(client, id)).at(-1)?.output).toContain('A "line".');
    },
    60_000,
  );
});
