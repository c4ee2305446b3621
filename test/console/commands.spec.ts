import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { newMark, processesGone } from '../harness/processes.js';
import { createProject } from '../harness/projects.js';
import { call, createTask, finished } from '../harness/tasks.js';
import { addMessages } from '../harness/task-walks.js';
import { describeInBrowser, drawn, useBrowser } from '../harness/walks.js';

const DONE = { text: 'Done.' };
const behind = (command: string, more: object = {}) => ({
  name: 'bash',
  arguments: { command, background: true, ...more },
});
/** Answers each line that it is given, and ends when there are no more. */
const ANSWERS = 'echo ready; while read -r line; do echo "<$line>"; done; echo over; exit 3';

/** Ends when a file is there. */
const WAITS = 'echo quick; until [ -e /tmp/go ]; do sleep 0.1; done; echo later';

const panel = (page: Page) => page.getByRole('region', { name: 'Commands in the background' });
const head = (page: Page) => panel(page).getByRole('button', { name: /^Commands in the background/ });
const one = (page: Page, id: string) => panel(page).getByRole('listitem').filter({ has: page.getByText(id, { exact: true }) }); // prettier-ignore
const soFar = (page: Page, id: string) => one(page, id).getByRole('group', { name: `Output so far of ${id}` });
const whole = (page: Page, id: string) => one(page, id).getByRole('group', { name: `The end of the output of ${id}` });
const stop = (page: Page, id: string) => one(page, id).getByRole('button', { name: `Stop ${id}` });

describeInBrowser('commands that go on, in the page of their task', () => {
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url }, config: { transparency: { data: true } } });
  });
  const browser = useBrowser();
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.server.stop());

  const look = async (id: string, { key }: Pick<Member, 'key'> = owner) =>
    (await browser.signedIn(service.url, key.secret, `/console/tasks/${id}`)).page;
  /** A task whose agent has begun these commands, and is asked what it does next. */
  const begun = async (calls: ReturnType<typeof behind>[], more: object = {}) => {
    const { id } = await createTask(owner.client, { content: 'Go on.', ...more });
    (await model.asked()).answer({ calls });
    return { id, next: await model.asked() };
  };
  const end = async (id: string) => {
    (await model.asked()).answer(DONE);
    await finished(owner.client, id);
  };

  it('have a terminal each, in which what they say comes as they say it, and say how they have ended', async () => {
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    const page = await look(id);
    await page.getByRole('region', { name: 'Conversation' }).waitFor();
    expect(await panel(page).count()).toBe(0);
    (await model.asked()).answer({ calls: [behind(ANSWERS), behind(WAITS)] });
    await panel(page).getByText('2 running').waitFor();
    await page.getByText('in the background as b1').waitFor();
    await head(page).click();
    await one(page, 'b1').getByText('echo ready; while read -r line', { exact: false }).waitFor();
    await one(page, 'b1').getByText('running', { exact: true }).waitFor();
    await soFar(page, 'b1')
      .getByText(/^ready$/)
      .waitFor();
    // The other ends by itself; those that run stand first.
    (await model.asked()).answer(call('bash', { command: 'touch /tmp/go' }));
    await one(page, 'b2').getByText('exit 0', { exact: true }).waitFor();
    await whole(page, 'b2')
      .getByText(/^quick\nlater$/)
      .waitFor();
    await panel(page).getByText('1 running, 1 ended').waitFor();
    expect(await panel(page).locator('li summary strong').allTextContents()).toEqual(['b1', 'b2']);
    for (const [given, said] of [['one', /^ready\n<one>$/], ['two', /^ready\n<one>\n<two>$/]] as const) {
      (await model.asked()).answer(call('bash_input', { id: 'b1', text: `${given}\n` }));
      await soFar(page, 'b1').getByText(said).waitFor();
    } // prettier-ignore
    (await model.asked()).answer(call('bash_input', { id: 'b1', end: true, waitSeconds: 10 }));
    await one(page, 'b1').getByText('exit 3', { exact: true }).waitFor();
    await whole(page, 'b1')
      .getByText(/^ready\n<one>\n<two>\nover$/)
      .waitFor();
    await end(id);
    await panel(page).getByText('2 ended').waitFor();
  });

  it('show what a terminal got as text: no markup, no codes, a line that draws over itself once', async () => {
    const says = `printf '\\033]0;title\\007\\033[2J\\033[1;32mgreen\\033[0m <b>bold</b>\\n10%%\\r\\033[K100%%\\nname? '; read -r name; echo "hello $name"; exec cat`;
    const { id, next } = await begun([behind(says, { terminal: true })]);
    // What was said before one looks is there too.
    const page = await look(id);
    await head(page).click();
    await soFar(page, 'b1')
      .getByText(/^green <b>bold<\/b>\n100%\nname\? ?$/)
      .waitFor();
    expect(await panel(page).locator('pre b, pre i, pre a').count()).toBe(0);
    next.answer(call('bash_input', { id: 'b1', text: 'Ann', keys: ['enter'] }));
    await soFar(page, 'b1')
      .getByText(/hello Ann$/)
      .waitFor();
    (await model.asked()).answer(call('bash_input', { id: 'b1', keys: ['ctrl-c'] }));
    await one(page, 'b1').getByText('exit 130', { exact: true }).waitFor();
    await end(id);
  });

  it('are stopped by a button, of those who may write; others see them without it', async () => {
    const marks = [newMark(), newMark()];
    const { id: projectId } = await createProject(owner, { name: 'Seen', visibility: 'workspace' });
    const { id, next } = await begun(
      marks.map((mark) => behind(`echo up; exec sleep ${mark}`)),
      { projectId },
    );
    const page = await look(id);
    const viewer = await makeMember(service, { workspace: owner.workspace, role: 'viewer' });
    const watched = await look(id, viewer);
    for (const shown of [page, watched]) {
      await head(shown).click();
      await soFar(shown, 'b1').getByText(/^up$/).waitFor();
    }
    expect(await watched.getByRole('button', { name: /^Stop b/ }).count()).toBe(0);
    await stop(page, 'b1').click();
    for (const shown of [page, watched]) {
      await one(shown, 'b1').getByText('stopped', { exact: true }).waitFor();
      await whole(shown, 'b1').getByText(/^up$/).waitFor();
      await panel(shown).getByText('1 running, 1 ended').waitFor();
    }
    await processesGone(marks[0] ?? '');
    expect(await panel(page).locator('li summary strong').allTextContents()).toEqual(['b2', 'b1']);
    expect(await page.getByRole('button', { name: /^Stop b/ }).count()).toBe(1);
    next.answer(DONE);
    await finished(owner.client, id);
    // The end of a turn ends those that are left.
    await one(page, 'b2').getByText('stopped', { exact: true }).waitFor();
    await processesGone(marks[1] ?? '');
  });

  it('stand there also when what has begun them is further up than what is read', async () => {
    const { id, next } = await begun([behind(`exec sleep ${newMark()}`)]);
    next.answer(DONE);
    await finished(owner.client, id);
    await addMessages(service, id, 150);
    const page = await look(id);
    await page.getByRole('button', { name: /earlier/i }).waitFor();
    await panel(page).getByText('1 ended', { exact: true }).waitFor();
  });

  it('look well: folded, and with one that runs and one that has ended', async () => {
    const mark = newMark();
    const { id, next } = await begun([behind(`echo up; exec sleep ${mark}`), behind('echo broken; sleep 1.2; exit 1')]);
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: `/console/tasks/${id}` },
      {
        folded: (page) => panel(page).getByText('1 running, 1 ended').waitFor(),
        unfolded: async (page) => {
          await head(page).click();
          await one(page, 'b2').locator('summary').click();
          await soFar(page, 'b1').getByText(/^up$/).waitFor();
          await whole(page, 'b2')
            .getByText(/^broken$/)
            .waitFor();
        },
      },
    );
    next.answer(DONE);
    await finished(owner.client, id);
  });
});

describeInBrowser('where the workspace shows no tool activity', () => {
  let model: HeldModel;
  const service = useService(async () => {
    model = await HeldModel.start();
    const config = { transparency: { tool_activity: false } };
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url }, config });
  });
  const browser = useBrowser();
  afterAll(() => model.server.stop());

  it('commands that go on stand nowhere in the page of their task', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    (await model.asked()).answer({ text: 'I begin.', calls: [behind(`echo secret; exec sleep ${newMark()}`)] });
    const next = await model.asked();
    const { page } = await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`);
    await page.getByText('I begin.').waitFor();
    next.answer(DONE);
    await page.locator('header').getByText('Completed').waitFor();
    await drawn(page);
    expect(await panel(page).count()).toBe(0);
    expect(await page.getByText(/secret|sleep/).count()).toBe(0);
  });
});
