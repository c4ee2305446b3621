import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { ModelServer } from '../harness/model-server.js';
import { createSecret, type SecretBody, SECRETS } from '../harness/secrets.js';
import { call, createTask, finishedLater, script, type TaskBody } from '../harness/tasks.js';

type Body = TaskBody & { repository: { push: { url: string | null } | null } | null };

const TOKEN = 'canary-token-of-a-secret-4713';
const NAME = 'GIT_TOKEN';

describe('An entry of `repositories` that names a secret (reference §16, §24)', () => {
  let github: FakeGitHub;
  let model: ModelServer;
  const service = useService(async () => {
    [github, model] = [await FakeGitHub.start(TOKEN), await ModelServer.start()];
    github.make('acme/api', { 'a.txt': 'one\n' });
    const { [github.name]: known } = github.known();
    const entry = {
      ...known,
      secret: NAME,
      workspaces: ['first', 'second'],
      paths: ['acme/*'],
      push: ['millwright/*'],
    };
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { repositories: { [github.name]: entry }, repositoryNetworks: ['127.0.0.1/32'] },
    });
  });
  afterAll(async () => {
    await model.stop();
    await github.stop();
  });

  const owners = new Map<string, Promise<Member>>();
  const ownerOf = (slug: string) => {
    const made = owners.get(slug) ?? newOwner(slug);
    owners.set(slug, made);
    return made;
  };
  const newOwner = async (slug: string) => {
    const workspace = await service.app.get(WorkspacesService).create({ name: slug, slug, plan: 'paid' });
    return makeMember(service, { workspace, role: 'owner' });
  };
  const give = (client: Client, more: object = {}) => {
    const [host, port] = github.name.split(':');
    const binding = { host, port: Number(port), place: { header: 'Authorization', form: 'basic' } };
    return createSecret(client, { name: NAME, value: TOKEN, bindings: [binding], ...more });
  };
  const run = async ({ client }: Member, branch: string) => {
    const content = script(call('bash', { command: `cd repo && echo ${branch} >> a.txt` }), { text: 'Done.' });
    const repository = { url: `${github.origin}/acme/api.git`, push: { branch } };
    const { id } = await createTask(client, { content, title: 'Mend it', repository });
    return (await finishedLater(client, id)) as Body;
  };
  const refused = async ({ client }: Member) => {
    const repository = { url: `${github.origin}/acme/api.git`, push: { branch: 'millwright/x' } };
    const answer = await client.post<ErrorBody>('/v1/tasks', { content: 'Go.', repository });
    return [answer.status, answer.body.error?.code, answer.body.error?.param];
  };
  const REFUSED = [400, 'repository_not_allowed', 'repository.push'];

  it('clones and pushes with its value, which may be bound to its host alone and stands in no answer', async () => {
    const owner = await ownerOf('first');
    const secret = await give(owner.client);
    const task = await run(owner, 'millwright/one');
    expect([task.status, task.repository?.push?.url]).toEqual(['completed', expect.any(String)]);
    const { body } = await owner.client.get<{ secret: SecretBody }>(`${SECRETS}/${secret.id}`);
    expect(body.secret.usedAt).not.toBeNull();
    const { body: messages } = await owner.client.get(`/v1/tasks/${task.id}/messages`);
    expect(JSON.stringify([task, messages])).not.toContain(TOKEN);

    const moved = { host: '127.0.0.1', port: 443, place: { header: 'Authorization', form: 'basic' } };
    const answer = await owner.client.patch<ErrorBody>(`${SECRETS}/${secret.id}`, { bindings: [moved] });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'host_not_allowed']);
  });

  it('gives a workspace without the secret no access, nor one whose secret has another scope', async () => {
    const owner = await ownerOf('second');
    expect(await refused(owner)).toEqual(REFUSED);
    const own = await give(owner.client, { scope: 'user' });
    expect(await refused(owner)).toEqual(REFUSED);
    expect((await owner.client.delete(`${SECRETS}/${own.id}`)).status).toBe(200);
  });

  it('takes a changed value for the next task, and none when it is deleted', async () => {
    const owner = await ownerOf('first');
    const { body } = await owner.client.get<{ secrets: SecretBody[] }>(SECRETS);
    const id = body.secrets[0]?.id;
    await owner.client.patch(`${SECRETS}/${id}`, { value: 'a-token-that-is-wrong' });
    const failed = await run(owner, 'millwright/two');
    expect([failed.status, failed.statusReason?.code]).toEqual(['failed', 'repository_unavailable']);
    await owner.client.patch(`${SECRETS}/${id}`, { value: TOKEN });
    expect((await run(owner, 'millwright/three')).status).toBe('completed');
    await owner.client.delete(`${SECRETS}/${id}`);
    expect(await refused(owner)).toEqual(REFUSED);
  });
});
