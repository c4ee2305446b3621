import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation, type RunBody } from '../harness/automation-requests.js';
import { makeDue, runs } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { createEnvironment } from '../harness/environments.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { createSecret } from '../harness/secrets.js';
import { createTask, finished, readResults, readTask } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

type Automation = Awaited<ReturnType<typeof createAutomation>> & { secrets: string[] | null };

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
/** What a command prints that has neither network nor secrets. */
const NOTHING = 'none none none\n';
const LOOK = 'echo "${https_proxy:-none} ${TOKEN:-none} ${OTHER:-none}"';

describe('Secrets of an automation (reference §12, §24)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  let asked: string[];
  const service = useService(async () => {
    hosts = await WebHosts.start();
    model = await HeldModel.start();
    const allowHosts = ['allowed.test', '*.wild.test'].map((host) => `${host}:${hosts.https}`);
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts: [...allowHosts, `allowed.test:${hosts.http}`], caFile: authority.path } }, // prettier-ignore
    });
  });
  beforeAll(() => {
    const names = ['allowed.test', 'a.wild.test', 'b.wild.test', 'c.b.wild.test'].map((name) => [name, ['127.0.0.1']]);
    const { resolver, asked: lookups } = resolverOf(Object.fromEntries(names) as Record<string, string[]>);
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    asked = lookups;
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.server.stop();
    await hosts.stop();
    authority.remove();
  });

  const bound = (host: string) => [{ host, port: hosts.https, place: { header: 'Authorization' } }];
  const secret = (name: string, host = 'allowed.test') =>
    createSecret(owner.client, { name, value: `${VALUE}-${name}`, bindings: bound(host) });
  const ask = (host: string, path = '/', more = '-H "Authorization: Bearer $TOKEN"') =>
    `curl -sS -m 20 ${more} https://${host}:${hosts.https}${path} 2>&1; true`;
  const make = async (given: object) =>
    (await createAutomation(owner, { cron: undefined, triggerEvent: 'github.push', ...given })) as Automation;
  /** The task of the next run of an automation. */
  const taskOf = async ({ id }: { id: string }, count: number) => {
    const all = await runs(service.db, id, count);
    expect(all.at(-1)).toMatchObject({ status: 'started' });
    return all.at(-1)?.taskId ?? '';
  };
  /** An automation on an event, and what brings it one: each time the id of the task that it begins. */
  const onEvent = async (given: object) => {
    const { path, secret: key } = await connect(service, owner);
    const automation = await make(given);
    let events = 0;
    const fire = async () => {
      expect((await deliver(service, path, github(key))).status).toBe(200);
      return taskOf(automation, (events += 1));
    };
    return { automation, fire };
  };
  /** Lets a task run commands in steps, and resolves with what they printed in this turn, and with what its model was told before them. */
  const work = async (id: string, steps: string[][], act: (step: number) => unknown = () => undefined) => {
    const before = (await readResults(owner.client, id)).length;
    let told = '';
    for (const [n, commands] of steps.entries()) {
      const held = await model.asked();
      told ||= model.server.requests.at(-1)?.surroundings ?? '';
      await act(n);
      held.answer(bash(...commands));
    }
    (await model.asked()).answer({ text: 'Done.' });
    const task = await finished(owner.client, id);
    expect(task.status).toBe('completed');
    const parts = (await readResults(owner.client, id)).slice(before);
    return { task, told, outputs: parts.map(({ output }) => (output as { stdout: string }).stdout) };
  };
  const say = (id: string) => owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Once more.' });

  describe('A task that an event began', () => {
    it('has those that its automation names: their values arrive, and inside is a placeholder', async () => {
      const { id: secretId } = await secret('TOKEN');
      const { fire } = await onEvent({ secrets: ['TOKEN'] });
      const id = await fire();
      const { task, outputs, told } = await work(id, [['echo $TOKEN', ask('allowed.test', '/a')]]);
      expect(outputs[0]).toMatch(/^mwsec_[A-Za-z0-9]{24}\n$/);
      expect(outputs[1]).toBe(`GET allowed.test:${hosts.https} /a 0\n`);
      expect(hosts.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}-TOKEN`);
      expect(told).toContain(`network: HTTP and HTTPS to allowed.test:${hosts.https} alone, by the proxy`);
      expect(told).toContain('- TOKEN in $TOKEN, for allowed.test');
      expect(task.network).toEqual({ hosts: [`allowed.test:${hosts.https}`], refused: [] });
      const uses = await owner.client.get<{ uses: object[] }>(`/v1/tasks/${id}/secrets`);
      expect(uses.body.uses).toEqual([expect.objectContaining({ secretId, host: 'allowed.test', requests: 1 })]);
      const network = await owner.client.get<{ hosts: object[] }>(`/v1/tasks/${id}/network`);
      expect(network.body.hosts).toEqual([expect.objectContaining({ host: 'allowed.test', port: hosts.https, connections: 1, refused: 0 })]); // prettier-ignore
    });

    it('reaches no other host and port, whatever the operator allows, and is told why', async () => {
      await secret('TOKEN');
      const { fire } = await onEvent({ secrets: ['TOKEN'] });
      const id = await fire();
      const [before, names] = [hosts.requests.length, asked.length];
      const plain = `curl -sS -m 20 http://allowed.test:${hosts.http}/; true`;
      const { task, outputs } = await work(id, [[ask('a.wild.test'), plain, ask('elsewhere.test')]]);
      expect(outputs[1]).toContain(`allowed.test:${hosts.http} is no host that a secret of this task is bound to`);
      expect(hosts.requests).toHaveLength(before);
      expect(asked).toHaveLength(names);
      expect(task.network?.refused).toEqual(['a.wild.test', 'allowed.test', 'elsewhere.test']);
      const { body } = await owner.client.get<{ hosts: { host: string; refusedFor: string }[] }>(`/v1/tasks/${id}/network`); // prettier-ignore
      expect(body.hosts.map(({ host, refusedFor }) => [host, refusedFor])).toEqual([['a.wild.test', 'host_not_bound'], ['allowed.test', 'host_not_bound'], ['elsewhere.test', 'host_not_bound']]); // prettier-ignore
      const told = JSON.stringify(model.server.requests.at(-1)?.body);
      expect(told).toContain(`a.wild.test:${hosts.https} is no host that a secret of this task is bound to, and no other may be reached from here.`); // prettier-ignore
    });

    it('reaches one label below a binding with a star, and no two', async () => {
      await secret('TOKEN', '*.wild.test');
      const { fire } = await onEvent({ secrets: ['TOKEN'] });
      const { outputs, told } = await work(await fire(), [[ask('a.wild.test'), ask('c.b.wild.test')]]);
      expect(outputs[0]).toBe(`GET a.wild.test:${hosts.https} / 0\n`);
      expect(outputs[1]).not.toContain('GET');
      expect(hosts.requests.at(-1)).toMatchObject({ host: `a.wild.test:${hosts.https}` });
      expect(told).toContain(`HTTPS to *.wild.test:${hosts.https} alone`);
    });

    it.each([
      ['names none', {}],
      ['names null', { secrets: null }],
      ['has an empty list', { secrets: [] }],
      ['names what is not there', { secrets: ['ABSENT'] }],
    ])('has neither secrets nor a network where its automation %s', async (_, given) => {
      await secret('TOKEN');
      const { fire } = await onEvent(given);
      const { task, outputs, told } = await work(await fire(), [[LOOK]]);
      expect(outputs).toEqual([NOTHING]);
      expect(told).toContain('; no network. ');
      expect(told).not.toContain('TOKEN');
      expect(task.network).toBeNull();
    });

    it('has none that its automation does not name, and does not reach its host', async () => {
      await secret('TOKEN');
      await secret('OTHER', 'a.wild.test');
      const { fire } = await onEvent({ secrets: ['TOKEN'] });
      const { outputs, told } = await work(await fire(), [['echo "${OTHER:-none}"', ask('a.wild.test')]]);
      expect(outputs[0]).toBe('none\n');
      expect(outputs[1]).not.toContain('GET');
      expect(told).not.toContain('OTHER');
    });

    it('has in an environment those that both name, at hosts that it allows', async () => {
      for (const name of ['TOKEN', 'OTHER', 'THIRD'])
        await secret(name, name === 'TOKEN' ? '*.wild.test' : 'allowed.test');
      const allowHosts = [`a.wild.test:${hosts.https}`];
      await createEnvironment(owner.client, { slug: 'ci', allowHosts, secrets: ['TOKEN', 'THIRD'] });
      const { automation, fire } = await onEvent({ secrets: ['TOKEN', 'OTHER'], environment: 'ci' });
      const steps = [['echo "${TOKEN%%_*} ${OTHER:-none} ${THIRD:-none}"', ...['a.wild.test', 'b.wild.test', 'allowed.test'].map((host) => ask(host))]]; // prettier-ignore
      const { task, outputs } = await work(await fire(), steps);
      expect(outputs[0]).toBe('mwsec none none\n');
      expect(outputs.slice(1).map((text) => text.startsWith('GET'))).toEqual([true, false, false]);
      expect(task.network).toEqual({ hosts: allowHosts, refused: ['allowed.test', 'b.wild.test'] });
      await owner.client.patch(`${AUTOMATIONS}/${automation.id}`, { secrets: ['THIRD'] });
      expect((await work(await fire(), [['echo "${https_proxy:-none} ${THIRD:-none}"']])).outputs).toEqual([
        'none none\n',
      ]);
    });

    it('does not reach a host any more that its secrets are not bound to by now, or whose secret is deleted', async () => {
      const one = await secret('TOKEN');
      const other = await secret('OTHER', 'a.wild.test');
      const { fire } = await onEvent({ secrets: ['TOKEN', 'OTHER'] });
      const all = ['allowed.test', 'a.wild.test', 'b.wild.test'].map((host) => ask(host, '/', ''));
      const acts = [
        () => null,
        () => owner.client.delete(`/v1/secrets/${one.id}`),
        () => owner.client.patch(`/v1/secrets/${other.id}`, { bindings: bound('b.wild.test') }),
      ];
      const { outputs } = await work(await fire(), [all, all, all], async (step) => {
        expect((await acts[step]?.())?.status ?? 200).toBe(200);
      });
      const reached = outputs.map((text) => (text.startsWith('GET') ? 1 : 0));
      expect(reached).toEqual([...[1, 1, 0], ...[0, 1, 0], ...[0, 0, 1]]);
    });

    it('has in its next turn what its automation names by then, and nothing when that is deleted', async () => {
      await secret('TOKEN');
      const { automation, fire } = await onEvent({ secrets: ['TOKEN'] });
      const id = await fire();
      await work(id, [[LOOK]]);
      expect((await owner.client.patch(`${AUTOMATIONS}/${automation.id}`, { secrets: null })).status).toBe(200);
      await say(id);
      expect((await work(id, [[LOOK]])).outputs).toEqual([NOTHING]);
      await owner.client.patch(`${AUTOMATIONS}/${automation.id}`, { secrets: ['TOKEN'] });
      await say(id);
      expect((await work(id, [['echo ${TOKEN%%_*}']])).outputs).toEqual(['mwsec\n']);
      await owner.client.delete(`${AUTOMATIONS}/${automation.id}`);
      await say(id);
      expect((await work(id, [[LOOK]])).outputs).toEqual([NOTHING]);
    });

    it('has forks that have neither secrets nor a network', async () => {
      await secret('TOKEN');
      const { fire } = await onEvent({ secrets: ['TOKEN'] });
      const id = await fire();
      await work(id, [[LOOK]]);
      const { status, body } = await owner.client.post<{ task: { id: string } }>(`/v1/tasks/${id}/fork`, { content: 'Go on.' }); // prettier-ignore
      expect(status).toBe(201);
      expect((await work(body.task.id, [[LOOK]])).outputs.at(-1)).toBe(NOTHING);
    });
  });

  it('A list holds for the tasks of a schedule, which reach what the operator allows, and for those of runs by hand', async () => {
    await secret('TOKEN');
    await secret('OTHER');
    const both = ['echo "${TOKEN%%_*} ${OTHER:-none}"', ask('a.wild.test')];
    const plain = await make({ triggerEvent: undefined, cron: '0 0 1 1 *', secrets: ['TOKEN'] });
    await makeDue(service.db, plain.id);
    const { outputs } = await work(await taskOf(plain, 1), [both]);
    expect(outputs).toEqual(['mwsec none\n', `GET a.wild.test:${hosts.https} / 0\n`]);
    const { automation } = await onEvent({ secrets: ['TOKEN'] });
    const { body } = await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${automation.id}/run`);
    expect((await work(body.run.taskId ?? '', [both])).outputs).toEqual(outputs);
    const none = await make({ triggerEvent: undefined, cron: '0 0 1 1 *', secrets: [] });
    const run = await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${none.id}/run`);
    expect((await work(run.body.run.taskId ?? '', [['echo "${TOKEN:-none}"', both[1] ?? '']])).outputs).toEqual(['none\n', outputs[1]]); // prettier-ignore
  });

  it('Without one the tasks of a schedule have what a task of the API has', async () => {
    await secret('TOKEN');
    const automation = await make({ triggerEvent: undefined, cron: '0 0 1 1 *' });
    const { body } = await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${automation.id}/run`);
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    // The two ask their models in any order.
    for (let n = 0; n < 2; n++) (await model.asked()).answer(bash('echo ${TOKEN%%_*}'));
    for (let n = 0; n < 2; n++) (await model.asked()).answer({ text: 'Done.' });
    for (const task of [id, body.run.taskId ?? '']) {
      await finished(owner.client, task);
      expect(await readResults(owner.client, task)).toMatchObject([{ output: { stdout: 'mwsec\n' } }]);
    }
    expect(await readTask(owner.client, id)).toMatchObject({ network: { refused: [] } });
  });

  it('A change holds for the next task', async () => {
    await secret('TOKEN');
    await secret('OTHER');
    const { automation, fire } = await onEvent({ secrets: ['TOKEN'] });
    const both = 'echo "${TOKEN%%_*} ${OTHER%%_*}"';
    expect((await work(await fire(), [[both]])).outputs).toEqual(['mwsec \n']);
    const { status, body } = await owner.client.patch<{ automation: Automation }>(`${AUTOMATIONS}/${automation.id}`, { secrets: ['OTHER'] }); // prettier-ignore
    expect([status, body.automation.secrets]).toEqual([200, ['OTHER']]);
    expect((await work(await fire(), [[both]])).outputs).toEqual([' mwsec\n']);
  });

  it('A list is kept as given, null clears it, and a dry run shows it', async () => {
    const cron = '0 0 1 1 *';
    const given = { triggerEvent: undefined, cron };
    expect((await make(given)).secrets).toBeNull();
    const { id, secrets } = await make({ ...given, secrets: ['B', 'A_2'] });
    expect(secrets).toEqual(['B', 'A_2']);
    const change = async (json: object) =>
      (await owner.client.patch<{ automation: Automation }>(`${AUTOMATIONS}/${id}`, json)).body.automation.secrets;
    expect(await change({ name: 'Another' })).toEqual(['B', 'A_2']);
    expect(await change({ secrets: null })).toBeNull();
    expect(await change({ secrets: [] })).toEqual([]);
    const body = { name: 'A', content: 'x', cron, secrets: ['B'], dryRun: true };
    const dry = await owner.client.post<{ automation: Automation }>(AUTOMATIONS, body);
    expect([dry.status, dry.body.automation.secrets]).toEqual([200, ['B']]);
  });

  it.each([
    ['a text', 'TOKEN'],
    ['an object', {}],
    ['a number in it', [1]],
    ['null in it', [null]],
    ['small letters', ['token']],
    ['a star', ['*']],
    ['a name twice', ['A', 'A']],
    ['more than 20', Array.from({ length: 21 }, (_, n) => `A${n}`)],
  ])('%s is no list of secrets: 400', async (_, secrets) => {
    const { id } = await make({ triggerEvent: undefined, cron: '0 0 1 1 *' });
    const whole = { name: 'A', content: 'x', cron: '0 0 1 1 *', secrets };
    for (const answer of [await owner.client.post(AUTOMATIONS, whole), await owner.client.patch(`${AUTOMATIONS}/${id}`, { secrets })]) {
      expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_field', param: 'secrets' } }]);
    } // prettier-ignore
  });
});
