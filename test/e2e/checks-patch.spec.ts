import { bootWorker, useService } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { makeMember, type Member } from '../harness/client.js';
import { createEnvironment } from '../harness/environments.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { createTask, finished, readTask } from '../harness/tasks.js';

const DONE = { text: 'Done.' };
const done = { name: 'done', command: 'cat done.txt' };
const other = { name: 'other', command: 'cat other.txt' };

describe('A PATCH of the checks of a task whose turn is under way (reference §26)', () => {
  const repositories = new RepositoryFolder();
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { repositoryFiles: [repositories.path], transparency: { data: true } },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.server.stop();
    repositories.remove();
  });

  /** A task whose agent is asked for the first time. */
  const begun = async (body: object = {}) => {
    const { id } = await createTask(owner.client, { content: 'Do it.', ...body });
    return { id, first: await model.asked() };
  };
  const patch = async (id: string, body: object) => {
    const answer = await owner.client.patch(`/v1/tasks/${id}`, body);
    expect(answer.status).toBe(200);
  };
  const listed = async (id: string) =>
    (await listChecks(owner.client, id)).map(({ name, round, status }) => [name, round, status]);
  const proven = async (id: string) => {
    const { body } = await owner.client.get<{ payload: string }>(`/v1/tasks/${id}/proof`);
    const { predicate } = JSON.parse(Buffer.from(body.payload, 'base64').toString()) as { predicate: Record<string, unknown> }; // prettier-ignore
    return [predicate['result'], predicate['passedTests'], predicate['failedTests']];
  };

  it.each([
    ['a task without a repository', false],
    ['a task with one', true],
  ])('%s that had none: those that are given run at the end of this turn', async (_which, has) => {
    const url = `file://${repositories.make(`patched-${has}`, { 'a.txt': 'one\n' })}`;
    const { id, first } = await begun(has ? { repository: { url } } : {});
    await patch(id, { checks: [done], maxRepairs: 1 });
    first.answer(bash('true'));
    (await model.asked()).answer(DONE);
    const repair = await model.asked();
    expect(repair.said.at(-1)).toContain('cat: done.txt: No such file or directory');
    repair.answer(bash(`cd ${has ? 'repo' : '.'} && echo yes >done.txt`));
    (await model.asked()).answer(DONE);
    expect((await finished(owner.client, id)).status).toBe('completed');
    expect(await listed(id)).toEqual([['done', 0, 'failed'], ['done', 1, 'passed']]); // prettier-ignore
    expect(await proven(id)).toEqual(['PASSED', ['done'], []]);
  });

  it('with the last answer still to come they count, too', async () => {
    const { id, first } = await begun();
    await patch(id, { checks: [done], maxRepairs: 0 });
    first.answer(DONE);
    expect((await finished(owner.client, id)).statusReason).toMatchObject({ code: 'checks_failed' });
  });

  it('in an environment they find what its build has made', async () => {
    await createEnvironment(owner.client, { slug: 'node', setup: ['echo made >~/made.txt'] });
    const { id, first } = await begun({ environment: 'node' });
    await patch(id, { checks: [{ name: 'made', command: 'cat ~/made.txt' }] });
    first.answer(DONE);
    expect((await finished(owner.client, id)).status).toBe('completed');
    expect(await listed(id)).toEqual([['made', 0, 'passed']]);
  });

  it('they count for the worker that takes over, and what was mended before it counts too', async () => {
    const { id, first } = await begun();
    const lose = () =>
      service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
    await patch(id, { checks: [done], maxRepairs: 1 });
    await lose();
    (await model.asked()).answer(DONE);
    const lost = await model.asked();
    await lose();
    const repair = await model.asked();
    expect(repair.said.at(-1)).toContain('cat: done.txt: No such file or directory');
    repair.answer(DONE);
    expect((await finished(owner.client, id)).statusReason).toMatchObject({ code: 'checks_failed' });
    expect(await listed(id)).toEqual([['done', 0, 'failed'], ['done', 1, 'failed']]); // prettier-ignore
    for (const late of [first, lost]) late.answer(DONE);
  });

  it('those that are taken away do not run at the end of this turn', async () => {
    const { id, first } = await begun({ checks: [done] });
    await patch(id, { checks: [] });
    first.answer(DONE);
    expect((await finished(owner.client, id)).status).toBe('completed');
    expect(await listed(id)).toEqual([]);
    expect(await readTask(owner.client, id)).toMatchObject({ checks: { status: 'none' } });
  });

  it('while the agent mends its work: others take their place, are counted as rounds of this turn, and are proven alone', async () => {
    const { id, first } = await begun({ checks: [done], maxRepairs: 5 });
    first.answer(DONE);
    const repair = await model.asked();
    await patch(id, { checks: [other], maxRepairs: 1 });
    repair.answer(bash('echo yes >other.txt'));
    (await model.asked()).answer(DONE);
    expect((await finished(owner.client, id)).status).toBe('completed');
    expect(await listed(id)).toEqual([['done', 0, 'failed'], ['other', 1, 'passed']]); // prettier-ignore
    expect(await proven(id)).toEqual(['PASSED', ['other'], []]);
    expect(await readTask(owner.client, id)).toMatchObject({ checks: { status: 'passed', repairs: 1 } });
  });

  it('fewer repairs hold for the turn under way', async () => {
    const { id, first } = await begun({ checks: [done], maxRepairs: 5 });
    first.answer(DONE);
    const repair = await model.asked();
    await patch(id, { maxRepairs: 1 });
    repair.answer(DONE);
    expect((await finished(owner.client, id)).statusReason).toMatchObject({ code: 'checks_failed' });
    expect(await listed(id)).toEqual([['done', 0, 'failed'], ['done', 1, 'failed']]); // prettier-ignore
  });

  it('is told by task.updated, with checks among what changed, and only when they did', async () => {
    const { id, first } = await begun();
    await patch(id, { checks: [done], title: 'Checked' });
    await patch(id, { checks: [done] });
    await patch(id, { maxRepairs: 1 });
    await patch(id, { checks: [] });
    first.answer(DONE);
    await finished(owner.client, id);
    const { body } = await owner.client.get<{ events: { data: { changed: string[] } }[] }>(`/v1/tasks/${id}/events?types=task.updated`); // prettier-ignore
    expect(body.events.map(({ data }) => data.changed)).toEqual([['title', 'checks'], ['checks'], ['checks']]);
  });
});
