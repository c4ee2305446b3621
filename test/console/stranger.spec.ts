import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Answer, type ChatRequest, ModelServer, stepOf, userText } from '../harness/model-server.js';
import { skillZip } from '../harness/skills.js';
import { call } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

const PARTS = ['The parser', 'The printer', 'The tests'];
const HOW = 'How we split a job. Use it when a job has several parts.';
const WHOLE = 'Bring the calculator up to date.';

describeInBrowser('a stranger, from the console alone', () => {
  let model: ModelServer;
  let owner: Member;
  /** The parts go on as soon as this is called. */
  let goOn: () => void;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  const browser = useBrowser();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    const gone = new Promise<void>((resolve) => (goOn = resolve));
    const tasks = PARTS.map((title) => ({ title, content: `Do this part: ${title}.`, folder: 'empty' }));
    const whole: Answer[] = [
      call('read', { path: '/skills/splitting/SKILL.md' }),
      { text: 'There are three parts. I hand out one task for each.', ...call('delegate', { tasks }) },
      { text: 'All three parts are done.' },
    ];
    model.script = async (request: ChatRequest) => {
      const part = /Do this part: (.*)\./.exec(userText(request))?.[1];
      if (part === undefined) return whole[stepOf(request)] ?? { text: 'Done.' };
      await gone;
      return { text: `${part}: done.` };
    };
  });
  afterAll(() => model.stop());

  it('makes an agent, gives it a skill, and lets it split a job in three', async () => {
    const { page } = await browser.signedIn(service.url, owner.key.secret);
    const main = page.getByRole('main');
    const form = page.getByRole('form');
    const to = (name: string) => page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click();
    const press = (name: string) => main.getByRole('button', { name, exact: true }).first().click();
    // There is no skill yet: the form of an agent says where they come from.
    await to('Agents');
    await press('New agent');
    await form.getByRole('link', { name: 'upload a skill' }).click();
    await main.getByText('description: How we write the notes of a release.').waitFor();
    await page
      .getByLabel('Zip of a skill')
      .setInputFiles({ name: 'splitting.zip', mimeType: 'application/zip', buffer: skillZip('splitting', HOW) });
    await page.getByText('splitting is version 1 now.').waitFor();
    await to('Agents');
    await press('New agent');
    await form.getByLabel('Short name', { exact: true }).fill('splitter');
    await form.getByLabel('Name', { exact: true }).fill('The splitter');
    await form.getByLabel('Instructions', { exact: true }).fill('Split what has parts.');
    await form.getByLabel('Skills').selectOption('Those that are chosen here');
    await form.getByRole('checkbox', { name: 'splitting' }).check();
    await press('Create');
    await page.getByText('The splitter is made. Try it on a task.').waitFor();
    await main.getByRole('link', { name: 'splitting' }).waitFor();
    await press('Try it');
    await page.getByLabel('What is to be done').fill(WHOLE);
    await press('Start the task');
    // It says what it waits for, and the parts stand below that and in the details.
    const details = page.getByRole('complementary', { name: 'Details' });
    const tree = details.getByRole('list', { name: 'Tasks of this task' });
    const waits = page.getByRole('region', { name: 'Goes on when its tasks have ended' });
    for (const part of PARTS)
      for (const there of [tree, waits]) await there.getByRole('link', { name: `Running: ${part}` }).waitFor();
    await page.getByRole('button', { name: /^Handing out 3 tasks/ }).waitFor();
    await tree.getByRole('link', { name: 'The printer' }).click();
    await page.getByRole('heading', { name: 'The printer' }).waitFor();
    await page.getByText('Do this part: The printer.').waitFor();
    await details.getByRole('link', { name: 'splitter, version 1' }).waitFor();
    await details.getByRole('link', { name: WHOLE }).waitFor();
    await main.locator('header').getByRole('link', { name: WHOLE }).click();
    await page.getByRole('heading', { name: WHOLE }).waitFor();
    goOn();
    await page.getByText('All three parts are done.').waitFor();
    await page.locator('header').getByText('Completed').waitFor();
    for (const part of PARTS) await tree.getByRole('link', { name: `Completed: ${part}` }).waitFor();
    // What has become of each stands at the call too, with the way there.
    const handed = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: 'The tests', exact: true }) });
    await handed.getByText('The tests: done.').waitFor();
    await details.getByText('3 steps').waitFor();
    await handed.getByRole('link', { name: 'The tests', exact: true }).click();
    await page.getByText('The tests: done.').waitFor();
    await page.goBack();
    await page.getByText('All three parts are done.').waitFor();
    await to('Tasks');
    await main.getByRole('link', { name: new RegExp(WHOLE) }).waitFor();
    await press('3 tasks');
    for (const part of PARTS) await main.getByRole('link', { name: `Completed: ${part}` }).waitFor();
    // On a phone, where the details are folded.
    await page.setViewportSize({ width: 390, height: 844 });
    await main.getByRole('link', { name: 'Completed: The tests' }).click();
    await page.locator('header').getByRole('link', { name: WHOLE }).click();
    await page.getByRole('heading', { name: WHOLE }).waitFor();
    await page.getByText('All three parts are done.').waitFor();
  });
});
