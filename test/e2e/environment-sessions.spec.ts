import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { postSecret } from '../harness/secrets.js';
import { createTask, finished, readResults } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const MIB = 2 ** 20;

describe('A task in an environment (reference §25)', () => {
  const authority = new AuthorityFile();
  const folder = mkdtempSync(join(tmpdir(), 'millwright-tools-'));
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/widget'), '#!/bin/sh\necho widget 7\n', { mode: 0o755 });
    hosts = await WebHosts.start();
    model = await HeldModel.start();
    const allowHosts = [`allowed.test:${hosts.https}`, `a.wild.test:${hosts.https}`];
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts, caFile: authority.path, tools: { widget: { '7': folder } } } },
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
    rmSync(folder, { recursive: true });
  });

  const environment = async (given: object) => {
    const { status, text } = await owner.client.post('/v1/environments', { slug: 'ci', ...given });
    expect([status, text]).toEqual([201, expect.any(String)]);
  };
  const secret = async (name: string) => {
    const bindings = [{ host: 'allowed.test', port: hosts.https, place: { header: 'Authorization' } }];
    expect((await postSecret(owner.client, { name, value: VALUE, bindings })).status).toBe(201);
  };
  /** What these commands printed, in order, and what the model was told before. */
  const work = async (commands: string[], given: object = { environment: 'ci' }) => {
    const { id } = await createTask(owner.client, { content: 'Go on.', ...given });
    (await model.asked()).answer(bash(...commands));
    (await model.asked()).answer({ text: 'Done.' });
    expect((await finished(owner.client, id)).status).toBe('completed');
    const outputs = (await readResults(owner.client, id)).map((part) => (part as { output?: { stdout: string } }).output?.stdout); // prettier-ignore
    return { id, outputs, told: model.server.requests.at(-1)?.surroundings ?? '' };
  };
  const ask = (host: string) =>
    `curl -s -m 20 -o /dev/null -w '%{http_code} ' -H "Authorization: Bearer $TOKEN" https://${host}:${hosts.https}/; true`;

  it('has its variables, and reaches its hosts in place of the operator’s', async () => {
    await environment({ variables: { COLOUR: 'blue' }, allowHosts: [`a.wild.test:${hosts.https}`] });
    const { outputs, told, id } = await work(['echo $COLOUR', ask('a.wild.test'), ask('allowed.test')]);
    expect(outputs).toEqual(['blue\n', '200 ', '000 ']);
    expect(told).toContain('Environment: ci, version 1.\nVariables of it: $COLOUR.\n');
    expect(told).toContain(`network: HTTP and HTTPS to a.wild.test:${hosts.https} alone`);
    const { body } = await owner.client.get<{ task: { network: { hosts: string[]; refused: string[] } } }>(`/v1/tasks/${id}`); // prettier-ignore
    expect(body.task.network).toEqual({ hosts: [`a.wild.test:${hosts.https}`], refused: ['allowed.test'] });
  });

  it('without hosts has no network, and so no secrets', async () => {
    await secret('TOKEN');
    await environment({ secrets: ['TOKEN'] });
    const { outputs, told } = await work(['echo "${https_proxy:-none} ${TOKEN:-none}"']);
    expect(outputs).toEqual(['none none\n']);
    expect(told).toContain('; no network. ');
    expect(told).toContain('Secrets that the environment names and that are not there: TOKEN.');
  });

  it('has the secrets that it names and no others, and its model is told which are not there', async () => {
    await secret('TOKEN');
    await secret('OTHER');
    await environment({ allowHosts: [`allowed.test:${hosts.https}`], secrets: ['TOKEN', 'ABSENT'] });
    const { outputs, told } = await work(['echo "${TOKEN%%_*} ${OTHER:-none}"', ask('allowed.test')]);
    expect(outputs).toEqual(['mwsec none\n', '200 ']);
    expect(hosts.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`);
    expect(told).toContain('- TOKEN in $TOKEN, for allowed.test');
    expect(told).not.toContain('OTHER');
    expect(told).toContain('Secrets that the environment names and that are not there: ABSENT.');
    expect((await work(['echo "${OTHER%%_*}"'], {})).outputs).toEqual(['mwsec\n']);
  });

  it('has the placeholder of a secret before a variable that is named as the `env` of the secret', async () => {
    await secret('TOKEN');
    const { body } = await owner.client.get<{ secrets: { id: string }[] }>('/v1/secrets');
    await owner.client.patch(`/v1/secrets/${body.secrets[0]?.id}`, { env: 'COLOUR' });
    await environment({
      allowHosts: [`allowed.test:${hosts.https}`],
      secrets: ['TOKEN'],
      variables: { COLOUR: 'blue' },
    });
    expect((await work(['echo "${COLOUR%%_*}"'])).outputs).toEqual(['mwsec\n']);
  });

  it('has its limits, and its model is told them', async () => {
    await environment({ resources: { wallClockSeconds: 2, memoryBytes: 512 * MIB, diskBytes: 64 * MIB } });
    const { outputs, told } = await work(['echo begun; sleep 60', 'ulimit -d']);
    expect(outputs).toEqual(['begun\n', `${512 * 1024}\n`]);
    expect(told).toContain('Limits of a command: 2 s, by timeoutSeconds at most 2 s; 512 MiB of memory;');
    expect(told).toContain('long outputs included: 64 MiB.');
    const read = JSON.stringify(model.server.requests.at(-1)?.body);
    expect(read).toContain('its time limit of 2 s was reached. That is the most there is');
  });

  it('finds the tools of the operator that it asks for', async () => {
    await environment({ tools: { widget: '7' } });
    const { outputs, told } = await work(['widget; command -v widget']);
    expect(outputs).toEqual(['widget 7\n/opt/tools/widget/bin/widget\n']);
    expect(told).toContain('Tools of it, before others on PATH: widget 7.');
    expect((await work(['command -v widget; true'], {})).outputs).toEqual(['']);
  });

  it('that asks for a tool or a version that the operator does not list is 400', async () => {
    for (const [tools, message] of [[{ widget: '8' }, 'the versions that the operator offers: 7'], [{ gadget: '1' }, 'a tool that the operator does not offer']] as const) {
      const { status, body } = await owner.client.post<{ error: { param: string; message: string } }>('/v1/environments', { slug: 'ci', tools }); // prettier-ignore
      expect([status, body.error.param]).toEqual([400, `tools.${Object.keys(tools)[0]}`]);
      expect(body.error.message).toContain(message);
    } // prettier-ignore
  });

  it('keeps the version that it was made with', async () => {
    await environment({ variables: { COLOUR: 'blue' } });
    const { id } = await work(['echo $COLOUR']);
    expect((await owner.client.patch('/v1/environments/ci', { variables: { COLOUR: 'red' } })).status).toBe(200);
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Once more.' });
    (await model.asked()).answer(bash('echo $COLOUR'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    const outputs = (await readResults(owner.client, id)).map((part) => (part as { output?: { stdout: string } }).output?.stdout); // prettier-ignore
    expect(outputs).toEqual(['blue\n', 'blue\n']);
    expect((await work(['echo $COLOUR'])).outputs).toEqual(['red\n']);
  });
});
