import type { Page } from 'playwright-core';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { relayTo } from '../harness/proxy.js';
import { addMessages, bootWithModels, PATCH, PATCHES, textOf } from '../harness/task-walks.js';
import { createTask, finished, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, isInViewport, useBrowser } from '../harness/walks.js';

describeInBrowser('the page of a task', () => {
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

  /** A window that is signed in and shows a task. */
  async function look(id: string, url = service.url): Promise<Page> {
    return (await browser.signedIn(url, member.key.secret, `/console/tasks/${id}`)).page;
  }
  const scripted = (body: Record<string, unknown>) => createTask(member.client, { model: 'scripted', ...body });

  it('is followed to a downloaded patch by the keyboard alone', async () => {
    const { id } = await createTask(member.client, { content: PATCHES, model: 'runbook' });
    const page = await look(id);
    await page.getByRole('region', { name: 'Asks you to choose' }).waitFor();
    await page.keyboard.press('2');
    await until('the button', () => page.getByRole('button', { name: 'Answer' }).isEnabled());
    await page.keyboard.press('Control+Enter');
    await page.locator('header').getByText('Completed').waitFor();
    await page.getByLabel('Question of the agent').getByText('The second').waitFor();
    await page.keyboard.press(']');
    await page.getByText('1 file changed').waitFor();
    const apply = page.getByRole('button', { name: 'Apply locally' });
    await apply.focus();
    await page.keyboard.press('Enter');
    const lines = page.getByRole('region', { name: 'Apply locally' }).getByRole('code');
    expect(await lines.allInnerTexts()).toEqual(['git apply -- word.patch', `mw files ${id} --out .`]);
    await page.keyboard.press('Tab');
    const [saved] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect([saved.suggestedFilename(), await textOf(saved)]).toEqual(['word.patch', PATCH]);
    // What is shown is a link.
    await page.reload();
    await page.getByText('1 file changed').waitFor();
  });

  it('takes an answer and files by the mouse, and gives all files as a zip', async () => {
    const { id } = await createTask(member.client, {
      content: '```ask\nHow many?\n```\n\n```bash\necho "$ANSWER" > n.txt\n```\n\n```publish path=n.txt\n```\n',
      model: 'runbook',
    });
    const page = await look(id);
    await page.getByLabel('Answer in your own words').fill('seven');
    await page.setInputFiles('input[type=file]', {
      name: 'more.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('x'),
    });
    await page.getByRole('button', { name: 'Remove more.txt' }).waitFor();
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByRole('button', { name: 'Download n.txt' }).first().waitFor();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByText('2 files').waitFor();
    await page.getByRole('button', { name: 'View n.txt' }).click();
    await page.getByRole('group', { name: 'n.txt' }).getByText('seven').waitFor();
    const [zip] = await Promise.all([page.waitForEvent('download'), page.getByText('All as zip').click()]);
    expect(zip.suggestedFilename()).toMatch(/\.zip$/);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill('Another name');
    await page.getByLabel('Tags').fill('counted,');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Another name' }).waitFor();
    await page.getByRole('link', { name: 'counted' }).waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Delete the task' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the task' }).click();
    await until('the list of tasks', () => new URL(page.url()).pathname === '/console/tasks');
    browser.allow(/status of 404/);
    await page.goto(`/console/tasks/${id}`);
    await page.getByText('There is no such task').waitFor();
  });

  it('asks for an approval in view, of which all was in sight before it is given', async () => {
    const lines = Array.from({ length: 90 }, (_, n) => `echo ${n}`).join('\n');
    const { id } = await scripted({ content: 'A long command', approvals: 'writes' });
    (await model.asked()).answer(bash(`${lines}\n# \u202e\u0007 over`));
    await reaches(member.client, id, 'awaiting_input');
    const page = await look(id);
    const box = page.getByRole('region', { name: 'Needs your approval' });
    const approve = page.getByRole('button', { name: 'Approve', exact: true });
    for (const [width, height] of [
      [1440, 420],
      [390, 844],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height });
      await until(
        `the approval to stand in ${width} × ${height}`,
        async () => (await isInViewport(page, box)) && isInViewport(page, approve),
      );
      await page.getByRole('button', { name: 'There is more below' }).waitFor();
      expect(await approve.isDisabled()).toBe(true);
    }
    const what = page.getByRole('region', { name: 'What would be done' });
    await page.getByRole('button', { name: 'There is more below' }).click();
    const moved = "document.querySelector('[data-approval]').scrollTop > 0";
    await until('the command to move', () => page.evaluate<boolean>(moved));
    expect(await approve.isDisabled()).toBe(true);
    await what.press('End');
    await until('all to have been in sight', () => approve.isEnabled());
    await what.getByText('⟨U+202E⟩␇ over').waitFor();
    await page.getByRole('button', { name: 'Deny …' }).click();
    await page.getByLabel('Reason').fill('Not so many');
    await until('the button', () => page.getByRole('button', { name: 'Deny with this reason' }).isEnabled());
    await page.keyboard.press('Control+Enter');
    const told = await model.asked();
    expect(JSON.stringify(told.request.messages)).toContain('Not so many');
    await page.getByText('denied').first().waitFor();

    told.answer(bash('echo twice'));
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Approve from now on' }).click();
    (await model.asked()).answer(bash('echo thrice'));
    (await model.asked()).answer({ text: 'It was not asked again.' });
    await page.getByText('It was not asked again.').waitFor();
  });

  it('shows what is being made; messages steer, are withdrawn, interrupt; two tabs see the same', async () => {
    const { id } = await scripted({ content: 'Go slowly' });
    const asked = await model.asked();
    const page = await look(id);
    const other = await page.context().newPage();
    await other.goto(`/console/tasks/${id}`);
    const message = page.getByLabel('Message to the agent');
    await message.waitFor();
    await page.keyboard.press('r');
    await page.keyboard.type('Look at the other file too');
    await page.keyboard.press('Control+Enter');
    await other.getByRole('article').filter({ hasText: 'Look at the other file too' }).waitFor();
    await other.getByText('waits to be read').waitFor();
    await until('the message to be sent', async () => (await message.inputValue()) === '');
    const elsewhere = other.getByLabel('Message to the agent');
    await until('the other tab not to offer it again', async () => (await elsewhere.inputValue()) === '');
    await page.getByRole('button', { name: /^After this turn/ }).click();
    await message.fill('Forget this');
    await page.getByRole('button', { name: 'Send' }).click();
    const forgotten = other.getByRole('article').filter({ hasText: 'Forget this' });
    await forgotten.getByRole('button', { name: 'Withdraw' }).click();
    await forgotten.waitFor({ state: 'detached' });
    await page.getByRole('article').filter({ hasText: 'Forget this' }).waitFor({ state: 'detached' });

    asked.answer(bash('true'));
    const steered = await model.asked();
    expect(steered.said.at(-1)).toBe('Look at the other file too');
    await page.getByText('waits to be read').waitFor({ state: 'detached' });

    // Its output is there before its end, in colour, in both tabs.
    steered.answer(bash("printf 'so \\033[32mfar\\033[0m so good\\n'; sleep 300"));
    for (const tab of [page, other]) {
      const output = tab.getByRole('group', { name: /^Output so far of/ }).filter({ hasText: 'so far so good' });
      await output.waitFor();
      expect(await output.locator('span').textContent()).toBe('far');
    }
    await page.getByRole('button', { name: /^Interrupt/ }).click();
    await message.fill('Enough');
    await page.keyboard.press('Control+Enter');
    const interrupted = await model.asked();
    expect(interrupted.said.at(-1)).toBe('Enough');

    // A text is there before its end too.
    interrupted.answer({ text: 'This is the beginning of a text that never comes to its end.', stall: true });
    await page.getByText('This is the beginning').waitFor();
    await other.getByText('This is the beginning').waitFor();
    await other.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('A message sets it going again').waitFor();
  });

  it('shows hostile content as text', async () => {
    const hostile = [
      '<img src="https://evil.test/x.png" onerror="window.stung = 1"><script>window.stung = 2</script>',
      '<svg onload="window.stung = 3"><iframe src="https://evil.test/"></iframe></svg>',
      '[press](javascript:window.stung=4) ![picture](https://evil.test/y.png) <b>bold</b>',
    ].join('\n\n');
    const { id } = await scripted({ content: hostile, title: '<b>Title</b>' });
    const command = [
      "printf '\\033]0;title\\007\\033[2J\\033[31mred\\033[0m <img src=x onerror=alert(1)> \\342\\200\\256 turned\\n'",
      'seq 1 200000',
      "printf '<svg onload=alert(1)>' > bad.svg; printf '# <script>alert(1)</script>\\n' > bad.md; false",
    ].join('; ');
    (await model.asked()).answer({ ...bash(command), text: hostile, reasoning: hostile });
    const publish = (path: string) => ({ name: 'publish', arguments: { path } });
    (await model.asked()).answer({ calls: [publish('bad.svg'), publish('bad.md')] });
    // Thousands of quotes in one another; and what is no entity in code.
    (await model.asked()).answer({ text: '`over &amp; out`', reasoning: '>'.repeat(20_000) });
    await finished(member.client, id);
    const page = await look(id);
    await page.getByText('over &amp; out', { exact: true }).waitFor();
    await page.keyboard.press('e');
    await page.getByRole('button', { name: /^Show .* earlier lines/ }).click();
    const output = page.getByRole('group', { name: /^Output of/ });
    await output.filter({ hasText: 'red <img src=x onerror=alert(1)> ⟨U+202E⟩ turned' }).waitFor();
    await page.getByText('exit 1').waitFor();
    for (const name of ['bad.svg', 'bad.md']) {
      await page.getByRole('tab', { name: 'Files' }).click();
      await page.getByRole('button', { name: `View ${name}` }).click();
      await page.getByText(name === 'bad.md' ? '<script>alert(1)</script>' : '<svg onload=alert(1)>').waitFor();
    }
    const made = await page.evaluate<unknown[]>(
      `[window.stung ?? null, document.querySelectorAll('main :is(script, iframe, img, object, b, [onload], [onerror], [href^="javascript"])').length]`,
    );
    expect(made).toEqual([null, 0]);
  });

  it('keeps what it shows and what was typed while the service is away, and goes on when it is back', async () => {
    const relay = await relayTo(service.url);
    browser.allow(/ERR_/);
    try {
      const { id } = await scripted({ content: 'Through a bad line' });
      const asked = await model.asked();
      const page = await look(id, relay.url);
      await page.getByText('Working', { exact: true }).waitFor();
      await relay.cut();
      await page.getByLabel('Message to the agent').fill('Still here');
      await page.getByText('The service does not answer').waitFor();
      await page.getByRole('article').filter({ hasText: 'Through a bad line' }).waitFor();
      asked.answer({ text: 'Said while nobody could hear it.' });
      await finished(member.client, id);
      await relay.mend();
      await page.getByText('Said while nobody could hear it.').waitFor();
      await page.getByText('The service does not answer').waitFor({ state: 'detached' });
      expect(await page.getByLabel('Message to the agent').inputValue()).toBe('Still here');
      await page.reload();
      await until(
        'the draft',
        async () => (await page.getByLabel('Message to the agent').inputValue()) === 'Still here',
      );
    } finally {
      await relay.close();
    }
  });

  it('shows why a task failed, and only shows it to a session that only reads', async () => {
    const content = '```bash\necho so far >&2; exit 3\n```\n\n```bash\ntrue\n```\n';
    const { id } = await createTask(member.client, { content, model: 'runbook' });
    const { statusReason } = await finished(member.client, id);
    const { workspace } = member;
    const reader = await makeMember(service, { workspace, role: 'admin', scopes: ['tasks:read'] });
    const { page } = await browser.signedIn(service.url, reader.key.secret, `/console/tasks/${id}`);
    await page.getByText(statusReason?.message ?? 'a reason', { exact: true }).waitFor();
    await page.getByText('runbook_block_failed').waitFor();
    await page.getByText('exit 3', { exact: true }).waitFor();
    await page.getByText('it cannot write to the agent').waitFor();
    await page.getByRole('tab', { name: 'Files' }).click();
    await page.getByText('It needs the scope files:read.').waitFor();
    expect(await page.getByRole('button', { name: /Cancel|Send|Withdraw/ }).count()).toBe(0);
  });

  it('stays usable with 3,000 messages and a patch of 13,000 lines', async () => {
    const content = [
      '```bash\n{ printf -- "--- a/long\\n+++ b/long\\n@@ -0,0 +1,13000 @@\\n"; seq -f "+line %.0f" 1 13000; } > long.patch\n```',
      '```publish path=long.patch\n```',
    ].join('\n\n');
    const { id } = await createTask(member.client, { content, model: 'runbook' });
    await finished(member.client, id);
    await addMessages(service, id, 3000);
    const page = await look(id);
    await page.getByText('Sentence 3000', { exact: true }).waitFor();
    expect(await page.getByText(/^Sentence/).count()).toBe(100);
    const first = page.getByText('Sentence 2901', { exact: true });
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await page.getByText('Sentence 2801', { exact: true }).waitFor({ state: 'attached' });
    // What one reads stays where it is.
    await until('the place to be kept', () => isInViewport(page, first));
    await page.getByRole('button', { name: 'To the end' }).click();
    await until('the end', () => isInViewport(page, page.getByText('Sentence 3000', { exact: true })));
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByRole('button', { name: '13K lines. Show them' }).click();
    await page.getByText('line 13000').waitFor();
  });
});
