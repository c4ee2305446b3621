import { randomBytes } from 'node:crypto';
import { Env } from '../../src/platform/config/env.js';
import { Database } from '../../src/platform/database/database.js';
import { Notices } from '../../src/platform/notices/notices.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { WITHDRAW } from '../../src/resources/tasks/messages/withdrawal.sql.js';
import { newId } from '../../src/platform/database/ids.js';
import type { Machine } from '../../src/work/machines/machine.js';
import { RunClaims } from '../../src/work/runs/run-claims.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN, EventWatch, foldViews, told } from '../harness/events.js';
import { upload } from '../harness/files.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { CLAIM_BEGINS, type Holder, holdingTask, untilWaiting } from '../harness/locks.js';
import { createProject } from '../harness/projects.js';
import { createTask, finished, type MessageBody, reaches, readMessages, readTask } from '../harness/tasks.js';

type Event = { type: string; seq: number; data: Record<string, unknown> };

/** The messages that the events amount to for a client. */
async function folded({ client }: Member, id: string): Promise<MessageBody[]> {
  return foldViews((await client.get<{ events: Event[] }>(`/v1/tasks/${id}/events`)).body.events);
}

async function send({ client }: Member, id: string, content: string, more = {}): Promise<MessageBody> {
  const answer = await client.post<{ message: MessageBody }>(`/v1/tasks/${id}/messages`, { content, ...more });
  expect(answer.status).toBe(202);
  return answer.body.message;
}

async function withdraw({ client }: Pick<Member, 'client'>, id: string, messageId: string): Promise<string> {
  const { status, body } = await client.delete<ErrorBody>(`/v1/tasks/${id}/messages/${messageId}`);
  if (status === 200) expect(body).toEqual({ deleted: true, id: messageId });
  return status === 200 ? 'ok' : body.error.code;
}

const saidIn = (messages: MessageBody[]) => messages.map(({ parts }) => parts[0]?.text);

/** Withdraws a message on a connection that holds the task, and lets the task go. */
async function withdrawLate(holder: Holder, taskId: string, messageId: string, userId: string): Promise<void> {
  const query = WITHDRAW({ taskId, messageId, userId });
  await holder.query(query.text, query.values);
  await holder.release();
}

describe('Withdrawing a message that waits in a queued task (reference §6)', () => {
  let owner: Member;
  let ann: Member;
  let bob: Member;

  const service = useService();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    [ann, bob] = [
      await makeMember(service, { workspace: owner.workspace }),
      await makeMember(service, { workspace: owner.workspace }),
    ];
  });

  type Who = 'its author' | 'the owner of the task' | 'an admin' | 'another member' | 'a viewer' | 'a stranger';
  it.each<[Who, string]>([
    ['its author', 'ok'],
    ['the owner of the task', 'ok'],
    ['an admin', 'ok'],
    ['another member', 'not_owner'],
    ['a viewer', 'role_not_allowed'],
    ['a stranger', 'not_found'],
  ])('by %s: %s', async (who, expected) => {
    const { workspace } = owner;
    const people: Record<Who, () => Member | Promise<Member>> = {
      'its author': () => bob,
      'the owner of the task': () => ann,
      'an admin': () => makeMember(service, { workspace, role: 'admin' }),
      'another member': () => makeMember(service, { workspace }),
      'a viewer': () => makeMember(service, { workspace, role: 'viewer' }),
      'a stranger': () => makeMember(service),
    };
    const { id: projectId } = await createProject(ann, { name: 'P', visibility: 'workspace' });
    const { id } = await createTask(ann.client, { content: 'Begin.', projectId });
    const message = await send(bob, id, 'Then this.');
    const caller = await people[who]();
    expect(await withdraw(caller, id, message.id)).toBe(expected);
    expect(saidIn(await readMessages(owner.client, id))).toEqual(expected === 'ok' ? ['Begin.'] : ['Begin.', 'Then this.']);
    expect(await withdraw(caller, id, message.id)).toBe(expected === 'ok' ? 'not_found' : expected);
  }); // prettier-ignore

  it('takes it out of the list, the count and the events; who pages by its id goes on from its place', async () => {
    const { id } = await createTask(ann.client, { content: 'Begin.' });
    const [one, two] = [await send(ann, id, 'One.'), await send(ann, id, 'Two.')];
    expect(one).toMatchObject({ status: 'queued', turn: null, readAt: null });
    expect(await withdraw(ann, id, one.id)).toBe('ok');
    expect(await readTask(ann.client, id)).toMatchObject({ status: 'queued', messageCount: 2 });
    expect(saidIn(await readMessages(ann.client, id))).toEqual(['Begin.', 'Two.']);
    expect(saidIn(await readMessages(ann.client, id, `?after=${one.id}`))).toEqual(['Two.']);
    const events = (await ann.client.get<{ events: Event[] }>(`/v1/tasks/${id}/events`)).body.events;
    expect(events.filter(({ data }) => JSON.stringify(data).includes(one.id))).toEqual([
      expect.objectContaining({
        type: 'message.withdrawn',
        data: { messageId: one.id, by: { id: ann.user.id, name: expect.any(String) } },
      }),
    ]);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 4, 5]);
    expect(await new EventWatch(service, ann.client).events(id)).toHaveLength(5);
    expect(foldViews(events).map((message) => message.id)).toEqual([expect.any(String), two.id]);
    // Also a page that holds nothing but what is gone has a position behind it.
    type Page = { events: Event[]; position: string; caughtUp: boolean };
    const pages: Page[] = [];
    for (let position = '0'; pages.length < 6; position = pages.at(-1)?.position ?? '') {
      pages.push((await ann.client.get<Page>(`/v1/tasks/${id}/events?after=${position}&limit=1`)).body);
    }
    expect(pages.flatMap((page) => page.events)).toEqual(events);
    expect(pages.map(({ caughtUp }) => caughtUp)).toEqual([false, false, false, false, false, true]);
  });

  it('is in the audit log', async () => {
    const { id } = await createTask(ann.client, { content: 'Begin.' });
    const message = await send(ann, id, 'One.');
    await withdraw(ann, id, message.id);
    const sql = `SELECT actor_id, action, target_type, target_id FROM audit_log WHERE target_id = $1`;
    expect(await service.db.query(sql, [message.id])).toEqual([
      { actor_id: ann.user.id, action: 'message.delete', target_type: 'message', target_id: message.id },
    ]);
  });

  it('of the only message that its turn was to read cancels the task, which a message sets going again', async () => {
    const { id } = await createTask(ann.client, { content: 'Begin.' });
    const [first] = await readMessages(ann.client, id);
    expect(await withdraw(ann, id, first?.id ?? '')).toBe('ok');
    expect(await readTask(ann.client, id)).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'cancelled', message: 'The message that it was to read was withdrawn.' },
      messageCount: 0,
    });
    expect(await readMessages(ann.client, id)).toEqual([]);
    expect(await service.db.query(`SELECT 1 FROM runs WHERE task_id = $1 AND status = 'queued'`, [id])).toEqual([]);
    expect(told(await new EventWatch(service, ann.client).events(id))).toEqual([
      'message.created gone',
      'task.created',
      'message.withdrawn',
      'task.cancelled',
    ]);
    await send(ann, id, 'Rather this.');
    expect(await readTask(ann.client, id)).toMatchObject({ status: 'queued', statusReason: null, messageCount: 1 });
  });

  it('takes its attachments along, and their bytes out of what the workspace stores, but no other use of the upload', async () => {
    const who = await makeMember(service, { role: 'owner' });
    const stored = async () => {
      const sql = 'SELECT stored_bytes::int AS bytes FROM storage_usage WHERE workspace_id = $1';
      return (await service.db.query<{ bytes: number }>(sql, [who.workspace.id]))[0]?.bytes;
    };
    const [twice, once] = [await upload(service, who, randomBytes(500)), await upload(service, who, randomBytes(70))];
    const { id } = await createTask(who.client, { content: 'Begin.', attachments: [{ uploadId: twice.id }] });
    const attachments = [{ uploadId: twice.id }, { uploadId: once.id }];
    const message = await send(who, id, 'And these.', { attachments });
    await service.db.query('UPDATE uploads SET expires_at = now() WHERE user_id = $1', [who.user.id]);
    await service.app.get(FileCleaner, { strict: false }).purgeUploads();
    expect(await stored()).toBe(570);
    expect(await withdraw(who, id, message.id)).toBe('ok');
    expect(await stored()).toBe(500);
    const { body } = await who.client.get<{ files: { size: number }[] }>(`/v1/tasks/${id}/files`);
    expect(body.files.map(({ size }) => size)).toEqual([500]);
  });

  describe('while a claim waits for the task', () => {
    const claims = () =>
      new RunClaims(
        service.app.get(Database),
        service.app.get(Notices),
        { id: newId() } as Machine,
        service.app.get(Env),
      );

    it.each<[string, number, string[]]>([
      ['the message of the turn', 0, ['Two.']],
      ['one of those that are read together', 1, ['One.', 'Again.']],
    ])('%s is passed over, and the next one is read', async (_, nth, read) => {
      const { id } = await createTask(ann.client, { content: 'One.' });
      await send(ann, id, 'Two.');
      if (nth === 1) {
        expect((await ann.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
        await send(ann, id, 'Again.');
      }
      const gone = (await readMessages(ann.client, id))[nth]?.id ?? '';
      const [run] = await service.db.query<{ id: string }>(`SELECT id FROM runs WHERE task_id = $1 AND status = 'queued'`, [id]);
      const holder = await holdingTask(service.db, id);
      const claiming = claims().claim(run?.id ?? '');
      await untilWaiting(service.db, CLAIM_BEGINS);
      // The snapshot of the claim is taken: it has the message.
      await withdrawLate(holder, id, gone, ann.user.id);
      expect((await claiming) ?? (await claims().claim(run?.id ?? ''))).toMatchObject({ taskId: id });
      const messages = await readMessages(ann.client, id);
      expect(saidIn(messages.filter(({ status }) => status === 'complete'))).toEqual(read);
      expect(messages[0]).toMatchObject({ turn: 1, readAt: expect.any(String) });
      await new EventWatch(service, ann.client).events(id);
      expect(await withdraw(ann, id, messages[0]?.id ?? '')).toBe('message_already_read');
    }); // prettier-ignore

    it('at the same moment exactly one wins, in 12 races', async () => {
      const outcomes = [];
      for (let race = 0; race < 12; race++) {
        const { id } = await createTask(ann.client, { content: 'Mine.' });
        const [message] = await readMessages(ann.client, id);
        const [run] = await service.db.query<{ id: string }>('SELECT id FROM runs WHERE task_id = $1', [id]);
        const [claimed, told] = await Promise.all([
          claims().claim(run?.id ?? ''),
          withdraw(ann, id, message?.id ?? ''),
        ]);
        outcomes.push([claimed === null ? 'not read' : 'read', told, (await readMessages(ann.client, id)).length]);
        expect(await folded(ann, id)).toEqual(await readMessages(ann.client, id));
      }
      const right = [['not read', 'ok', 0], ['read', 'message_already_read', 1]]; // prettier-ignore
      for (const outcome of outcomes) expect(right).toContainEqual(outcome);
    });
  });
});

describe('Withdrawing a message to a running task (reference §6)', () => {
  let model: HeldModel;
  let member: Member;

  const service = useService(async () => {
    model = await HeldModel.start();
    const env = { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' };
    return bootWorker({ env, config: { transparency: ALL_SHOWN } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  it('is possible until it is read: the turn ends without another', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    const [steer, next] = [await send(member, id, 'Steer.', { mode: 'steer' }), await send(member, id, 'Next.')];
    first.answer(bash('true'));
    const second = await model.asked();
    expect(second.said).toEqual(['Begin.', 'Steer.']);
    expect(await withdraw(member, id, steer.id)).toBe('message_already_read');
    expect(await withdraw(member, id, next.id)).toBe('ok');
    second.answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', messageCount: 4 });
    const messages = await readMessages(member.client, id);
    expect(messages.map(({ role, turn, readAt }) => [role, turn, readAt !== null])).toEqual([
      ['user', 1, true],
      ['user', 1, true],
      ['assistant', 1, false],
      ['assistant', 1, false],
    ]);
    expect(await withdraw(member, id, messages.at(-1)?.id ?? '')).toBe('message_already_read');
    await new EventWatch(service, member.client).events(id);
  });

  it('its attachments are in no workdir: they come with the message that is read', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    const attachments = [{ uploadId: (await upload(service, member, 'x', { name: 'later.txt' })).id }];
    const message = await send(member, id, 'Look.', { attachments });
    first.answer({ calls: [{ name: 'ask', arguments: { question: 'Why?' } }] });
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    const answer = { interactionId: pendingInteraction?.id, content: 'So.' };
    expect((await member.client.post(`/v1/tasks/${id}/interaction`, answer)).status).toBe(202);
    // The run that goes on has looked up the files of the task anew.
    (await model.asked()).answer(bash('ls -R'));
    const third = await model.asked();
    expect(JSON.stringify(third.request.messages.at(-1))).not.toContain('later.txt');
    expect(await withdraw(member, id, message.id)).toBe('ok');
    third.answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
  });

  it('while a step waits for the task: of several that steer the others get their places', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    const gone = await send(member, id, 'Gone.', { mode: 'steer' });
    await send(member, id, 'Stays.', { mode: 'steer' });
    const holder = await holdingTask(service.db, id);
    first.answer(bash('true'));
    await untilWaiting(service.db, 'INSERT INTO messages');
    await withdrawLate(holder, id, gone.id, member.user.id);
    const second = await model.asked();
    expect(second.said).toEqual(['Begin.', 'Stays.']);
    second.answer({ text: 'Done.' });
    await finished(member.client, id);
    await new EventWatch(service, member.client).events(id);
  });
});
