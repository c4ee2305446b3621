import type { Page } from 'playwright-core';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { framesOf, recordFrames } from '../harness/frames.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { LONG } from '../harness/numbers.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, isInViewport, useBrowser } from '../harness/walks.js';

/** Turns that are looked at, frame by frame. */
const TURNS = LONG ? 50 : 3;

/** An answer of many screens, each of its own beginning. */
const longText = (turn: number, half: string): string =>
  [
    `Turn ${turn} ${half}`,
    ...Array.from({ length: 40 }, (_, n) => `Paragraph ${n} of ${turn} ${half}. ${'It says a little. '.repeat(n % 7)}`),
  ].join('\n\n');

const choose = {
  name: 'ask',
  arguments: { question: 'Which one?\n\n'.repeat(6), options: ['This', 'That'].map((label) => ({ id: label, label })) },
};

const BOX = `document.querySelector('[role=region][aria-label=Conversation]')`;

describeInBrowser('the conversation of a task', () => {
  let model: HeldModel;
  let member: Member;
  beforeAll(async () => {
    model = await HeldModel.start();
  });
  afterAll(() => model.server.stop());
  const service = useService(() => bootWithModels(model));
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
  });
  const browser = useBrowser();
  const look = async (id: string): Promise<Page> =>
    (await browser.signedIn(service.url, member.key.secret, `/console/tasks/${id}`)).page;

  it(
    'is followed at its end through questions and ends, and no frame of it is blank or says a thing twice',
    async () => {
      const { id } = await createTask(member.client, { content: 'Begin', model: 'scripted' });
      const page = await look(id);
      await recordFrames(page, /Turn \d+ \w+/g);
      const wrong: unknown[] = [];
      for (let turn = 1; turn <= TURNS; turn++) {
        (await model.asked()).answer({ text: longText(turn, 'asks'), calls: [choose], chunkMs: 2 });
        await page.getByRole('radio', { name: 'That' }).click();
        await page.getByRole('button', { name: 'Answer' }).click();
        (await model.asked()).answer({ text: longText(turn, 'ends'), chunkMs: 2 });
        await finished(member.client, id);
        await page.locator('header').getByText('Completed').waitFor();
        const { frames, lost, blank, doubled } = await framesOf(page);
        expect(frames).toBeGreaterThan(20);
        for (const [what, some] of Object.entries({ lost, blank, doubled }))
          if (some[0] !== undefined) wrong.push({ turn, what, frames: some.length, of: frames, first: some[0] });
        const message = page.getByLabel('Message to the agent');
        await message.fill(`Go on ${turn}`);
        if (turn < TURNS) await message.press('Control+Enter');
      }
      expect(wrong).toEqual([]);
    },
    LONG ? 900_000 : 120_000,
  );

  it('leaves a person who scrolls up where they are, also while much comes', async () => {
    const { id } = await createTask(member.client, { content: 'Begin', model: 'scripted' });
    const page = await look(id);
    const first = await model.asked();
    first.answer({ text: longText(1, 'begins'), calls: [{ name: 'bash', arguments: { command: 'true' } }] });
    const second = await model.asked();
    await page.getByText('Paragraph 39 of 1 begins').waitFor({ state: 'attached' });
    second.answer({ text: longText(2, 'goes'), chunkMs: 5 });
    await page.getByText('Paragraph 3 of 2 goes').waitFor({ state: 'attached' });
    const box = page.getByRole('region', { name: 'Conversation' });
    await box.hover();
    await page.mouse.wheel(0, -900);
    await page.getByRole('button', { name: /^(New steps|To the end)$/ }).waitFor();
    const top = () => page.evaluate<number>(`${BOX}.scrollTop`);
    const settled = await until('the scrolling to end', async () => {
      const before = await top();
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      return before === (await top()) && { before };
    });
    await finished(member.client, id);
    await page.getByText('Paragraph 39 of 2 goes').waitFor({ state: 'attached' });
    expect([settled.before > 0, await top()]).toEqual([true, settled.before]);
    await page.getByRole('button', { name: 'New steps' }).click();
    const gap = `${BOX}.scrollHeight - ${BOX}.clientHeight - ${BOX}.scrollTop`;
    await until('the end', async () => (await page.evaluate<number>(gap)) < 2);
  });

  it('says who decided what, and when, and shows the whole of it, also when it is read again', async () => {
    const boss = await makeMember(service, { workspace: member.workspace, role: 'admin' });
    const { id } = await createTask(member.client, { model: 'scripted', content: 'Two commands', approvals: 'writes' });
    const long = `set -e\n${'true && '.repeat(80)}echo to the right\n${'true\n'.repeat(9)}echo at the bottom`;
    (await model.asked()).answer(bash(long));
    const page = await look(id);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    (await model.asked()).answer(bash('cd /tmp\ntouch denied'));
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    await page.getByRole('region', { name: 'Needs your approval' }).getByText('touch denied').waitFor();
    const { user } = boss;
    await boss.client.post(`/v1/tasks/${id}/interaction`, {
      interactionId: pendingInteraction?.id,
      decision: 'deny',
    });
    (await model.asked()).answer({ text: 'It is over.' });
    await finished(member.client, id);
    const names = await Promise.all(
      [member.user, user].map(async (one) => {
        const [row] = await service.db.query<{ name: string }>('SELECT name FROM users WHERE id = $1', [one.id]);
        return row?.name ?? '';
      }),
    );
    for (const again of [false, true]) {
      if (again) await page.reload();
      await page.getByText(new RegExp(`Approved by ${names[0]}, \\d\\d:\\d\\d$`)).waitFor();
      await page.getByText(new RegExp(`Denied by ${names[1]}, \\d\\d:\\d\\d$`)).waitFor();
      const command = page.getByRole('group', { name: 'Command' }).filter({ hasText: 'to the right' });
      await command.getByText('at the bottom').waitFor();
      // Nothing of it stands to the right of its box.
      const sizes = `(() => { const box = [...document.querySelectorAll('[role=group][aria-label=Command]')].find((one) => one.textContent.includes('to the right'));
        return box.scrollWidth - box.clientWidth; })()`;
      expect(await page.evaluate(sizes)).toBe(0);
    }
    // In its line, too, a command is more than its beginning.
    await page.getByRole('button', { name: /cd \/tmp ⏎ touch denied/ }).waitFor();
  });

  it('leaves half of a zoomed window to the conversation', async () => {
    const { id } = await createTask(member.client, { model: 'scripted', content: 'Small', approvals: 'writes' });
    const asked = await model.asked();
    const page = await look(id);
    // 1440 × 900 at 200 %.
    await page.setViewportSize({ width: 720, height: 450 });
    const talk = async () => (await page.getByRole('region', { name: 'Conversation' }).boundingBox())?.height ?? 0;
    await until('half of the window', async () => (await talk()) >= 225);
    asked.answer(bash(Array.from({ length: 60 }, (_, n) => `echo ${n}`).join('\n')));
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await until('the approval', async () => (await approve.isVisible()) && isInViewport(page, approve));
    // Head and tabs take 113 px: half of the rest.
    expect(await talk()).toBeGreaterThanOrEqual(160);
    await page.getByRole('region', { name: 'What would be done' }).press('End');
    await until('its button', () => approve.isEnabled());
    await approve.click();
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
  });
});
