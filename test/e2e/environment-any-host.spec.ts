import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { postSecret } from '../harness/secrets.js';
import { createTask, finished, readResults } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

describe('Where the operator allows all hosts (reference §16, §25)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    hosts = await WebHosts.start();
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts: ['*'], caFile: authority.path } },
    });
  });
  beforeAll(async () => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'], 'private.test': ['10.0.0.1'] }); // prettier-ignore
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.server.stop();
    await hosts.stop();
    authority.remove();
  });

  const make = (slug: string, allowHosts: string[]) =>
    owner.client.post<ErrorBody>('/v1/environments', { slug, allowHosts });
  const outputsOf = async (commands: string[], given: object) => {
    const { id } = await createTask(owner.client, { content: 'Go on.', ...given });
    (await model.asked()).answer(bash(...commands));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    return (await readResults(owner.client, id)).map((part) => (part as { output?: { stdout: string } }).output?.stdout); // prettier-ignore
  };
  const ask = (host: string) =>
    `curl -s -m 20 -o /dev/null -w '%{http_code} %{http_connect}' https://${host}:${hosts.https}/; true`;

  it('an environment chooses among them, and reaches those that it has chosen and that are public', async () => {
    expect((await make('web', ['allowed.test', 'private.test'].map((name) => `${name}:${hosts.https}`))).status).toBe(201); // prettier-ignore
    const commands = [ask('allowed.test'), ask('other.test'), ask('private.test')];
    expect(await outputsOf(commands, { environment: 'web' })).toEqual(['200 200', '000 403', '000 403']);
  });

  it('a task without an environment reaches none', async () => {
    expect(await outputsOf(['echo ${https_proxy:-none}'], {})).toEqual(['none\n']);
  });

  it('an environment cannot have all of them', async () => {
    const { status, body } = await make('all', ['*']);
    expect([status, body.error.param]).toEqual([400, 'allowHosts[0]']);
  });

  it('a secret may be bound to each of them', async () => {
    const bindings = [{ host: 'api.anything.example', place: { header: 'Authorization' } }];
    expect((await postSecret(owner.client, { bindings })).status).toBe(201);
  });
});
