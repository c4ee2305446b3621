import type { Page } from 'playwright-core';
import { useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation, DAILY } from '../harness/automation-requests.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { createProject } from '../harness/projects.js';
import { relayTo } from '../harness/proxy.js';
import { rows } from '../harness/task-pages.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { focused, typesOn } from '../harness/typist.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

const ask = (question: string, options?: string[]) => ({
  calls: [
    {
      name: 'ask',
      arguments: { question, ...(options && { options: options.map((label) => ({ id: label, label })) }) },
    },
  ],
});

describeInBrowser('somebody who writes while the page changes', () => {
  let model: HeldModel;
  let writer: Member;
  let other: Member;
  beforeAll(async () => {
    model = await HeldModel.start();
  });
  afterAll(() => model.server.stop());
  const service = useService(() => bootWithModels(model));
  beforeAll(async () => {
    other = await makeMember(service, { role: 'owner' });
    writer = await makeMember(service, { workspace: other.workspace, role: 'member' });
  });
  const browser = useBrowser();
  const look = async (path: string, url = service.url): Promise<Page> =>
    (await browser.signedIn(url, writer.key.secret, `/console${path}`)).page;

  /** A task of the other one, in a project that both see. */
  async function sharedTask(body: Record<string, unknown> = {}) {
    const project = await createProject(other, { name: 'Mill', visibility: 'workspace' });
    const { id } = await createTask(other.client, {
      content: 'Begin',
      model: 'scripted',
      projectId: project.id,
      ...body,
    });
    return { id, project };
  }
  /** What the other one says to what the task asks. */
  async function answers(id: string, reply: object): Promise<void> {
    const { pendingInteraction } = await readTask(other.client, id);
    const json = { interactionId: pendingInteraction?.id, ...reply };
    expect((await other.client.post(`/v1/tasks/${id}/interaction`, json)).status).toBe(202);
  }
  /** Who settled what the task asked, in order. */
  async function settled(id: string): Promise<unknown[]> {
    const { body } = await other.client.get<{ events: { data: { outcome: string; by: { id: string } | null } }[] }>(
      `/v1/tasks/${id}/events?types=interaction.settled`,
    );
    return body.events.map(({ data }) => [data.outcome, data.by?.id]);
  }

  it('to the agent loses no letter, and triggers nothing, whatever arrives', async () => {
    browser.allow(/ERR_/, /status of 404/);
    const { id, project } = await sharedTask({ approvals: 'writes' });
    let asked = await model.asked();
    const relay = await relayTo(service.url);
    try {
      const page = await look(`/tasks/${id}`, relay.url);
      const message = page.getByLabel('Message to the agent');
      await message.click();
      let written = '';
      const arrives = async (what: () => Promise<unknown>) => {
        written += await typesOn(page, what);
        expect(await focused(page)).toBe('Message to the agent');
      };
      // An approval, until its button takes input and longer.
      await arrives(async () => {
        asked.answer(bash('touch approved'));
        await until('the button', () => page.getByRole('button', { name: 'Approve', exact: true }).isEnabled());
      });
      // A question, after somebody else decided.
      await arrives(async () => {
        await answers(id, { decision: 'approve' });
        asked = await model.asked();
        asked.answer(ask('How many?'));
        await page.getByRole('region', { name: 'Asks you', exact: true }).waitFor();
      });
      // A choice.
      await arrives(async () => {
        await answers(id, { content: 'Seven' });
        asked = await model.asked();
        asked.answer(ask('Which?', ['This', 'That']));
        await page.getByRole('region', { name: 'Asks you to choose' }).waitFor();
      });
      // The end, and a new turn.
      await arrives(async () => {
        await answers(id, { optionIds: ['This'] });
        asked = await model.asked();
        asked.answer({ text: 'That was all. '.repeat(400), chunkMs: 1 });
        await page.locator('header').getByText('Completed').waitFor();
        await other.client.post(`/v1/tasks/${id}/messages`, { content: 'Go on' });
        asked = await model.asked();
        await page.locator('header').getByText('Running').waitFor();
      });
      // The service goes away and comes back.
      await arrives(async () => {
        await relay.cut();
        await page.getByText('The service does not answer').waitFor();
        await relay.mend();
        await page.getByText('The service does not answer').waitFor({ state: 'detached' });
      });
      // Cancelled by somebody else; moved to another name and place.
      await arrives(async () => {
        await other.client.post(`/v1/tasks/${id}/cancel`, {});
        await page.locator('header').getByText('Cancelled').waitFor();
        await other.client.patch(`/v1/tasks/${id}`, { title: 'Another name' });
        await page.getByRole('heading', { name: 'Another name' }).waitFor();
      });
      // Not to be seen any more.
      await arrives(async () => {
        await other.client.patch(`/v1/projects/${project.id}`, { visibility: 'private' });
        await page.getByText('There is no such task').waitFor();
      });
      expect(await message.inputValue()).toBe(written);
      const { id: by } = other.user;
      expect(await settled(id)).toEqual([
        ['approved', by],
        ['answered', by],
        ['answered', by],
      ]);
    } finally {
      await relay.close();
    }
  });

  it('an answer or a reason keeps it when somebody else was faster, and when something else is asked', async () => {
    const { id } = await sharedTask({ approvals: 'writes' });
    (await model.asked()).answer(ask('How many?'));
    const page = await look(`/tasks/${id}`);
    const answer = page.getByLabel('Answer in your own words');
    await answer.click();
    const answered = await typesOn(page, async () => {
      await answers(id, { content: 'Seven' });
      (await model.asked()).answer(bash('touch one'));
      await page.getByRole('region', { name: 'Needs your approval' }).waitFor();
    });
    expect([await focused(page), await answer.inputValue()]).toEqual(['Answer in your own words', answered]);
    // Its own place is closed by hand; the approval is answered beside it.
    const question = page.getByRole('region', { name: 'Asks you', exact: true });
    await question.getByText('This is settled by now').waitFor();
    await question.getByRole('button', { name: 'Close' }).click();
    await question.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Deny …' }).click();
    const reason = page.getByLabel('Reason');
    await reason.click();
    const because = await typesOn(page, async () => {
      await answers(id, { decision: 'approve' });
      (await model.asked()).answer(ask('Which?', ['This', 'That']));
      await page.getByRole('region', { name: 'Asks you to choose' }).waitFor();
    });
    expect([await focused(page), await reason.inputValue()]).toEqual(['Reason', because]);
    await page.keyboard.press('Control+Enter');
    expect((await readTask(other.client, id)).pendingInteraction?.type).toBe('choice');
    expect(await settled(id)).toEqual([
      ['answered', other.user.id],
      ['approved', other.user.id],
    ]);
  });

  it('settles what is asked by a button alone, which takes input 600 ms after it came into view', async () => {
    const { id } = await sharedTask({ approvals: 'writes' });
    const asked = await model.asked();
    const page = await look(`/tasks/${id}`);
    await page.getByLabel('Message to the agent').waitFor();
    // When each approval's button was first seen, and when it took input.
    await page.evaluate(`window.buttons = [];
      new MutationObserver(() => {
        const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Approve');
        const known = window.buttons.findLast((one) => one.button === button);
        if (button && !known) window.buttons.push({ button, seen: performance.now(), usable: null });
        else if (button && !button.disabled) known.usable ??= performance.now();
      }).observe(document.body, { subtree: true, childList: true, attributes: true })`);
    asked.answer(bash('touch one'));
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    await until('the button', () => approve.isEnabled());
    // Nothing has the focus, and all letters are typed.
    await page.keyboard.type('a d A D y n 1 2 j k e x add and deny all\n');
    expect((await readTask(other.client, id)).status).toBe('awaiting_input');
    // A message would deny it: so no key sends one from its box.
    const message = page.getByLabel('Message to the agent');
    expect(await message.isVisible()).toBe(false);
    await approve.focus();
    await page.keyboard.press('Control+Enter');
    (await model.asked()).answer(bash('touch two'));
    await until(
      'the next button',
      async () => (await approve.isEnabled()) && (await page.evaluate('window.buttons.length')) === 2,
    );
    const waits = await page.evaluate<number[]>('window.buttons.map(({ seen, usable }) => usable - seen)');
    expect(waits.filter((ms) => ms < 600)).toEqual([]);
    await approve.click();
    (await model.asked()).answer(ask('Which?', ['This', 'That']));
    await page.getByRole('region', { name: 'Asks you to choose' }).waitFor();
    await page.keyboard.type('2\n\nand\n');
    expect((await readTask(other.client, id)).status).toBe('awaiting_input');
    await until('the button', () => page.getByRole('button', { name: 'Answer' }).isEnabled());
    await page.keyboard.press('Control+Enter');
    (await model.asked()).answer({ text: 'That it is.' });
    await finished(other.client, id);
    const { id: by } = writer.user;
    expect(await settled(id)).toEqual([
      ['approved', by],
      ['approved', by],
      ['answered', by],
    ]);
  });

  it('with a message beside an approval, sends it by its button alone, which says what it does', async () => {
    const { id } = await sharedTask({ approvals: 'writes' });
    const asked = await model.asked();
    const page = await look(`/tasks/${id}`);
    const message = page.getByLabel('Message to the agent');
    await message.fill('Rather look at the other one');
    asked.answer(bash('touch one'));
    const deny = page.getByRole('button', { name: 'Deny, and send this' });
    await until('the button', () => deny.isEnabled());
    await message.press('Control+Enter');
    expect((await readTask(other.client, id)).status).toBe('awaiting_input');
    await deny.click();
    const { said, answer } = await model.asked();
    expect(said.at(-1)).toBe('Rather look at the other one');
    answer({ text: 'I will.' });
    await finished(other.client, id);
    expect([await message.inputValue(), await settled(id)]).toEqual(['', [['denied', writer.user.id]]]);
  });

  it('in a form or a dialog keeps it when what it is about goes away', async () => {
    browser.allow(/status of 404/);
    const automation = await createAutomation(writer, DAILY);
    const page = await look(`/automations/${automation.id}/edit`);
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('');
    const typed = await typesOn(page, async () => {
      const read = page.waitForResponse((one) => one.url().includes(automation.id) && one.status() === 404);
      await writer.client.delete(`${AUTOMATIONS}/${automation.id}`);
      await createAutomation(writer, DAILY).then(({ id }) => writer.client.post(`${AUTOMATIONS}/${id}/run`, {}));
      await read;
    });
    expect(await name.inputValue()).toBe(typed.replaceAll('\n', ''));

    const { id } = await createTask(writer.client, {
      content: '```bash\ntrue\n```',
      model: 'runbook',
      title: 'Selected',
    });
    await finished(writer.client, id);
    await page.goto('/console/tasks');
    await rows(page).filter({ hasText: 'Selected' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select Selected' }).check();
    await page.getByRole('button', { name: 'Tags' }).click();
    const tag = page.getByRole('dialog').getByLabel('Add');
    await tag.click();
    await page.keyboard.type('half a t');
    await writer.client.delete(`/v1/tasks/${id}`);
    await rows(page).filter({ hasText: 'Selected' }).waitFor({ state: 'detached' });
    await page.keyboard.type('ag');
    expect(await tag.inputValue()).toBe('half a tag');
  });
});
