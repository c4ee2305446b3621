import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { postSecret } from '../harness/secrets.js';
import { createTask, finished, readMessages } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

describe('A task that uses a secret (reference §24)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    hosts = await WebHosts.start(({ url, headers }, response) => {
      if (url !== '/echo') return false;
      response.end(`it was ${headers.authorization}\n`);
      return true;
    });
    model = await HeldModel.start();
    const allowHosts = [`allowed.test:${hosts.https}`, `a.wild.test:${hosts.https}`];
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts, caFile: authority.path } },
    });
  });
  beforeAll(() => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'], 'a.wild.test': ['127.0.0.1'] });
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.server.stop();
    await hosts.stop();
    authority.remove();
  });

  const bindings = () => [{ host: 'allowed.test', port: hosts.https, place: { header: 'Authorization' } }];
  const make = async (given: object = {}, by = owner) => {
    const { status, body } = await postSecret(by.client, { value: VALUE, bindings: bindings(), ...given });
    expect(status).toBe(201);
    return body.secret;
  };
  const ask = (path: string, host = 'allowed.test') =>
    `curl -sS -m 20 -H "Authorization: Bearer $TOKEN" https://${host}:${hosts.https}${path}`;
  /** A task of one turn with one step for each list of commands; between two of them `act` is called. */
  const work = async (steps: string[][], act: (step: number) => unknown = () => undefined, by = owner) => {
    const { id } = await createTask(by.client, { content: 'Go on.' });
    let first: string | undefined;
    for (const [n, commands] of steps.entries()) {
      const asked = await model.asked();
      first ??= model.server.requests.at(-1)?.surroundings ?? '';
      await act(n);
      asked.answer(bash(...commands));
    }
    (await model.asked()).answer({ text: 'Done.' });
    expect((await finished(by.client, id)).status).toBe('completed');
    const parts = (await readMessages(by.client, id)).flatMap((message) => message.parts);
    const outputs = parts.flatMap(({ type, output }) => (type === 'tool_result' ? [(output as { stdout: string }).stdout] : [])); // prettier-ignore
    return { id, outputs, first: first ?? '', messages: JSON.stringify(parts) };
  };
  interface Use {
    name: string;
    host: string;
    requests: number;
    refused: number;
    masked: number;
  }
  const usesOf = async (id: string) => {
    const { body } = await owner.client.get<{ uses: Use[] }>(`/v1/tasks/${id}/secrets`);
    return body.uses.map(({ name, host, requests, refused, masked }) => [name, host, requests, refused, masked]);
  };

  it('has a placeholder, its requests have the value, and nothing else has it', async () => {
    const secret = await make();
    const { id, outputs, first, messages } = await work([[`echo $TOKEN`, ask('/a'), ask('/echo')]]);
    expect(outputs[0]).toMatch(/^mwsec_[A-Za-z0-9]{24}\n$/);
    expect(outputs[1]).toBe(`GET allowed.test:${hosts.https} /a 0\n`);
    expect(outputs[2]).toBe('it was Bearer [secret TOKEN]\n');
    expect(hosts.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`);
    expect(first).toContain(`TOKEN in $TOKEN, for allowed.test (Authorization, bearer)`);
    expect(messages + first + JSON.stringify(model.server.requests.map(({ body }) => body))).not.toContain(VALUE);
    expect(await usesOf(id)).toEqual([['TOKEN', 'allowed.test', 2, 0, 1]]);
    const { body } = await owner.client.get<{ secret: { usedAt: string | null } }>(`/v1/secrets/${secret.id}`);
    expect(body.secret.usedAt).not.toBe(null);
    const audit = await service.db.query('SELECT action, target_id, actor_id, fields FROM audit_log WHERE action = $1 AND target_id = $2', ['secret.use', secret.id]); // prettier-ignore
    expect(audit).toEqual([{ action: 'secret.use', target_id: secret.id, actor_id: owner.user.id, fields: [`task ${id}`, 'host allowed.test'] }]); // prettier-ignore
  });

  it('has the same placeholder in its next turn, and another task another one', async () => {
    await make();
    const { id, outputs } = await work([['echo $TOKEN']]);
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Once more.' });
    (await model.asked()).answer(bash('echo $TOKEN'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    const parts = (await readMessages(owner.client, id)).flatMap((message) => message.parts);
    const both = parts.flatMap(({ type, output }) => (type === 'tool_result' ? [(output as { stdout: string }).stdout] : [])); // prettier-ignore
    expect(both).toEqual([outputs[0], outputs[0]]);
    expect((await work([['echo $TOKEN']])).outputs[0]).not.toBe(outputs[0]);
  });

  it('uses another value with its next request, and none once the secret is deleted', async () => {
    const secret = await make();
    const values: unknown[] = [];
    const { id, outputs } = await work([[ask('/a')], [ask('/a')], [ask('/a')]], async (step) => {
      values.push(hosts.requests.at(-1)?.headers.authorization);
      const answered = step === 1 ? await owner.client.patch(`/v1/secrets/${secret.id}`, { value: 'another-value-of-it' }) : step === 2 ? await owner.client.delete(`/v1/secrets/${secret.id}`) : null; // prettier-ignore
      expect(answered?.status ?? 200).toBe(200);
    });
    expect(values.slice(1)).toEqual([`Bearer ${VALUE}`, 'Bearer another-value-of-it']);
    expect(outputs[2]).toBe('The secret TOKEN is gone.\n');
    expect(hosts.requests.at(-1)?.headers.authorization).toBe('Bearer another-value-of-it');
    expect(await usesOf(id)).toEqual([['TOKEN', 'allowed.test', 2, 1, 0]]);
  });

  it('that is its user’s own goes before the project’s and the workspace’s; a viewer’s task has none', async () => {
    await make();
    await make({ scope: 'user', value: 'the-own-value-of-it' });
    await work([[ask('/a')]]);
    expect(hosts.requests.at(-1)?.headers.authorization).toBe('Bearer the-own-value-of-it');
    const member = await makeMember(service, { workspace: owner.workspace });
    await work([[ask('/a')]], undefined, member);
    expect(hosts.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`);
    const task = work([['echo "<$TOKEN>"']], () => service.db.query(`UPDATE memberships SET role = 'viewer' WHERE user_id = $1`, [member.user.id]), member); // prettier-ignore
    // Its role was read before its first model call: the variable is there, and the value is not.
    expect((await task).outputs[0]).toMatch(/^<(mwsec_.*)?>\n$/);
  });

  it('is refused it elsewhere, with a sentence, and counts that', async () => {
    await make();
    const { id, outputs } = await work([[`${ask('/a')} -H "X-Other: $TOKEN"`, ask('/a', 'a.wild.test')]]);
    expect(outputs[0]).toContain('The secret TOKEN may not stand in the header X-Other here');
    expect(outputs[1]).toContain('GET a.wild.test');
    expect(hosts.requests.at(-1)?.headers.authorization).toMatch(/^Bearer mwsec_/);
    expect(await usesOf(id)).toEqual([['TOKEN', 'allowed.test', 0, 1, 0]]);
  });

  it('of another workspace never meets it', async () => {
    await make();
    const other = await makeMember(service, { role: 'owner' });
    await make({ value: 'the-value-of-the-other' }, other);
    const both = await Promise.all([createTask(owner.client, { content: 'Go on.' }), createTask(other.client, { content: 'Go on.' })]); // prettier-ignore
    for (let n = 0; n < 2; n++) (await model.asked()).answer(bash(ask('/who'), 'echo $TOKEN'));
    for (let n = 0; n < 2; n++) (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, both[0].id);
    await finished(other.client, both[1].id);
    const given = hosts.requests.filter(({ url }) => url === '/who').map(({ headers }) => headers.authorization);
    expect(given.toSorted()).toEqual([`Bearer ${VALUE}`, 'Bearer the-value-of-the-other']);
    expect((await owner.client.get(`/v1/tasks/${both[1].id}/secrets`)).status).toBe(404);
  });

  it('keeps nothing of it in its folder, its snapshot and the database', async () => {
    await make();
    const { id } = await work([[`${ask('/echo')} > said; env > variables; cp /etc/ssl/certs/ca-certificates.crt .`]]);
    await until('its snapshot', async () => (await service.db.query('SELECT 1 FROM snapshots WHERE task_id = $1', [id])).length > 0); // prettier-ignore
    for (const path of ['said', 'variables', 'ca-certificates.crt']) {
      const { status, text } = await owner.client.get(`/v1/tasks/${id}/workdir/content?path=${path}`);
      expect(status).toBe(200);
      expect(text).not.toContain(VALUE);
      expect(text).not.toContain('PRIVATE KEY');
    }
    const tables = await service.db.query<{ name: string }>(`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`); // prettier-ignore
    for (const { name } of tables) {
      const found = await service.db.query(`SELECT 1 FROM "${name}" t WHERE t::text LIKE $1`, [`%${VALUE}%`]);
      expect([name, found]).toEqual([name, []]);
    }
  });
});
