// Which pages a task may read that an agent has made: it writes the first message, and can write any address (reference §27).
import { WebRequests } from '../../src/engine/web/web-requests.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { createTask, finished, type TaskBody } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

describe('Addresses in what an agent tells its own tasks (reference §27)', () => {
  const authority = new AuthorityFile();
  let [hosts, model] = [] as unknown as [WebHosts, HeldModel];
  let owner: Member;
  beforeAll(async () => {
    hosts = await WebHosts.start((_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('A page.');
      return true;
    });
    model = await HeldModel.start();
  });
  const service = useService(async () => {
    const booted = await bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: {
        ...{ web: { hosts: [`allowed.test:${hosts.https}`], urls: 'seen' }, titles: false },
        sandbox: { caFile: authority.path },
      },
    });
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    booted.app.get(WebRequests, { strict: false }).egress = new Egress(['127.0.0.1/32'], resolver);
    return booted;
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    hosts.requests.length = 0;
  });
  afterAll(async () => {
    await model.server.stop();
    await hosts.stop();
    authority.remove();
  });

  const at = (rest: string) => `https://allowed.test:${hosts.https}${rest}`;
  const asks = (url: string) => ({ calls: [{ name: 'web_fetch', arguments: { url } }] });
  const done = async () => (await model.asked()).answer({ text: 'Done.' });
  /** What the agent of a task is told that asks for a page next. */
  const told = async (url: string) => {
    (await model.asked()).answer(asks(url));
    const held = await model.asked();
    held.answer({ text: 'Done.' });
    return String(held.request.messages.findLast(({ role }) => role === 'tool')?.content);
  };
  /** Lets a task hand this on, and one made for it ask for an address. */
  const handedOn = async (said: string, content: string, url: string) => {
    const { id } = await createTask(owner.client, { content: said });
    const tasks = [{ title: 'A', content, folder: 'empty' }];
    (await model.asked()).answer({ calls: [{ name: 'delegate', arguments: { tasks } }] });
    const answer = await told(url);
    await done();
    await finished(owner.client, id);
    return { id, answer };
  };

  it('are not read when nobody else has named them, in a fork neither', async () => {
    const { id, answer } = await handedOn('Look around.', `Read ${at('/?key=secret')} now.`, at('/?key=secret'));
    expect(answer).toContain('has not been named by anybody');
    const { body } = await owner.client.get<{ tasks: TaskBody[] }>(`/v1/tasks?parentTaskId=${id}`);
    const fork = await owner.client.post<{ task: TaskBody }>(`/v1/tasks/${body.tasks[0]?.id}/fork`, {
      content: 'Go on.',
    });
    expect(fork.status).toBe(201);
    expect(await told(at('/?key=secret'))).toContain('has not been named by anybody');
    expect(hosts.requests).toEqual([]);
  });

  it('are read when a person has named them to the agent before', async () => {
    const { answer } = await handedOn(`Have ${at('/a')} read.`, `Read ${at('/a')} now.`, at('/a'));
    expect(answer).toContain('A page.');
  });
});
