import { bootWorker, useService } from '../harness/app.js';
import { type Client, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { createProject } from '../harness/projects.js';
import { content, rows, shows, start, taskIn } from '../harness/task-pages.js';
import { createTask, finished, reaches, readTask, type TaskBody, RUNBOOK } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const HELLO = '```bash\necho hello\n```\n';
const FAILS = '```bash\nexit 3\n```\n';

const fileNames = async (client: Client, taskId: string) =>
  (await client.get<{ files: { name: string }[] }>(`/v1/tasks/${taskId}/files`)).body.files.map(({ name }) => name);

describeInBrowser('the list of tasks and the form of a new one', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();
  let member: Member;
  let client: Client;

  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    client = member.client;
  });

  it('narrows by what stands in the address, finds words, goes on by scrolling, changes by itself', async () => {
    const project = await createProject(member, { name: 'Mill', visibility: 'workspace' });
    const failed = await createTask(client, { content: FAILS, title: 'Grind the rye', tags: ['nightly'] });
    const done = await createTask(client, { content: HELLO, title: 'Sift the flour', projectId: project.id });
    await Promise.all([finished(client, failed.id), finished(client, done.id)]);
    const asks = await createTask(client, { content: RUNBOOK, title: 'Sort the sacks' });
    await reaches(client, asks.id, 'awaiting_input');
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/tasks');
    await page.getByRole('heading', { name: 'Needs you' }).waitFor();
    await shows(page, 'Sort the sacks', 'Sift the flour', 'Grind the rye');
    await page.getByText('Which order?').waitFor();
    await page.getByText('exit code 3').waitFor();

    const status = page.getByRole('group', { name: 'Status' });
    await status.getByRole('button', { name: 'Failed' }).click();
    await status.getByRole('button', { name: 'Completed' }).click();
    await shows(page, 'Sift the flour', 'Grind the rye');
    await reachesPath(page, /status=completed%2Cfailed|status=failed%2Ccompleted/);
    await page.getByRole('button', { name: 'nightly' }).click();
    await shows(page, 'Grind the rye');
    await page.reload();
    await shows(page, 'Grind the rye');
    await page.goBack();
    await shows(page, 'Sift the flour', 'Grind the rye');
    await status.getByRole('button', { name: 'All' }).click();

    await page.getByText('Filter', { exact: true }).click();
    await page.getByLabel('Project').selectOption('Mill');
    await page.keyboard.press('Escape');
    await shows(page, 'Sift the flour');
    await page.getByRole('button', { name: 'Without the filter Project' }).click();
    await page.keyboard.press('/');
    await page.keyboard.type('rye');
    await shows(page, 'Grind the rye');
    await reachesPath(page, /q=rye/);
    await page.keyboard.press('Escape');
    await shows(page, 'Sort the sacks', 'Sift the flour', 'Grind the rye');

    // Somebody else hands one out.
    const news = await createTask(client, { content: HELLO, title: 'Oil the gears' });
    await shows(page, 'Sort the sacks', 'Oil the gears', 'Sift the flour', 'Grind the rye');
    await rows(page).nth(1).filter({ hasText: 'Completed' }).waitFor();
    await client.delete(`/v1/tasks/${news.id}`);
    await shows(page, 'Sort the sacks', 'Sift the flour', 'Grind the rye');

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    expect(await taskIn(page)).toBe(done.id);
    await page.goBack();
    await shows(page, 'Sort the sacks', 'Sift the flour', 'Grind the rye');

    const many = await makeMember(service);
    for (let n = 0; n < 60; n++) await makeTask(service, many);
    const { page: long } = await browser.signedIn(service.url, many.key.secret, '/console/tasks');
    await until('the first page', async () => (await rows(long).count()) === 50);
    await rows(long).nth(49).scrollIntoViewIfNeeded();
    await until('the second page', async () => (await rows(long).count()) === 60);
  });

  it('does with several at once what one selects, and asks before what cannot be taken back', async () => {
    const other = await makeMember(service);
    const made: TaskBody[] = [];
    for (const title of ['One', 'Two', 'Three'])
      made.push(await createTask(other.client, { content: '```ask\nWell?\n```\n', title }));
    await Promise.all(made.map(({ id }) => reaches(other.client, id, 'awaiting_input')));
    const [one, two, three] = made.map(({ id }) => id) as [string, string, string];
    const { page } = await browser.signedIn(service.url, other.key.secret, '/console/tasks');
    await shows(page, 'Three', 'Two', 'One');
    await page.getByRole('checkbox', { name: 'Select Three' }).click();
    await page.getByRole('checkbox', { name: 'Select One' }).click({ modifiers: ['Shift'] });
    const bar = page.getByRole('toolbar');
    await bar.getByText('3 selected').waitFor();
    await bar.getByRole('button', { name: 'Tags' }).click();
    await page.getByLabel('Add').fill('checked');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(
      'the tags',
      async () => String(((await readTask(other.client, one)) as TaskBody & { tags: string[] }).tags) === 'checked',
    );
    await bar.waitFor({ state: 'detached' });

    // By keyboard alone.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await bar.getByText('1 selected').waitFor();
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    await page.keyboard.press('x');
    await bar.getByRole('button', { name: 'Archive' }).click();
    await shows(page, 'Two', 'One');
    await bar.waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'Select Two' }).click();
    await bar.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
    expect((await readTask(other.client, two)).status).toBe('awaiting_input');
    await bar.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the task' }).click();
    await reaches(other.client, two, 'cancelled');
    await bar.waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'Select One' }).click();
    await bar.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the task' }).click();
    await shows(page, 'Two');
    expect((await other.client.get(`/v1/tasks/${one}`)).status).toBe(404);
    expect((await readTask(other.client, three)).status).toBe('awaiting_input');
  });

  it('hands out a task with files, by mouse and by keyboard, and keeps the draft', async () => {
    browser.allow(/status of 400/);
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/tasks');
    await page.getByRole('button', { name: /^New task/ }).click();
    await content(page).fill('Count the words.');
    // The tests have no types of the browser.
    const dropped = await page.evaluateHandle(
      `(() => { const d = new DataTransfer(); d.items.add(new File(['a b c'], 'words.txt', { type: 'text/plain' })); return d; })()`,
    );
    for (const type of ['dragenter', 'dragover', 'drop'])
      await content(page).dispatchEvent(type, { dataTransfer: dropped });
    await page.getByRole('button', { name: 'Remove words.txt' }).waitFor();
    await page.getByText('5 B').waitFor();
    // What is still being sent does not outlive the page.
    await until('the upload', () => start(page).isEnabled());
    await page.reload();
    await page.getByText('words.txt').waitFor();
    expect(await content(page).inputValue()).toBe('Count the words.');
    // What the service says of a field stands there, and the field is found.
    await page.getByText('Budget of a turn').click();
    await page.getByLabel('Steps').fill('0');
    await start(page).click();
    await page.getByRole('alert').getByText('Steps').waitFor();
    expect(await page.getByLabel('Steps').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Steps').fill('7');
    await start(page).click();
    const first = await taskIn(page);
    expect(await readTask(client, first)).toMatchObject({ title: 'Count the words.', budget: { maxSteps: 7 } });
    expect(await fileNames(client, first)).toEqual(['words.txt']);

    await page.goto('/console/tasks');
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
    await page.keyboard.press('c');
    await until('an empty form with the focus', () =>
      page.evaluate<boolean>('document.activeElement.tagName === "TEXTAREA" && document.activeElement.value === ""'),
    );
    await page.keyboard.type('Say hello');
    // The form takes the focus once more when all that it shows has come.
    const chooser = await until('the chooser of files', async () => {
      const asked = page.waitForEvent('filechooser', { timeout: 1000 }).catch(() => null);
      await page.getByRole('button', { name: 'Attach files' }).press('Enter');
      return asked;
    });
    await chooser.setFiles([{ name: 'note.md', mimeType: 'text/markdown', buffer: Buffer.from('# Note') }]);
    await until('the upload', () => start(page).isEnabled());
    await content(page).focus();
    await page.keyboard.press('Control+Enter');
    expect(await fileNames(client, await taskIn(page))).toEqual(['note.md']);

    // The first one again, with its file.
    await page.goto(`/console/new?from=${first}`);
    await page.getByText('words.txt').waitFor();
    expect(await content(page).inputValue()).toBe('Count the words.');
    expect(await page.getByLabel('Steps').inputValue()).toBe('7');
    await until('the upload', () => start(page).isEnabled());
    await start(page).click();
    await until('another task', async () => (await taskIn(page)) !== first);
    const again = await taskIn(page);
    expect(await readTask(client, again)).toMatchObject({ budget: { maxSteps: 7 } });
    expect(await fileNames(client, again)).toEqual(['words.txt']);
  });

  it('say what a run waits for, and since when, and that a patch was too large to be kept', async () => {
    const made = await makeMember(service, { role: 'owner' });
    const { id } = await createTask(made.client, { content: '```bash\ntrue\n```', model: 'runbook', title: 'Waits' });
    await finished(made.client, id);
    const { context, page } = await browser.open(service.url);
    // As a service answers that has these fields.
    await context.addInitScript(`
      const real = window.fetch;
      const since = new Date(Date.now() - 120_000).toISOString();
      const further = (task) => Object.assign(task, {
        ...(sessionStorage.getItem('over') === null && { status: 'running', waitingFor: { code: 'place', message: 'x', since } }),
        changes: { files: 1, additions: 1, deletions: 0, patchOmitted: true },
      });
      window.fetch = async (...args) => {
        const response = await real(...args);
        if (!/\\/v1\\/tasks(\\?|\\/[^/]+$)/.test(String(args[0].url ?? args[0])) || !response.ok) return response;
        const body = await response.json();
        [body.task, ...(body.tasks ?? [])].filter(Boolean).forEach(further);
        return new Response(JSON.stringify(body), response);
      };`);
    await browser.signIn(page, made.key.secret, '/console/tasks');
    await page.getByText(/Waiting for a place to run, since 2 min/).waitFor();
    await rows(page).first().click();
    await page
      .getByRole('region', { name: 'Conversation' })
      .getByText(/^Waiting for a place to run, since/)
      .waitFor();
    await page.evaluate("sessionStorage.setItem('over', '')");
    await page.reload();
    const told = 'The patch is too large to be kept';
    await page.getByRole('region', { name: 'Conversation' }).getByText(told).waitFor();
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText(told).waitFor();
  });
});
