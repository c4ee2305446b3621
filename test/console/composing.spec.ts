import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { createProject } from '../harness/projects.js';
import { content, start, taskIn } from '../harness/task-pages.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('what somebody writes', () => {
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
  const look = async (path: string) => (await browser.signedIn(service.url, member.key.secret, `/console${path}`)).page;

  it('stays in the box while a message is on its way', async () => {
    const { id } = await createTask(member.client, { content: 'Listen', model: 'scripted' });
    const answering = await model.asked();
    const page = await look(`/tasks/${id}`);
    const message = page.getByLabel('Message to the agent');
    await page.route('**/messages', async (route) => {
      await message.press('End');
      await page.keyboard.type(', then that');
      await route.continue();
    });
    await message.fill('First this');
    await message.press('Control+Enter');
    await page.getByRole('article').filter({ hasText: 'First this' }).waitFor();
    await until('the box to lose what was sent', async () => (await message.inputValue()) === ', then that');
    answering.answer({ text: 'I hear.' });
    (await model.asked()).answer({ text: 'First this is done.' });
    await finished(member.client, id);
  });

  it('is shown by a second tab in which nobody writes, until it is sent', async () => {
    const { id } = await createTask(member.client, { content: 'Wait', model: 'scripted' });
    const { answer } = await model.asked();
    const page = await look(`/tasks/${id}`);
    const message = page.getByLabel('Message to the agent');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'figures.csv', mimeType: 'text/csv', buffer: Buffer.from('1,2') });
    await message.fill('Half a');
    const [second, third] = [await page.context().newPage(), await page.context().newPage()];
    for (const tab of [second, third]) {
      await tab.goto(`${service.url}/console/tasks/${id}`);
      await until('the draft', async () => (await tab.getByLabel('Message to the agent').inputValue()) === 'Half a');
      await tab.getByText('figures.csv').waitFor();
    }
    await third.getByLabel('Message to the agent').fill('Words of my own');
    await message.fill('Half a word more');
    const follows = second.getByLabel('Message to the agent');
    await until('the second tab to follow', async () => (await follows.inputValue()) === 'Half a word more');
    await message.press('Control+Enter');
    await until('the second tab to be empty', async () => (await follows.inputValue()) === '');
    await second.locator('form').getByText('figures.csv').waitFor({ state: 'detached' });
    expect(await third.getByLabel('Message to the agent').inputValue()).toBe('Words of my own');
    answer({ text: 'I waited.' });
    (await model.asked()).answer({ text: 'I read it.' });
    await finished(member.client, id);
  });

  it('can be sent again in the same words', async () => {
    const { id } = await createTask(member.client, { content: 'Begin', model: 'scripted' });
    (await model.asked()).answer({ text: 'Begun.' });
    await finished(member.client, id);
    const page = await look(`/tasks/${id}`);
    const message = page.getByLabel('Message to the agent');
    for (const times of [1, 2]) {
      await message.fill('Go on');
      await message.press('Control+Enter');
      const { said, answer } = await model.asked();
      expect(said.filter((text) => text === 'Go on')).toHaveLength(times);
      answer({ text: `Gone on ${times}.` });
      await page.getByText(`Gone on ${times}.`).waitFor();
      await page.locator('header').getByText('Completed').waitFor();
    }
    expect(
      await page
        .getByRole('article')
        .filter({ hasText: /Go on$/ })
        .count(),
    ).toBe(2);
  });

  it('becomes a task of the project that the address names, and is gone when it is discarded', async () => {
    const project = await createProject(member, { name: 'Mill', visibility: 'workspace' });
    const page = await look('/new');
    await content(page).fill('```bash\necho hello\n```');
    await page.goto(`/console/new?project=${project.id}`);
    await until('the draft', async () => (await content(page).inputValue()).includes('hello'));
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await content(page).inputValue()).toBe('');
    await page.reload();
    await content(page).fill('```bash\necho again\n```');
    await start(page).click();
    expect(await readTask(member.client, await taskIn(page))).toMatchObject({ projectId: project.id });
  });

  it('in a dialog stays when it is selected with a move that ends outside; a press outside closes', async () => {
    const page = await look('/projects');
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByLabel('Name');
    await name.fill('A long name');
    const box = await name.boundingBox();
    if (box === null) throw new Error('The field is not there.');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(5, box.y);
    await page.mouse.up();
    expect(await name.inputValue()).toBe('A long name');
    await page.mouse.click(5, box.y);
    await dialog.waitFor({ state: 'hidden' });
  });

  it('as a tag may go on behind another tag; Enter opens the panel for it', async () => {
    for (const tag of ['web', 'website']) {
      const { id } = await createTask(member.client, { content: '```bash\ntrue\n```', model: 'runbook', tags: [tag] });
      await finished(member.client, id);
    }
    const page = await look('/tasks');
    await page.locator('[data-row]').first().waitFor();
    await page.getByText('Filter', { exact: true }).focus();
    await page.keyboard.press('Enter');
    const tag = page.getByLabel('Tag', { exact: true });
    await tag.click();
    await page.keyboard.type('website');
    await page.keyboard.press('Enter');
    await until('the tag to narrow the list', () => new URL(page.url()).searchParams.get('tag') === 'website');
  });
});
