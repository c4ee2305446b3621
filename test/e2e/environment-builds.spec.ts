import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bash, useBuilds, WAITS } from '../harness/build-stand.js';
import { buildBecomes, type BuildBody, ENVIRONMENTS } from '../harness/builds.js';
import { makeMember } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { postSecret } from '../harness/secrets.js';
import { sizedIt, SLOW } from '../harness/slow.js';
import { finished, reaches } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

describe('Builds of environments (reference §25)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  const stand = useBuilds(async () => {
    hosts = await WebHosts.start();
    return {
      plans: { paid: { runningTasks: 500 } },
      sandbox: {
        network: 'allow',
        allowHosts: [`allowed.test:${hosts.https}`, `a.wild.test:${hosts.https}`],
        caFile: authority.path,
      },
    };
  });
  const { make, start, work, goOn, outputs, parts, builds, held, waits } = stand;
  beforeAll(() => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'], 'a.wild.test': ['127.0.0.1'] });
    stand.service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
  });
  afterAll(async () => {
    await hosts.stop();
    authority.remove();
  });

  it('a task begins with what the setup made in its folder and home, and its own changes are its own', async () => {
    const slug = await make({
      setup: ['mkdir made; echo one >made/file', 'echo two >~/.made', 'echo three >/tmp/gone'],
    });
    const first = await work(slug, bash('cat made/file ~/.made; ls /tmp; echo changed >made/file; stat -c %U:%a made'));
    const [output = ''] = await outputs(first);
    expect(output).toMatch(/^one\ntwo\n\w+:755\n$/);
    const second = await work(slug, bash('cat made/file; touch ~/new && rm -r made && echo may'));
    expect(await outputs(second)).toEqual(['one\nmay\n']);
    expect((await builds(slug)).map(({ state }) => state)).toEqual(['ready']);
    const third = await goOn(first, bash('cat made/file'));
    expect((await outputs(third)).at(-1)).toBe('changed\n');
  });

  it('a program that the setup puts into /opt/env/bin is found first by the tasks, at that path', async () => {
    const program = `printf '#!/bin/sh\necho "$0 of the setup"\n' >/opt/env/bin/ls`;
    const slug = await make({ setup: [`mkdir -p /opt/env/bin && ${program}`, 'chmod +x /opt/env/bin/ls && ls'] });
    const task = await work(slug, bash('ls; realpath -m /opt/env/bin; touch /opt/other'));
    expect(await outputs(task)).toEqual(['/opt/env/bin/ls of the setup\n/home/agent/.opt-env/bin\n']);
    expect((await builds(slug))[0]?.log).toContain('/opt/env/bin/ls of the setup');
    // The search of the service is a script with ls(1) in it, no command of the agent.
    const searched = await work(slug, { calls: [{ name: 'read', arguments: { path: '.' } }] });
    const said = JSON.stringify(await parts(searched));
    expect(said).toContain('is a folder');
    expect(said).not.toContain('of the setup');
  });

  it('a task says what it waits for while the build is made', async () => {
    const slug = await make({ setup: [WAITS] });
    const task = await start(slug, bash('ls'));
    const goes = await held(slug);
    const waiting = await waits(task);
    expect(waiting).toMatchObject({
      status: 'queued',
      statusReason: { code: 'environment_building', retryable: true, message: expect.stringContaining(`'${slug}'`) },
    });
    goes();
    expect((await finished(stand.owner.client, task.id)).status).toBe('completed');
  });

  it('a task that waits can be paused, resumed and cancelled', async () => {
    const slug = await make({ setup: [WAITS] });
    const [pauses, ends] = [await start(slug), await start(slug)];
    const goes = await held(slug);
    for (const task of [pauses, ends]) await waits(task);
    await stand.owner.client.post(`/v1/tasks/${pauses.id}/pause`, {});
    await stand.owner.client.post(`/v1/tasks/${ends.id}/cancel`);
    goes();
    await buildBecomes(stand.owner.client, slug, 'ready');
    expect(await reaches(stand.owner.client, pauses.id, 'queued')).toMatchObject({ statusReason: { code: 'paused' } });
    expect((await reaches(stand.owner.client, ends.id, 'cancelled')).statusReason?.code).toBe('cancelled');
    await stand.owner.client.post(`/v1/tasks/${pauses.id}/resume`, {});
    expect((await finished(stand.owner.client, pauses.id)).status).toBe('completed');
  });

  const many = SLOW ? 200 : 30;

  sizedIt(`${many} tasks that need it at once make it once`, async () => {
    const slug = await make({ setup: ['echo $RANDOM$RANDOM >which', 'sleep 0.5'] });
    const tasks = await Promise.all(Array.from({ length: many }, () => start(slug, bash('cat which'))));
    const ended = [];
    for (const { id } of tasks) ended.push(await finished(stand.owner.client, id));
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(await builds(slug)).toHaveLength(1);
    expect(new Set((await Promise.all(ended.map(outputs))).flat()).size).toBe(1);
  });

  it('another version has a build of its own, and a task of the old one has the old one', async () => {
    const slug = await make({ setup: ['echo 1 >version'] });
    await work(slug);
    await stand.owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: ['echo 2 >version'] });
    expect(await outputs(await work(slug, bash('cat version')))).toEqual(['2\n']);
    expect(await outputs(await work({ slug, version: 1 }, bash('cat version')))).toEqual(['1\n']);
    expect((await builds(slug)).map(({ version }) => version)).toEqual([2, 1]);
  });

  it('a setup that fails fails the task, retryable, with its output at the build; the next turn has it built anew', async () => {
    const slug = await make({
      setup: ['echo before', `[ -e ~/ok ] || { yes line | head -c 40000; echo the end; exit 3; }`],
    });
    const task = await work(slug, bash('ls'));
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'environment_failed', retryable: true } });
    expect(task.statusReason?.message).toContain('A command of setup ended with 3');
    const [build] = await builds(slug);
    expect(build).toMatchObject({ state: 'failed', files: 0, error: expect.stringContaining('ended with 3') });
    expect(build?.log).toMatch(/^line\n[^]*\nthe end\n$/);
    expect(Buffer.byteLength(build?.log ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(Buffer.byteLength(build?.log ?? '')).toBeGreaterThan(16 * 1024 - 10);
    expect((await goOn(task, bash('ls'))).statusReason?.code).toBe('environment_failed');
    expect(await builds(slug)).toHaveLength(2);
  });

  it('tasks that waited for a build share its failure', async () => {
    const slug = await make({ setup: [WAITS, 'exit 1'] });
    const tasks = await Promise.all(Array.from({ length: 10 }, () => start(slug)));
    const goes = await held(slug);
    goes();
    for (const { id } of tasks)
      expect((await finished(stand.owner.client, id)).statusReason?.code).toBe('environment_failed');
    expect(await builds(slug)).toHaveLength(1);
  });

  it('with lastGood a task begins from the last build that did not fail, and says so', async () => {
    const slug = await make({ setup: ['echo 1 >version'], onFailure: 'lastGood' });
    await work(slug);
    await stand.owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: ['echo 2 >version; exit 1'] });
    const task = await work(slug, bash('cat version'));
    expect(task.status).toBe('completed');
    expect(await outputs(task)).toEqual(['1\n']);
    const said = (await parts(task)).find(({ name }) => name === 'environment');
    expect(said?.data).toMatchObject({ code: 'last_good', environment: slug, version: 1 });
    expect((await builds(slug)).map(({ state }) => state)).toEqual(['failed', 'ready']);
  });

  it('with lastGood and no such build the task fails', async () => {
    const slug = await make({ setup: ['exit 1'], onFailure: 'lastGood' });
    expect((await work(slug)).statusReason?.code).toBe('environment_failed');
  });

  it('a setup has the variables, its network and placeholders, and never a value', async () => {
    const place = { header: 'Authorization' };
    await postSecret(stand.owner.client, { name: 'TOKEN', value: 'canary-of-a-build', bindings: [{ host: 'allowed.test', port: hosts.https, place }] }); // prettier-ignore
    await postSecret(stand.owner.client, { name: 'OTHER', value: 'canary-of-another', bindings: [{ host: 'allowed.test', port: hosts.https, place }] }); // prettier-ignore
    const slug = await make({
      variables: { GREETING: 'hello' },
      secrets: ['TOKEN'],
      allowHosts: [`allowed.test:${hosts.https}`],
      setup: [
        `echo "$GREETING" >greeting; env | grep mwsec_ | cut -d= -f1 >names`,
        `curl -sS -m 20 -H "Authorization: Bearer $TOKEN" https://allowed.test:${hosts.https}/package >package`,
      ],
    });
    const task = await work(slug, bash('cat greeting names package; env | grep -c GREETING || true'));
    expect((await outputs(task))[0]).toContain(`hello\nTOKEN\nGET allowed.test:${hosts.https} /package 0\n`);
    expect(hosts.requests.at(-1)?.headers.authorization).toBe('Bearer canary-of-a-build');
    const [build] = await builds(slug);
    expect(JSON.stringify(build)).not.toContain('canary');
  });

  it('what a build does with a secret is in the audit log, once for each host, and so is a command that is tried in it', async () => {
    const place = { header: 'Authorization' };
    const bindings = ['allowed.test', 'a.wild.test'].map((host) => ({ host, port: hosts.https, place }));
    const client = stand.owner.client;
    const { body } = await postSecret(client, { name: 'USED', value: 'canary-of-a-use', bindings });
    const ask = (host: string) => `curl -sS -m 20 -H "Authorization: Bearer $USED" https://${host}:${hosts.https}/`;
    const allowHosts = ['allowed.test', 'a.wild.test'].map((host) => `${host}:${hosts.https}`);
    const slug = await make({ secrets: ['USED'], allowHosts, setup: [ask('allowed.test'), ask('allowed.test')] });
    await work(slug);
    const used = async () => {
      const { secret } = (await client.get<{ secret: { usedAt: string } }>(`/v1/secrets/${body.secret.id}`)).body;
      type Entry = { action: string; actor: object | null; target: { id: string }; fields: string[] };
      const { entries } = (await client.get<{ entries: Entry[] }>('/v1/audit?limit=100')).body;
      const ours = entries.filter(({ action, target }) => action === 'secret.use' && target.id === body.secret.id);
      return { usedAt: secret.usedAt, entries: ours.map(({ actor, fields }) => [actor, ...fields]).toReversed() };
    };
    const [build] = await builds(slug);
    const first = [null, `environment ${slug}`, `build ${build?.id}`, 'host allowed.test'];
    const before = await used();
    expect(before).toEqual({ usedAt: expect.any(String), entries: [first] });
    const tried = await client.post(`${ENVIRONMENTS}/${slug}/test`, {
      command: `${ask('allowed.test')}; ${ask('a.wild.test')}`,
    });
    expect(tried.status).toBe(200);
    const after = await used();
    expect(after.entries).toEqual([first, [...first.slice(0, 3), 'host a.wild.test']]);
    expect(Date.parse(after.usedAt)).toBeGreaterThan(Date.parse(before.usedAt));
    const listed = await new Operator(stand.service).run('audit', 'list', '--workspace', stand.owner.workspace.slug);
    expect(listed.match(/a build +secret\.use/g)).toHaveLength(2);
  });

  it('daily makes it anew on another day', async () => {
    const slug = await make({ setup: ['echo $RANDOM >which'], refresh: 'daily' });
    await work(slug);
    await work(slug);
    const [build] = await builds(slug);
    expect(build?.key).toBe(new Date().toISOString().slice(0, 10));
    await stand.service.db.query(`UPDATE environment_builds SET key = '2020-01-01' WHERE id = $1`, [build?.id]);
    await work(slug);
    expect(await builds(slug)).toHaveLength(2);
  });

  it('POST build makes one now, and the next tasks begin from it', async () => {
    const slug = await make({ setup: ['echo $RANDOM$RANDOM >which'] });
    const [before] = await outputs(await work(slug, bash('cat which')));
    const { status, body } = await stand.owner.client.post<{ build: BuildBody }>(`${ENVIRONMENTS}/${slug}/build`);
    expect([status, body.build.state, body.build.version]).toEqual([202, 'building', 1]);
    const build = await buildBecomes(stand.owner.client, slug, 'ready');
    expect(build).toMatchObject({ id: body.build.id, key: '' });
    const [after] = await outputs(await work(slug, bash('cat which')));
    expect(after).not.toBe(before);
    expect(await builds(slug)).toHaveLength(2);
  });

  it('POST test runs one command in a copy that is thrown away, and answers its output', async () => {
    const slug = await make({ setup: ['echo one >file'], variables: { GREETING: 'hello' } });
    const ask = (command: string) => stand.owner.client.post<Record<string, unknown>>(`${ENVIRONMENTS}/${slug}/test`, { command }); // prettier-ignore
    const refused = await ask('ls');
    expect([refused.status, (refused.body['error'] as { code: string }).code]).toEqual([409, 'environment_not_built']);
    await work(slug);
    const { status, body } = await ask('cat file; echo $GREETING; echo two >file; echo no >&2; exit 3');
    expect([status, body]).toEqual([200, { exitCode: 3, stdout: 'one\nhello\n', stderr: 'no\n' }]);
    expect((await ask('cat file')).body['stdout']).toBe('one\n');
    expect(await stand.service.db.query('SELECT id FROM environment_trials')).toEqual([]);
    const member = await makeMember(stand.service, { role: 'member', workspace: stand.owner.workspace });
    for (const route of ['build', 'test']) {
      const answer = await member.client.post(`${ENVIRONMENTS}/${slug}/${route}`, route === 'test' ? { command: 'ls' } : undefined); // prettier-ignore
      expect(answer.status).toBe(403);
    }
  });

  it('an environment without setup and repository needs no build', async () => {
    const slug = await make({ variables: { A: '1' } });
    expect((await work(slug)).status).toBe('completed');
    expect(await builds(slug)).toEqual([]);
  });
});
