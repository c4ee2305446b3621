import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { content, start, taskIn } from '../harness/task-pages.js';
import { createTask, finished } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('the checks of a task, in its page', () => {
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

  const panel = (page: Page) => page.getByRole('region', { name: 'Checks' });
  const last = (page: Page) => panel(page).getByRole('list', { name: 'The last round' });
  const one = (page: Page, name: string) => last(page).getByRole('listitem', { name, exact: true });
  /** Behind how they stood before. */
  const head = (page: Page, words: string) => page.getByTitle(new RegExp(`^Checks: (.* → )?${words}$`, 'm'));
  const ended = async (answer: string[], body: object) => {
    const { id } = await createTask(owner.client, { content: 'Go on.', ...body });
    for (const command of answer) (await model.asked()).answer(bash(command));
    (await model.asked()).answer({ text: 'Done.' });
    return id;
  };

  it('stand above the box to write in: while they run, while the agent mends, and when they have passed', async () => {
    const check = { name: 'done', command: 'echo "line of the check"; cat done.txt' };
    const slow = { name: 'slow', command: 'sleep 3', required: false };
    const { id } = await createTask(owner.client, { content: 'Go on.', checks: [check, slow] });
    const { page } = await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`);
    await head(page, 'at the end of this turn').waitFor();
    (await model.asked()).answer({ text: 'Done.' });
    await one(page, 'slow').getByText('running').waitFor();
    await one(page, 'done').getByText('failed, exit 1').waitFor();
    const again = await model.asked();
    await head(page, '1 failed, 1 passed, mending 1 of 2').or(head(page, '1 failed, mending 1 of 2')).waitFor();
    await page.getByText('These checks did not pass: done. The agent goes on; it may do so 2 times').waitFor();
    // What it wrote is one click away.
    await one(page, 'done').locator('summary').click();
    await one(page, 'done').getByRole('group', { name: 'Output of done' }).getByText('line of the check').waitFor();
    again.answer(bash('echo yes >done.txt'));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    await head(page, '2 passed').waitFor();
    await one(page, 'done').getByText('failed before → passed', { exact: true }).waitFor();
    await one(page, 'slow').getByText('passed before → passed, not required').waitFor();
    // The round before is folded.
    await panel(page).getByText('Earlier rounds').click();
    const first = panel(page).getByRole('region', { name: 'Turn 1, first round' });
    await first.getByRole('listitem', { name: 'done' }).getByText('failed, exit 1').waitFor();
    await page.reload();
    await head(page, '2 passed').waitFor();
    await page.goto('/console/tasks');
    await page.getByRole('img', { name: 'Checks: 2 passed' }).waitFor();
  });

  it('say what was changed and not used, and why the task has failed; they look well, and are reached by keys', async () => {
    const { id: uploadId } = await upload(service, owner, 'expected\n', { name: 'cases.txt' });
    const cheat = 'for n in 1 2 3 4; do echo x >attachments/more$n.txt; done; echo cheat >attachments/cases.txt';
    const long = 'grep --line-number --with-filename --recursive "a word that is not there at all" attachments';
    const checks = [
      { name: 'cases-of-the-tests', command: `seq 1 200\n${long}`, protect: ['attachments/**'] },
      { name: 'fine', command: 'true' },
    ];
    const id = await ended([cheat], { checks, maxRepairs: 0, attachments: [{ uploadId }] });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'failed' });
    const { page } = await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`);
    await head(page, '1 failed, 1 passed').waitFor();
    const cases = one(page, 'cases-of-the-tests');
    await cases.getByText('Changed, but not used here: attachments/cases.txt').waitFor();
    await cases.getByText('and 2 more').waitFor();
    await page.getByText('A message lets the agent go on, and all checks run again').waitFor();
    const summary = cases.locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    await cases.getByText('attachments/more4.txt').waitFor();
    await cases.getByRole('group', { name: 'Output of cases-of-the-tests' }).waitFor();
    // By a key it is folded, and stays so while the page is there.
    await panel(page).getByRole('button', { expanded: true }).press('Enter');
    await cases.waitFor({ state: 'detached' });
    await page.goto('/console/tasks');
    await page.getByRole('img', { name: 'Checks: 1 failed, 1 passed' }).waitFor();
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: `/console/tasks/${id}` },
      {
        panel: (shown) => one(shown, 'fine').waitFor(),
        output: async (shown) => {
          await one(shown, 'cases-of-the-tests').locator('summary').click();
          await one(shown, 'cases-of-the-tests')
            .getByRole('group', { name: /^Output/ })
            .waitFor();
        },
      },
    );
  });

  it('are asked for in the form of a new task, with names made of their commands', async () => {
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await content(page).fill('Make the tests pass.');
    await page.getByText('Checks', { exact: true }).click();
    await page.getByRole('button', { name: 'Add a check' }).click();
    await page.getByLabel('Command of check 1').fill('npm test');
    await page.getByRole('button', { name: 'Add a check' }).click();
    await page.getByLabel('Name of check 2').fill('Lint');
    await page.getByLabel('Command of check 2').fill('npm run lint');
    await page.getByRole('button', { name: 'Add a check' }).click();
    await page.getByRole('button', { name: 'Remove check 3' }).click();
    await page.getByLabel('Protected paths').fill('../x');
    await page.keyboard.press('Enter');
    await page.getByLabel('Repairs in a turn').fill('0');
    // What the service refuses stands at its field.
    browser.allow(/status of 400/);
    await start(page).click();
    await page.getByRole('alert').filter({ hasText: 'patterns of paths' }).waitFor();
    await page.getByRole('button', { name: 'Remove the tag ../x' }).click();
    await page.getByLabel('Protected paths').fill('test/**');
    await page.keyboard.press('Enter');
    await start(page).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^Name of a check must be .* small letters, digits and hyphens/ })
      .waitFor();
    expect(await page.getByLabel('Name of check 2').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Name of check 2').fill('lint');
    // It is part of the draft.
    await page.reload();
    expect(await page.getByLabel('Command of check 1').inputValue()).toBe('npm test');
    await start(page).click();
    const asked = await model.asked();
    const id = await taskIn(page);
    const [row] = await service.db.query<{ checks: object }>('SELECT checks FROM tasks WHERE id = $1', [id]);
    expect(row?.checks).toMatchObject({
      maxRepairs: 0,
      checks: [
        { name: 'npm-test', command: 'npm test', protect: ['test/**'] },
        { name: 'lint', command: 'npm run lint', protect: ['test/**'] },
      ],
    });
    asked.answer({ text: 'Done.' });
    expect(await finished(owner.client, id)).toMatchObject({ statusReason: { code: 'checks_failed' } });
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: '/console/new' },
      {
        form: async (shown) => {
          await shown.getByText('Checks', { exact: true }).click();
          await shown.getByRole('button', { name: 'Add a check' }).click();
        },
      },
    );
  });
});
