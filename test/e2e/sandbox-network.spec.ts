import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { plan, runs } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { type Answer, ModelServer, stepOf } from '../harness/model-server.js';
import { call, createTask, finished, readResults } from '../harness/tasks.js';
import { resolverOf, WebHosts } from '../harness/web-hosts.js';

/** What a command of each task prints: its proxy, and what a host says. */
const LOOK = 'echo "proxy: ${https_proxy:-none}"; curl -sS -m 20 http://allowed.test:PORT/ 2>&1; true';

describe('With hosts that commands may reach (reference §15, §16)', () => {
  let model: ModelServer;
  let hosts: WebHosts;
  let member: Member;
  /** Answers that come before the usual ones. */
  const elsewhere: Answer[] = [];
  const service = useService(async () => {
    hosts = await WebHosts.start();
    const command = LOOK.replace('PORT', String(hosts.http));
    model = await ModelServer.start((request) => {
      const usual = stepOf(request) === 0 ? { calls: [{ name: 'bash', arguments: { command } }] } : { text: 'Seen.' };
      return elsewhere.shift() ?? usual;
    });
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url, OPENAI_COMPATIBLE_KEY: 'key' },
      config: { sandbox: { network: 'allow', allowHosts: [`allowed.test:${hosts.http}`, '*.npmjs.org'] } },
    });
  });
  beforeAll(async () => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    member = await makeMember(service);
  });
  afterAll(async () => {
    await model.stop();
    await hosts.stop();
  });

  /** What the commands of a task printed, and what its model was told before. */
  const seen = async (id: string) => {
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
    const results = await readResults(member.client, id);
    return JSON.stringify(results.map((part) => (part as { output?: unknown }).output));
  };
  const told = () => model.requests.at(-1)?.surroundings ?? '';
  const born = async (automationId: string) => {
    const [run] = await runs(service.db, automationId);
    expect(run).toMatchObject({ status: 'started' });
    return run?.taskId ?? '';
  };

  it('a task of the API reaches them, and its model is told which there are', async () => {
    const { id } = await createTask(member.client, { content: 'Look.' });
    expect(await seen(id)).toContain(`GET allowed.test:${hosts.http} /`);
    expect(told()).toContain(
      `network: HTTP and HTTPS to allowed.test:${hosts.http}, *.npmjs.org alone, by the proxy in https_proxy, which answers 403 for others`,
    );
  });

  it('a task shows what its commands may reach, and which hosts they were refused', async () => {
    const curl = (host: string) => call('bash', { command: `curl -sS http://${host}/` });
    const steps = ['elsewhere.test', 'other.test', 'elsewhere.test'].map(curl);
    elsewhere.push(...steps, { text: 'Seen.' });
    const { id } = await createTask(member.client, { content: 'Look elsewhere.' });
    const task = await finished(member.client, id);
    const allowed = [`allowed.test:${hosts.http}`, '*.npmjs.org'];
    expect(task.network).toEqual({ hosts: allowed, refused: ['elsewhere.test', 'other.test'] });
    const { body } = await member.client.get<{ events: { type: string; data: { changed?: string[] } }[] }>(
      `/v1/tasks/${id}/events?types=task.updated`,
    );
    expect(body.events.map(({ data }) => data.changed)).toEqual([['network'], ['network']]);
  });

  it('so does a task that a schedule began', async () => {
    const id = await born(await plan(service.db, member, { content: 'Look.' }));
    expect(await seen(id)).toContain(`GET allowed.test:${hosts.http} /`);
  });

  it('a task that an event began has no network, nor has its next turn, and nobody says that it has', async () => {
    const { id: connectionId, path, secret } = await connect(service, member);
    const given = { connectionId, triggerEvent: 'github.push', content: 'Look.' };
    const automation = await plan(service.db, member, given);
    const before = hosts.requests.length;
    expect((await deliver(service, path, github(secret))).status).toBe(200);
    const id = await born(automation);
    expect(await seen(id)).toContain('proxy: none');
    expect(told()).toContain('; no network. ');
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content: 'Look again.' })).status).toBe(202);
    expect(await seen(id)).not.toContain('127.0.0.1');
    // The run that tells what began it goes with its automation.
    expect((await member.client.delete(`/v1/automations/${automation}`)).status).toBeLessThan(300);
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content: 'And again.' })).status).toBe(202);
    const all = await seen(id);
    expect(all.match(/proxy: none/g)?.length).toBeGreaterThanOrEqual(3);
    expect(hosts.requests.length).toBe(before);
  });
});
