import { chmodSync } from 'node:fs';
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { answerApproval, type Approval, approvalOf } from '../harness/approvals.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation, DAILY } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { bash, HeldModel } from '../harness/held-model.js';
import type { Answer } from '../harness/model-server.js';
import { createSecret } from '../harness/secrets.js';
import { temporaryFolder } from '../harness/service.js';
import { createTask, finished, readMessages, readResults, readTask, type TaskBody } from '../harness/tasks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const useSecret = (name = 'TOKEN', reason = 'To read the list.') => ({
  name: 'use_secret',
  arguments: { name, reason },
});
const NOT_APPROVED = /X-Millwright-Refused: secret_not_approved[^]*The secret TOKEN waits for a person's approval: call use_secret with its name\./; // prettier-ignore
const USABLE = /^The secret TOKEN may be used in this task now: \$TOKEN has its placeholder/;

describe('A task that asks before the first use of each secret (reference §4, §24)', () => {
  const authority = new AuthorityFile();
  const folder = temporaryFolder();
  let [hosts, model, db, worker, owner] = [] as unknown as [WebHosts, HeldModel, TestDatabase, TestApp, Member];
  const given = () => ({
    db,
    env: { OPENAI_COMPATIBLE_URL: model.server.url, DATA_DIR: folder.path },
    config: {
      models: [{ id: 'scripted', provider: 'openai-compatible' }, { id: 'runbook', provider: 'runbook' }], // prettier-ignore
      sandbox: { network: 'allow' as const, allowHosts: [`allowed.test:${hosts.https}`], caFile: authority.path },
    },
  });
  const service = useService(async () => {
    // The users of the sandboxes pass through it.
    chmodSync(folder.path, 0o711);
    hosts = await WebHosts.start();
    model = await HeldModel.start();
    db = await createDatabase();
    return bootApp(given());
  });
  const startWorker = async () => {
    worker = await bootWorker({ ...given(), env: { ...given().env, ROLE: 'worker' } });
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    worker.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
  };
  beforeAll(startWorker);
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await secret();
  });
  afterAll(async () => {
    await worker.close();
    await model.server.stop();
    await hosts.stop();
    await db.drop();
    authority.remove();
    folder.remove();
  });

  const secret = (name = 'TOKEN', value = VALUE) =>
    createSecret(owner.client, {
      ...{ name, value },
      bindings: [{ host: 'allowed.test', port: hosts.https, place: { header: 'Authorization' } }],
    });
  const curl = (path: string, variable = 'TOKEN') =>
    `curl -sS -i -m 20 -H "Authorization: Bearer $${variable}" https://allowed.test:${hosts.https}${path}`;
  const say = async (answer: Answer) => (await model.asked()).answer(answer);
  const create = (more: object = {}) => createTask(owner.client, { content: 'Go on.', approvals: 'secrets', ...more });
  const asked = (id: string, before?: Approval) => approvalOf(owner.client, id, before);
  const decide = async (id: string, approval: Approval, body: Record<string, unknown> = { decision: 'approve' }) =>
    expect((await answerApproval(owner.client, id, approval, body)).status).toBe(202);
  const done = async (id: string) => {
    await say({ text: 'Done.' });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
  };
  const message = async (id: string) =>
    expect((await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Once more.' })).status).toBe(202);
  /** What the last call came to. */
  const last = async (id: string) => {
    const { output, error, status } = (await readResults(owner.client, id)).at(-1) ?? {};
    return (output as { stdout?: string } | undefined)?.stdout ?? (output as string | undefined) ?? error ?? status;
  };
  /** The headers that the host has seen at a path. */
  const seen = (path: string) =>
    hosts.requests.filter(({ url }) => url === path).map(({ headers }) => headers.authorization);
  const usesOf = async (id: string) => {
    const { body } = await owner.client.get<{ uses: Record<string, unknown>[] }>(`/v1/tasks/${id}/secrets`);
    return body.uses.map(({ name, requests, refused }) => [name, requests, refused]);
  };
  const approvedOf = async (id: string) =>
    (await db.query<{ approved: string[] }>('SELECT approved_tools AS approved FROM tasks WHERE id = $1', [id]))[0]?.approved; // prettier-ignore

  it('is refused its value at first, with a code, and has it once a person has approved it, to the end of the task', async () => {
    const task = await create();
    expect(task).toMatchObject({ approvals: 'secrets' });
    const { id } = task;
    await say(bash('echo $TOKEN', curl('/first')));
    const { request, answer } = await model.asked();
    const told = model.server.requests.at(-1)?.surroundings ?? '';
    expect(told).toContain('Each waits for a person to approve it: call use_secret with its name');
    expect(request.tools?.map((tool) => tool.function.name)).toContain('use_secret');
    expect(JSON.stringify(request.messages)).toContain('[The network refused this: The secret TOKEN waits');
    expect(await last(id)).toMatch(NOT_APPROVED);
    expect(seen('/first')).toEqual([]);

    answer({ calls: [useSecret()] });
    const approval = await asked(id);
    expect(approval).toMatchObject({
      type: 'approval',
      question: `May the agent use the secret TOKEN in this task (use_secret)?\n\nIts value goes to allowed.test:${hosts.https}.\n\nThe reason of the agent: To read the list.`,
      toolCall: { name: 'use_secret', input: { name: 'TOKEN', reason: 'To read the list.' } },
    });
    await decide(id, approval);
    await say(bash(curl('/second')));
    expect(seen('/second')).toEqual([]);
    await done(id);
    expect(seen('/second')).toEqual([`Bearer ${VALUE}`]);
    const results = await readResults(owner.client, id);
    expect(results.at(-2)).toMatchObject({ status: 'success', output: expect.stringMatching(USABLE) as unknown });
    expect(await usesOf(id)).toEqual([['TOKEN', 1, 1]]);
    const parts = (await readMessages(owner.client, id)).flatMap((one) => one.parts);
    expect(parts.find(({ name }) => name === 'network')).toMatchObject({
      data: { refused: [{ host: 'allowed.test', port: hosts.https, code: 'secret_not_approved' }] },
    });
    expect(JSON.stringify(parts)).not.toContain(VALUE);

    // A later turn does not ask again, and neither does the tool.
    await message(id);
    await say({ calls: [useSecret(), ...(bash(curl('/third')).calls ?? [])] });
    await done(id);
    expect(seen('/third')).toEqual([`Bearer ${VALUE}`]);
    expect(await approvedOf(id)).toEqual(['secret:TOKEN']);
  });

  it('is told of a denial, and asked about once more, whatever the reason is', async () => {
    const { id } = await create();
    await say({ calls: [useSecret()] });
    const first = await asked(id);
    await decide(id, first, { decision: 'deny', reason: 'Do without.' });
    const { request, answer } = await model.asked();
    expect(request.messages.at(-1)?.content).toMatch(/denied.*Do without\.$/);
    answer({ calls: [useSecret('TOKEN', 'Because it is needed.')] });
    await decide(id, await asked(id, first), { decision: 'deny' });
    await say({ calls: [useSecret('TOKEN', 'Really.')] });
    await say(bash(curl('/denied')));
    await done(id);
    const results = await readResults(owner.client, id);
    expect(results.map(({ status }) => status)).toEqual(['denied', 'denied', 'error', 'success']);
    expect(results[2]?.error).toContain('denied this same call again and again');
    expect(await last(id)).toMatch(NOT_APPROVED);
    expect([seen('/denied'), await approvedOf(id)]).toEqual([[], []]);
  });

  it('is denied by a message in place of an answer, and by nobody answering in time', async () => {
    const { id } = await create();
    await say({ calls: [useSecret()] });
    const first = await asked(id);
    await message(id);
    await say({ calls: [useSecret()] });
    await asked(id, first);
    await db.query(`UPDATE interactions SET expires_at = now() - interval '1 second' WHERE task_id = $1 AND status = 'pending'`, [id]); // prettier-ignore
    await done(id);
    expect((await readResults(owner.client, id)).map(({ status }) => status)).toEqual(['denied', 'denied']);
    expect(await approvedOf(id)).toEqual([]);
  });

  it('asks for a second secret on its own, also when the tool is to be remembered, and in a fork anew', async () => {
    await secret('OTHER', 'the-value-of-the-other');
    const { id } = await create();
    await say({ calls: [useSecret(), ...(bash(curl('/one'), curl('/two', 'OTHER')).calls ?? []), useSecret('OTHER')] });
    const first = await asked(id);
    expect(seen('/one')).toEqual([]);
    await decide(id, first, { decision: 'approve', remember: 'task' });
    const second = await asked(id, first);
    expect(second.question).toContain('May the agent use the secret OTHER');
    expect([seen('/one'), seen('/two')]).toEqual([[`Bearer ${VALUE}`], []]);
    expect(await last(id)).toContain('The secret OTHER waits for');
    await decide(id, second);
    await say(bash(curl('/two', 'OTHER')));
    await done(id);
    expect(seen('/two')).toEqual(['Bearer the-value-of-the-other']);
    expect(await approvedOf(id)).toEqual(['secret:TOKEN', 'secret:OTHER']);

    const { status, body } = await owner.client.post<{ task: TaskBody }>(`/v1/tasks/${id}/fork`, {});
    expect(status).toBe(201);
    expect(body.task).toMatchObject({ approvals: 'secrets' });
    await message(body.task.id);
    await say(bash(curl('/fork')));
    await say({ calls: [useSecret()] });
    await decide(body.task.id, await asked(body.task.id));
    expect(seen('/fork')).toEqual([]);
    await say(bash(curl('/fork')));
    await done(body.task.id);
    expect(seen('/fork')).toEqual([`Bearer ${VALUE}`]);
  });

  it('goes on when its worker is another one after the answer, and with what has only waited behind a denied call', async () => {
    await secret('OTHER', 'the-value-of-the-other');
    const { id } = await create();
    const calls = [useSecret('OTHER'), ...(bash('echo waited').calls ?? []), useSecret(), ...(bash(curl('/restarted')).calls ?? [])]; // prettier-ignore
    await say({ calls });
    const first = await asked(id);
    await decide(id, first, { decision: 'deny' });
    const second = await asked(id, first);
    await worker.close();
    await decide(id, second);
    expect(await readTask(owner.client, id)).toMatchObject({ status: 'queued' });
    await startWorker();
    await done(id);
    const results = await readResults(owner.client, id);
    expect(results.map(({ status }) => status)).toEqual(['denied', 'success', 'success', 'success']);
    expect(results[1]?.output).toMatchObject({ stdout: 'waited\n' });
    expect(seen('/restarted')).toEqual([`Bearer ${VALUE}`]);
  });

  it('names the secrets that there are for one that there is not, and asks nobody', async () => {
    const { id } = await create();
    await say({ calls: [useSecret('TOKE')] });
    await done(id);
    expect(await last(id)).toBe('There is no secret TOKE in this task. Its secrets: TOKEN.');
  });

  it.each(['none', 'writes'])('with `%s` uses secrets without that, and is not offered the tool', async (approvals) => {
    const { id } = await create({ approvals });
    const { request, answer } = await model.asked();
    expect(request.tools?.map((tool) => tool.function.name)).not.toContain('use_secret');
    expect(model.server.requests.at(-1)?.surroundings).not.toContain('use_secret');
    answer({ calls: [useSecret(), ...(bash(curl(`/${approvals}`)).calls ?? [])] });
    if (approvals === 'writes') {
      const approval = await asked(id);
      expect(approval.toolCall?.name).toBe('bash');
      await decide(id, approval);
    }
    await done(id);
    expect(seen(`/${approvals}`)).toEqual([`Bearer ${VALUE}`]);
    expect((await readResults(owner.client, id))[0]).toMatchObject({ status: 'success' });
    expect(await approvedOf(id)).toEqual([]);
  });

  it('asks before nothing else, and is not offered the tool where it has no secret', async () => {
    const other = await makeMember(service, { role: 'owner' });
    const { id } = await createTask(other.client, { content: 'Go on.', approvals: 'secrets' });
    const { request, answer } = await model.asked();
    expect(request.tools?.map((tool) => tool.function.name)).not.toContain('use_secret');
    answer(bash('touch a'));
    await say({ text: 'Done.' });
    expect(await finished(other.client, id)).toMatchObject({ status: 'completed', usage: { toolCalls: 1 } });
  });

  it('of the runbook asks by a block of its own', async () => {
    const blocks = ['```use_secret name=TOKEN\nTo read the list.\n```', `\`\`\`sh\n${curl('/runbook')}\n\`\`\``];
    const { id } = await create({ content: blocks.join('\n\n'), model: 'runbook' });
    const approval = await asked(id);
    expect(approval.question).toMatch(/secret TOKEN[^]*To read the list\.$/);
    await decide(id, approval);
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed' });
    expect(seen('/runbook')).toEqual([`Bearer ${VALUE}`]);
  });

  it('may be an automation’s; another value of `approvals` is 400', async () => {
    const { id, ...made } = await createAutomation(owner, { approvals: 'secrets' });
    expect(made).toMatchObject({ approvals: 'secrets' });
    await db.query('UPDATE automations SET next_run_at = now() WHERE id = $1', [id]);
    await say({ calls: [useSecret()] });
    const { body } = await owner.client.get<{ tasks: { id: string }[] }>('/v1/tasks');
    const taskId = body.tasks[0]?.id ?? '';
    await decide(taskId, await asked(taskId), { decision: 'deny' });
    await done(taskId);
    for (const approvals of ['secret', 'Secrets', ['secrets'], true]) {
      const refused = [
        await owner.client.post<ErrorBody>('/v1/tasks', { content: 'Go on.', approvals }),
        await owner.client.post<ErrorBody>(AUTOMATIONS, { ...DAILY, approvals }),
      ].map(({ status, body: fault }) => [status, fault.error.code, fault.error.param]);
      expect([approvals, refused]).toEqual([approvals, Array(2).fill([400, 'invalid_field', 'approvals'])]);
    }
  });
});
