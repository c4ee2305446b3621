// What people are sent about their tasks: through real sockets, to a push service, an SMTP server and an endpoint of the test.
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { headerOf, MailServer, textOf } from '../harness/mail-server.js';
import { ModelServer } from '../harness/model-server.js';
import { type NoticeRow, readNotices, setNotices, subscribe, unsubscribe } from '../harness/notices.js';
import { PushService, receives, type TestBrowser } from '../harness/push-service.js';
import { call, createTask, reaches, readTask, runTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { HERE, Receiver } from '../harness/webhooks.js';

const LOGIN = 'mill:canary-of-the-password';
const ORIGIN = 'https://mill.example';
const ALL = ['push', 'email', 'hook'];

describe('Notices to people (reference §21)', () => {
  let model: ModelServer;
  let push: PushService;
  let mail: MailServer;
  let hook: Receiver;
  const service = useService(async () => {
    [model, push, mail, hook] = await Promise.all([
      ModelServer.start(),
      PushService.listen(),
      MailServer.listen(LOGIN),
      Receiver.listen(),
    ]);
    const smtp = { SMTP_URL: mail.url(LOGIN), SMTP_FROM: 'mill@example.test' };
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, PUBLIC_URL: ORIGIN, ...smtp, ...HERE } });
  });
  afterAll(() => Promise.all([model.stop(), push.close(), mail.close(), hook.close()]));

  /** A member with one browser and a hook of its own, who has asked for this. */
  const told = async (settings: object): Promise<Member & { browser: TestBrowser; path: string }> => {
    const member = await makeMember(service, { role: 'member' });
    const browser = push.browser((await readNotices(member.client)).push.publicKey);
    await subscribe(member.client, browser);
    const path = `/${member.user.id}`;
    await setNotices(member.client, { hookUrl: hook.url(path), ...settings });
    return { ...member, browser, path };
  };
  const noticesOf = ({ user }: Member) =>
    service.db.query<NoticeRow>(
      `SELECT id, kind, channel, status, attempts, due_at AS "dueAt" FROM personal_notices WHERE user_id = $1 ORDER BY created_at, channel`,
      [user.id],
    );
  /** Waits until nothing is left to send of a member that has had so many notices. */
  const settled = (member: Member, count: number) =>
    until(`${count} notices to have ended`, async () => {
      const rows = await noticesOf(member);
      return rows.length === count && rows.every(({ status }) => !['pending', 'sending'].includes(status)) && rows;
    });
  const mailsTo = ({ user }: Member) => mail.mails.filter(({ to }) => to.includes(user.email));
  /** All that has happened until now has been read: a notice about something that happens later has come. */
  const nothingElse = async () => {
    const witness = await told({ finished: ['hook'] });
    await runTask(witness.client, script({ text: 'Done.' }));
    await hook.gets(witness.path);
  };
  const asking = script(call('ask', { question: 'Which way?' }), { text: 'Done.' });
  const bodies = (path: string) => hook.at(path).map(({ body }) => JSON.parse(body) as Record<string, unknown>);

  it('a task that ends, fails or asks is told by each channel that was asked for, with its title and a link', async () => {
    const member = await told({ needsYou: ALL, finished: ALL, failed: ALL });
    const { client, browser, path } = member;
    const done = await runTask(client, script({ text: 'Secret result.' }), { title: 'Make it <green>' });
    await settled(member, 3);
    const asks = await createTask(client, { content: asking, title: 'Ask me' });
    await reaches(client, asks.id, 'awaiting_input');
    await settled(member, 6);
    const expected = [
      { kind: 'finished', taskId: done.id, title: 'Make it <green>', link: `${ORIGIN}/console/tasks/${done.id}` },
      { kind: 'needs_you', taskId: asks.id, title: 'Ask me', link: `${ORIGIN}/console/tasks/${asks.id}` },
    ];
    const texts = [
      `Finished: Make it <green>\n\n${ORIGIN}/console/tasks/${done.id}`,
      `Needs you: Ask me\n\n${ORIGIN}/console/tasks/${asks.id}`,
    ];
    const escaped = (text = '') => text.replace('<green>', '&lt;green&gt;');
    expect(browser.received.map(({ notice }) => notice)).toEqual(
      expected.map((one, n) => ({ ...one, text: texts[n] })),
    );
    expect(bodies(path)).toEqual(expected.map((one, n) => ({ ...one, text: escaped(texts[n]) })));
    expect(browser.received.map(({ headers }) => [headers['ttl'], headers['urgency']])).toEqual([
      ['86400', 'normal'],
      ['86400', 'high'],
    ]);
    const mails = mailsTo(member);
    expect(mails.map((one) => [headerOf(one, 'Subject'), textOf(one).trim()])).toEqual([
      ['Finished: Make it <green>', texts[0]],
      ['Needs you: Ask me', texts[1]],
    ]);
    expect(mails.map((one) => [one.from, one.to, headerOf(one, 'From'), headerOf(one, 'Auto-Submitted')])).toEqual(
      mails.map(() => ['mill@example.test', [member.user.email], 'Millwright <mill@example.test>', 'auto-generated']),
    );
    expect(JSON.stringify([bodies(path), mails, browser.received])).not.toContain('Secret result');
  });

  it('a task that fails is told', async () => {
    const member = await told({ failed: ['hook'] });
    const task = await createTask(member.client, { content: script({ text: 'x' }), title: 'Fails' });
    await reaches(member.client, task.id, 'completed');
    await service.db.query(`UPDATE tasks SET status = 'failed', status_reason = '{"code": "model_error", "message": "secret", "retryable": true}' WHERE id = $1`, [task.id]); // prettier-ignore
    await settled(member, 1);
    expect(bodies(member.path)).toMatchObject([{ kind: 'failed', taskId: task.id }]);
    expect(JSON.stringify(bodies(member.path))).not.toContain('secret');
  });

  it('nothing is sent to those who have asked for nothing, and of each kind only where it was asked for', async () => {
    const [silent, some] = [await told({}), await told({ finished: ['email'], needsYou: ['push'], failed: ALL })];
    for (const { client } of [silent, some]) await runTask(client, script({ text: 'Done.' }));
    await settled(some, 1);
    await nothingElse();
    expect([silent, some].map((one) => mailsTo(one).length)).toEqual([0, 1]);
    expect([silent, some].map(({ path, browser }) => [hook.at(path).length, browser.received.length])).toEqual([[0, 0], [0, 0]]); // prettier-ignore
    expect(await noticesOf(silent)).toEqual([]);
  });

  it('the question is sent only with detail', async () => {
    const [plain, detailed] = [await told({ needsYou: ALL }), await told({ needsYou: ALL, detail: true })];
    for (const { client } of [plain, detailed]) await createTask(client, { content: asking, title: 'Ask me' });
    await Promise.all([settled(plain, 3), settled(detailed, 3)]);
    const sentTo = (one: typeof plain) => JSON.stringify([bodies(one.path), mailsTo(one), one.browser.received]);
    expect(sentTo(plain)).not.toContain('Which way?');
    expect(sentTo(detailed).split('Which way?')).toHaveLength(4);
  });

  it('each turn is told once, and each question once', async () => {
    const member = await told({ needsYou: ['hook'], finished: ['hook'] });
    const { id } = await createTask(member.client, { content: asking, title: 'Twice' });
    await settled(member, 1);
    const { pendingInteraction } = await readTask(member.client, id);
    const answer = { interactionId: pendingInteraction?.id, content: 'Left.' };
    await member.client.post(`/v1/tasks/${id}/interaction`, answer);
    await settled(member, 2);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: script({ text: 'Again.' }) });
    await settled(member, 3);
    await nothingElse();
    expect(bodies(member.path).map(({ kind }) => kind)).toEqual(['needs_you', 'finished', 'finished']);
  });

  it('only the person who made the task is told, and no one who does not see it any more', async () => {
    const member = await told({ finished: ['hook'], needsYou: ['hook'] });
    const { workspace } = member;
    const colleague = await makeMember(service, { workspace, role: 'owner' });
    await setNotices(colleague.client, { finished: ['hook'], hookUrl: hook.url('/colleague') });
    const made = await colleague.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P', visibility: 'workspace' });
    const projectId = made.body.project.id;
    // Held back, so that it can become invisible before it is sent.
    await quietNow(member);
    const task = await runTask(member.client, script({ text: 'Done.' }), { projectId });
    await until('the notice to wait', async () => (await noticesOf(member))[0]?.status === 'pending');
    await colleague.client.patch(`/v1/projects/${projectId}`, { visibility: 'private' });
    expect((await member.client.get(`/v1/tasks/${task.id}`)).status).toBe(404);
    await quietOver(member);
    expect((await settled(member, 1))[0]?.status).toBe('dropped');
    await service.app.get(MembershipsService).remove(workspace.id, member.user.id, colleague.user.id);
    await nothingElse();
    expect([hook.at(member.path), hook.at('/colleague')]).toEqual([[], []]);
  }); // prettier-ignore

  /** Quiet hours around now, by the clocks of UTC. */
  const quietNow = async (member: Member & { path: string }, more: object = {}) => {
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const quiet = { from: at(-1), to: at(1), timezone: 'UTC' };
    const { email: _email, push: _push, ...settings } = await readNotices(member.client);
    await setNotices(member.client, { ...settings, ...more, quiet });
    return quiet;
  };
  /** As if their end had come. */
  const quietOver = (member: Member) =>
    service.db.query(`WITH s AS (UPDATE notice_settings SET quiet = NULL WHERE user_id = $1)
      UPDATE personal_notices SET due_at = now() WHERE user_id = $1 AND status = 'pending'`, [member.user.id]); // prettier-ignore

  it('in quiet hours nothing is sent; at their end what is still so is', async () => {
    const member = await told({ needsYou: ['hook'], finished: ['hook'] });
    const { to } = await quietNow(member);
    const { client } = member;
    const [answered, open] = [
      await createTask(client, { content: asking, title: 'Answered' }),
      await createTask(client, { content: asking, title: 'Open' }),
    ];
    const waiting = await until('both to wait for the end', async () => {
      const rows = await noticesOf(member);
      return rows.length === 2 && rows.every(({ dueAt }) => dueAt.getTime() > Date.now() + 60_000) && rows;
    });
    expect(waiting.map(({ status, attempts, dueAt }) => [status, attempts, dueAt.toISOString().slice(11, 16)])).toEqual(
      waiting.map(() => ['pending', 0, to]),
    );
    // A test is asked for, and comes all the same.
    await client.post('/v1/notices/test', { channel: 'hook' });
    await hook.gets(member.path, 1);
    const { pendingInteraction } = await readTask(client, answered.id);
    await client.post(`/v1/tasks/${answered.id}/interaction`, {
      interactionId: pendingInteraction?.id,
      content: 'Left.',
    });
    await reaches(client, answered.id, 'completed');
    await until('the end of the turn to wait', async () => (await noticesOf(member)).length === 4);
    await quietOver(member);
    const ends = await settled(member, 4);
    expect(ends.map(({ kind, status }) => `${kind} ${status}`).sort()).toEqual(['finished sent', 'needs_you dropped', 'needs_you sent', 'test sent']); // prettier-ignore
    expect(bodies(member.path).slice(1).map(({ title }) => title).sort()).toEqual(['Answered', 'Open']); // prettier-ignore
    expect(bodies(member.path).find(({ kind }) => kind === 'needs_you')?.['taskId']).toBe(open.id);
  });

  it('what waits is sent when the quiet hours are taken away, and not by a channel that is off by then', async () => {
    const member = await told({ finished: ['hook', 'email'] });
    await quietNow(member);
    await runTask(member.client, script({ text: 'Done.' }));
    await until('both to wait', async () => (await noticesOf(member)).length === 2);
    await setNotices(member.client, { finished: ['hook'], hookUrl: hook.url(member.path) });
    expect((await settled(member, 2)).map(({ channel, status }) => `${channel} ${status}`).sort()).toEqual(['email dropped', 'hook sent']); // prettier-ignore
    expect(mailsTo(member)).toEqual([]);
  });

  it('a browser that is gone is forgotten, and one that was removed is sent nothing', async () => {
    const member = await told({ finished: ['push'] });
    const [gone, removed] = [member.browser, push.browser((await readNotices(member.client)).push.publicKey)];
    await subscribe(member.client, removed);
    await unsubscribe(member.client, removed);
    gone.statuses.push(410);
    await runTask(member.client, script({ text: 'Done.' }));
    await settled(member, 1);
    await until('it to be forgotten', async () => (await readNotices(member.client)).push.subscriptions === 0);
    expect([gone.received, removed.received]).toEqual([[], []]);
  });

  it('each browser is told, and a test reaches all of them', async () => {
    const member = await told({});
    const second = push.browser((await readNotices(member.client)).push.publicKey);
    await subscribe(member.client, second);
    const { status, body } = await member.client.post<{ queued: number }>('/v1/notices/test', { channel: 'push' });
    expect([status, body.queued]).toEqual([202, 2]);
    for (const browser of [member.browser, second]) {
      const [first] = await receives(browser);
      expect(first?.notice).toMatchObject({ kind: 'test', taskId: null, link: `${ORIGIN}/console/` });
    }
  });

  it('is tried again only when the other side certainly has not taken it', async () => {
    const member = await told({ finished: ALL });
    let asked = 0;
    hook.on(member.path, (_received, response) => {
      asked += 1;
      response.statusCode = asked === 1 ? 503 : 200;
      response.end();
    });
    member.browser.statuses.push(429);
    mail.answers.push(['RCPT', '450 later']);
    await runTask(member.client, script({ text: 'Done.' }));
    await until('all three to wait', async () => {
      const rows = await noticesOf(member);
      return rows.length === 3 && rows.every(({ status, attempts }) => status === 'pending' && attempts === 1);
    });
    await service.db.query(`UPDATE personal_notices SET due_at = now() WHERE user_id = $1`, [member.user.id]);
    const ends = await settled(member, 3);
    expect(ends.map(({ status, attempts }) => [status, attempts])).toEqual(ends.map(() => ['sent', 2]));
    expect([asked, mailsTo(member).length, member.browser.received.length]).toEqual([2, 1, 1]);
  });

  it('is not tried again when it may have arrived, or was refused', async () => {
    const member = await told({ finished: ALL });
    hook.on(member.path, (_received, response) => response.destroy());
    member.browser.statuses.push(500);
    mail.answers.push(['.', '554 no']);
    await runTask(member.client, script({ text: 'Done.' }));
    const ends = await settled(member, 3);
    expect(ends.map(({ status, attempts }) => [status, attempts])).toEqual(ends.map(() => ['failed', 1]));
    expect([hook.at(member.path).length, mailsTo(member).length]).toEqual([1, 0]);
  });

  it('no header of an e-mail can come out of a title, nor a second address', async () => {
    const member = await told({ finished: ['email'] });
    await quietNow(member);
    const { id } = await runTask(member.client, script({ text: 'x' }), { title: 'T' });
    await until('it to wait', async () => (await noticesOf(member)).length === 1);
    await service.db.query(`UPDATE tasks SET title = $2 WHERE id = $1`, [id, 'Hi\r\nBcc: eve@example.test\r\n\r\nBody\u2028é']); // prettier-ignore
    await quietOver(member);
    await settled(member, 1);
    const [got] = mailsTo(member);
    if (got === undefined) throw new Error('There is no mail.');
    expect(got.to).toEqual([member.user.email]);
    expect(headerOf(got, 'Bcc')).toBeNull();
    expect(textOf(got)).toContain('Finished: Hi Bcc: eve@example.test Body é');
  });

  it('a task that is deleted takes its notices with it', async () => {
    const member = await told({ finished: ['hook'] });
    await quietNow(member);
    const { id } = await runTask(member.client, script({ text: 'Done.' }));
    await until('it to wait', async () => (await noticesOf(member)).length === 1);
    await member.client.delete(`/v1/tasks/${id}`);
    expect(await noticesOf(member)).toEqual([]);
  });
});
