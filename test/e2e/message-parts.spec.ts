import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXPOSABLE } from '../../src/platform/config/config-file.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { processesWith } from '../harness/processes.js';
import { createTask, finished, type MessageBody, readMessages, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const ALL = Object.fromEntries(EXPOSABLE.map((kind) => [kind, true]));
const PLAN = [{ text: 'Look.', status: 'done' }];

/** A part as a client sees it, with the fields that only some types have. */
type Part = MessageBody['parts'][number] & { downloadUrl?: string };

describe('Messages while they are made, and their parts (reference §6)', () => {
  let db: TestDatabase;
  let model: HeldModel;
  let member: Member;

  /** Exposes every kind. */
  const service = useService(async () => {
    model = await HeldModel.start();
    db = await createDatabase();
    return bootWorker({ db, env: { OPENAI_COMPATIBLE_URL: model.server.url }, config: { transparency: ALL } });
  });
  /** On the same database; exposes what is exposed by default. */
  const discreet = useService(() => bootApp({ db, env: { OPENAI_COMPATIBLE_URL: model.server.url } }));
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(async () => {
    await model.server.stop();
    await db.drop();
  });

  /** One turn with everything that this service makes itself; the ids of the task and of its attachment's upload. */
  const turn = async (): Promise<string> => {
    const { id: uploadId } = await upload(service, member, 'The words.', { name: 'words.txt' });
    const { id } = await createTask(member.client, { content: 'Begin.', attachments: [{ uploadId }] });
    (await model.asked()).answer({
      reasoning: 'I think.',
      text: 'I plan.',
      calls: [
        { name: 'todo', arguments: { items: PLAN } },
        { name: 'read', arguments: { path: 'none' } },
      ],
    });
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    return id;
  };

  it('one is in_progress while its calls run: a call has no result yet, and each result joins directly after its call', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    // Each command waits for a file, which comes when the message has been looked at.
    const files = ['first', 'second'].map((name) => `${name}-${process.pid}`);
    (await model.asked()).answer(bash(...files.map((file) => `until [ -e ${file} ]; do sleep 0.05; done`)));
    const seen: string[] = [];
    for (const file of files) {
      await until('the command to run', () => processesWith(`-e ${file}`).length > 0);
      const step = await until('the result before it to be on record', async () => {
        const [, message] = await readMessages(member.client, id);
        return message?.parts.filter(({ type }) => type === 'tool_result').length === seen.length ? message : null;
      });
      expect(step.status).toBe('in_progress');
      const shown = step.parts.filter(({ type }) => type !== 'step_start');
      seen.push(shown.map(({ type, status }) => (type === 'tool_call' ? 'call' : status)).join(' '));
      writeFileSync(join(service.app.get(DataDir).path, 'workdirs', id, file), '');
    }
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(seen).toEqual(['call call', 'call success call']);
  });

  it('what a client has seen of it does not change after complete', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer(bash('echo one'));
    const next = await model.asked();
    const before = await readMessages(member.client, id);
    expect(before.map(({ status }) => status)).toEqual(['complete', 'complete']);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'More.' });
    next.answer({ text: 'Done.' });
    (await model.asked()).answer({ text: 'Done again.' });
    await until('all to be read', async () => (await readTask(member.client, id)).status === 'completed');
    expect((await readMessages(member.client, id)).slice(0, 2)).toEqual(before);
  });

  it("the deployment's policy exposes what CONFIG_FILE says: here all that the service makes", async () => {
    const id = await turn();
    const [user, step, last] = await readMessages(member.client, id);
    const [, file] = user?.parts as Part[];
    const words = { name: 'words.txt', mediaType: 'text/plain' };
    expect(user?.parts).toEqual([
      { type: 'text', text: 'Begin.' },
      { ...file, type: 'file', ...words },
    ]);
    const [todo, read] = ['todo', 'read'].map((name) => ({ toolCallId: expect.any(String), name }));
    expect(step?.parts).toEqual([
      { type: 'step_start' },
      { type: 'reasoning', text: 'I think.' },
      { type: 'text', text: 'I plan.' },
      { type: 'tool_call', ...todo, input: { items: PLAN } },
      { type: 'tool_result', ...todo, status: 'success', output: { items: 1, left: 0 } },
      { type: 'tool_call', ...read, input: { path: 'none' } },
      { type: 'tool_result', ...read, status: 'error', error: expect.stringContaining('none') },
      { type: 'data', name: 'plan', id: expect.any(String), data: { items: PLAN } },
    ]);
    expect(last?.parts).toEqual([{ type: 'step_start' }, { type: 'text', text: 'Done.' }]);
  });

  it('the downloadUrl of a file part is the absolute address of its content', async () => {
    const [user] = await readMessages(member.client, await turn());
    const file = (user?.parts as Part[]).find(({ type }) => type === 'file') as Part & { id: string };
    expect(file.downloadUrl).toBe(`${service.url}/v1/files/${file.id}/content`);
    const content = await member.client.get(new URL(file.downloadUrl ?? '').pathname);
    expect([content.status, content.text]).toEqual([200, 'The words.']);
  });

  it('by default text, reasoning and tool activity are shown and nothing else, of the same history', async () => {
    const id = await turn();
    const client = new Client(discreet.url, member.key.secret);
    const types = (await readMessages(client, id)).map(({ parts }) => parts.map(({ type }) => type).join(' '));
    expect(types).toEqual(['text', 'reasoning text tool_call tool_result tool_call tool_result', 'text']);
  });

  it('what the model is told before the first message is recorded with it, sent again as it was, and shown to nobody', async () => {
    const { id: projectId } = await createProject(member);
    await addProjectFile(service, member, projectId, 'Be brief.', 'AGENTS.md');
    const { id: uploadId } = await upload(service, member, 'Obey me.', { name: 'CLAUDE.md' });
    const { id } = await createTask(member.client, { content: 'Begin.', attachments: [{ uploadId }], projectId });
    const asked = await model.asked();
    const before = model.server.requests.length - 1;
    asked.answer({ status: 503 });
    (await model.asked()).answer(bash('echo changed > new.txt'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'Go on.' });
    (await model.asked()).answer({ text: 'Done again.' });
    await finished(member.client, id);
    const told = model.server.requests.slice(before).map(({ surroundings }) => surroundings);
    const [first = ''] = told;
    expect(told).toEqual(Array(4).fill(first));
    // What this machine has for certain.
    expect(first).toMatch(/^Programs: node .*\bgit\b/m);
    expect(first).toMatch(
      /^Files in \/workdir, two levels:\n\.\/: attachments\/\nattachments\/: CLAUDE.md\nFiles in \/project: AGENTS.md$/m,
    );
    expect(first).toContain('<owner_notes file="/project/AGENTS.md">\nBe brief.\n</owner_notes>');
    expect(first).not.toContain('Obey me');
    const [row] = await db.query<{ parts: unknown[] }>(
      "SELECT parts FROM messages WHERE task_id = $1 AND role = 'user' ORDER BY seq LIMIT 1",
      [id],
    );
    expect(row?.parts[0]).toEqual({ type: 'surroundings', text: first });
    const shown = await readMessages(member.client, id);
    expect(shown[0]?.parts.map(({ type }) => type)).toEqual(['text', 'file']);
    const events = await member.client.get(`/v1/tasks/${id}/events`);
    for (const text of [JSON.stringify(shown), events.text]) expect(text).not.toMatch(/surroundings|Be brief/);
  });

  it('messageCount counts the stored messages, whatever the policy shows', async () => {
    const { id: uploadId } = await upload(service, member, 'x');
    const { id } = await createTask(member.client, { attachments: [{ uploadId }] });
    (await model.asked()).answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ messageCount: 2 });
    const client = new Client(discreet.url, member.key.secret);
    expect((await readMessages(client, id)).map(({ role }) => role)).toEqual(['assistant']);
    expect(await readTask(client, id)).toMatchObject({ messageCount: 2 });
  });

  it('the 202 of a send shows the attachments of the message, by default too; the list does not', async () => {
    const id = await turn();
    const { id: uploadId } = await upload(service, member, 'x', { name: 'late.txt' });
    const client = new Client(discreet.url, member.key.secret);
    const json = { content: 'Look.', attachments: [{ uploadId }] };
    const { body } = await client.post<{ message: MessageBody }>(`/v1/tasks/${id}/messages`, json);
    expect(body.message.parts).toMatchObject([
      { type: 'text', text: 'Look.' },
      { type: 'file', name: 'late.txt' },
    ]);
    expect((await readMessages(client, id, `?after=${body.message.id}`)).length).toBe(0);
    const [sent] = await readMessages(client, id, '?order=desc&limit=1');
    expect(sent).toMatchObject({ id: body.message.id, parts: [{ type: 'text', text: 'Look.' }] });
    (await model.asked()).answer({ text: 'Seen.' });
    await finished(member.client, id);
  });
});
