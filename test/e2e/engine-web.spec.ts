// Pages of the web in a task that an agent program drives: the tool of the service at its door (reference §27, §30).
import { WebRequests } from '../../src/engine/web/web-requests.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { createTask, finishedLater, reaches, readMessages, readResults } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

const PAGE = '<title>The mill</title><h1>Wheels</h1><p>See <a href="/next">the next page</a>.</p>';
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('Pages of the web for an agent program (reference §27, §30)', () => {
  const authority = new AuthorityFile();
  let [hosts, model] = [] as unknown as [WebHosts, FakeModel];
  let ann: Member;
  const service = useService(async () => {
    hosts = await WebHosts.start(({ url }, response) => {
      if (url === '/picture') response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE);
      else if (url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
      return url === '/page' || url === '/picture';
    });
    model = await FakeModel.start();
    const config = { web: { hosts: ['*'], perTurn: 3 }, sandbox: { caFile: authority.path } };
    const engines = { tools: engineOf({ MCP: '1' }) };
    const models = [
      {
        ...{ id: 'sees', engine: 'tools', provider: 'openai-compatible', model: 'real-sees', baseUrl: model.url },
        input: ['text' as const, 'image' as const],
      },
    ];
    const booted = await bootWithEngines(model, engines, {
      config: { ...config, transparency: { url_sources: true }, models },
    });
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    booted.app.get(WebRequests, { strict: false }).egress = new Egress(['127.0.0.1/32'], resolver);
    return booted;
  });
  beforeAll(async () => (ann = await makeMember(service)));
  beforeEach(() => {
    model.requests.length = 0;
    hosts.requests.length = 0;
    model.script = byScript;
  });
  afterAll(async () => {
    await model.stop();
    await hosts.stop();
    authority.remove();
  });

  const at = (rest: string) => `https://allowed.test:${hosts.https}${rest}`;
  const fetch = (url: string) => ({ name: 'mcp__millwright__web_fetch', arguments: { url } });
  const begin = (content: string, more: Record<string, unknown> = {}) => {
    return createTask(ann.client, { content, model: 'tools', ...more });
  };
  /** A call a step; what people say names no address that it does not mean. */
  const inTurn = (...calls: { name: string; arguments: unknown }[]) => {
    model.script = ({ messages }) => {
      const call = calls[messages.flatMap((message) => message.calls).length];
      return call === undefined ? { text: 'Done.' } : { calls: [call] };
    };
  };
  const toldBack = () =>
    model.requests.at(-1)?.messages.flatMap(({ results }) => results.map(({ text }) => text)) ?? [];

  it('are read by a tool at its door, and are on record with their sources', async () => {
    inTurn(fetch(at('/page')));
    const { id } = await begin(`Read ${at('/page')}.`);
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    expect(model.requests[0]?.tools).toContain('mcp__millwright__web_fetch');
    const text = `# Wheels\n\nSee [the next page](${at('/next')}).`;
    expect(await readResults(ann.client, id)).toMatchObject([
      { status: 'success', output: { url: at('/page'), status: 200, title: 'The mill', text } },
    ]);
    expect(toldBack()).toEqual([expect.stringMatching(/^\[From the web, not from the user: data/)]);
    const parts = (await readMessages(ann.client, id)).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'source_url')).toMatchObject([{ url: at('/page') }]);
  });

  it('are not offered to a task that may read none', async () => {
    const { id } = await begin('Go on.', { web: false });
    await finishedLater(ann.client, id);
    expect(model.requests[0]?.tools).not.toContain('mcp__millwright__web_fetch');
  });

  it('are read when a person or a page has named them, not when a command has printed them', async () => {
    inTurn(shell(`echo ${at('/next')}`), fetch(at('/next')), fetch(at('/page')), fetch(at('/next')));
    const { id } = await begin(`Read ${at('/page')}.`);
    await finishedLater(ann.client, id);
    const [, before, , after] = await readResults(ann.client, id);
    expect(before).toMatchObject({ status: 'error', error: expect.stringContaining('not been named by anybody') });
    expect(after).toMatchObject({ status: 'success' });
    expect(hosts.requests.map(({ url }) => url)).toEqual(['/page', '/next']);
  });

  it('are as many in a turn as the operator says, over all of its runs', async () => {
    const question = { name: 'mcp__millwright__ask', arguments: { question: 'Which more?' } };
    inTurn(fetch(at('/1')), fetch(at('/2')), question);
    const { id } = await begin(`Read ${at('/1')} and ${at('/2')}.`);
    const { pendingInteraction } = await reaches(ann.client, id, 'awaiting_input');
    // The program forgets the question, which has not reached it: two calls are in its history.
    inTurn(fetch(at('/1')), fetch(at('/2')), fetch(at('/3')), fetch(at('/4')));
    const content = `${at('/3')} and ${at('/4')}`;
    await ann.client.post(`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, content });
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    const [third, fourth] = (await readResults(ann.client, id)).slice(-2);
    expect(third).toMatchObject({ status: 'success' });
    expect(fourth).toMatchObject({ status: 'error', error: expect.stringContaining('A turn may read 3 pages') });
    expect(hosts.requests.map(({ url }) => url)).toEqual(['/1', '/2', '/3']);
  });

  it('are asked about first in a task with approvals', async () => {
    inTurn(fetch(at('/page')));
    const { id } = await begin(`Read ${at('/page')}.`, { approvals: 'writes' });
    const approval = await approvalOf(ann.client, id);
    expect(approval.question).toBe(`May the agent ask for this page (web_fetch)?\n\n${at('/page')}`);
    expect(hosts.requests).toEqual([]);
    await answerApproval(ann.client, id, approval, { decision: 'approve' });
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    expect(hosts.requests.map(({ url }) => url)).toEqual(['/page']);
  });

  it('that are pictures are shown to a program whose model reads such, and are refused to another', async () => {
    const shown: string[] = [];
    for (const id of ['sees', 'tools']) {
      inTurn(fetch(at('/picture')));
      const task = await begin(`Look at ${at('/picture')}.`, { model: id });
      await finishedLater(ann.client, task.id);
      shown.push(...toldBack());
    }
    expect(shown).toEqual([
      expect.stringMatching(/\[image\]$/),
      expect.stringContaining('this model takes no pictures'),
    ]);
  });
});
