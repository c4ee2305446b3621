import { useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { bootWithModels, textOf } from '../harness/task-walks.js';
import { createTask, finished, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

/** Of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MADE = [
  'mkdir -p src/deep many; echo "const answer = 42;" > src/a.ts; echo "all: test" > src/deep/Makefile; ln -s a.ts src/link',
  `echo ${PNG} | base64 -d > dot.png; head -c 2000 /dev/zero > zeros; : > nothing; echo odd > "$(printf 'b\\377d')"`,
  'for n in $(seq 100 249); do echo $n > many/$n.txt; done; printf "<b onclick=alert(1)>" > "$(printf \'c\\342\\200\\256d.html\')"',
  'echo scratch > /tmp/scratch.txt; echo mine > ~/notes.txt',
].join('\n');

describeInBrowser('the folder of a task', () => {
  let model: HeldModel;
  let member: Member;
  let taskId: string;
  beforeAll(async () => {
    model = await HeldModel.start();
  });
  afterAll(() => model.server.stop());
  const service = useService(() => bootWithModels(model));
  const browser = useBrowser();
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    taskId = (await createTask(member.client, { model: 'scripted', content: 'Make files.' })).id;
    await turn(taskId, MADE);
  });

  async function turn(id: string, command: string): Promise<void> {
    (await model.asked()).answer(bash(command));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
  }
  const look = async (id: string, rest = '/folder') =>
    (await browser.signedIn(service.url, member.key.secret, `/console/tasks/${id}${rest}`)).page;

  it('is unfolded bit by bit, and shows its files: text, pictures, and else a download', async () => {
    const page = await look(taskId, '');
    await page.getByRole('tab', { name: 'Folder' }).click();
    const row = (name: string) => page.getByRole('treeitem', { name, exact: false });
    await row('src').click();
    await row('a.ts').click();
    await page.getByRole('region', { name: 'Content of src/a.ts' }).locator('[class*="h-keyword"]').waitFor();
    await row('deep').click();
    await row('Makefile').click();
    await page.getByText('all: test').waitFor();
    await row('link').click();
    await page.getByText('This is a link.').waitFor();
    await row('dot.png').click();
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    await row('nothing').click();
    await page.getByText('The file is empty.').waitFor();
    await row('b\ufffdd').click();
    await page.getByText('odd', { exact: true }).waitFor();
    await row('c⟨U+202E⟩d.html').click();
    await page.getByText('<b onclick=alert(1)>').waitFor();
    await row('zeros').click();
    await page.getByText('Download it to see it').waitFor();
    const download = page.getByRole('button', { name: 'Download zeros' });
    const [saved] = await Promise.all([page.waitForEvent('download'), download.click()]);
    expect([saved.suggestedFilename(), await textOf(saved)]).toEqual(['zeros', '\0'.repeat(2000)]);
    for (const [root, name] of [
      ['Home', 'notes.txt'],
      ['/tmp', 'scratch.txt'],
    ] as const) {
      await row(root).click();
      await row(name).click();
      await page.getByRole('group', { name, exact: true }).first().waitFor();
    }
    expect(new URL(page.url()).search).toBe('?path=%2Ftmp%2Fscratch.txt');
  });

  it('is walked through by the keyboard, page by page', async () => {
    const page = await look(taskId);
    const focused = (name: string) =>
      until(`the focus on ${name}`, () =>
        page.evaluate<boolean>(`document.activeElement?.innerText.startsWith(${JSON.stringify(name)})`),
      );
    await page.getByRole('treeitem', { name: 'many' }).waitFor();
    await page.getByRole('treeitem', { name: 'Workdir' }).focus();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown');
    await focused('many');
    await press('ArrowRight');
    await page.getByRole('treeitem', { name: '199.txt' }).waitFor();
    expect(await page.getByRole('treeitem', { name: '200.txt' }).count()).toBe(0);
    await press('ArrowRight');
    await focused('100.txt');
    await page.getByRole('treeitem', { name: 'Show more' }).focus();
    await press('Enter');
    await focused('200.txt');
    await page.getByRole('treeitem', { name: '249.txt' }).waitFor();
    await press('Enter');
    await page.getByRole('region', { name: 'Content of many/200.txt' }).getByText('200', { exact: true }).waitFor();
    await press('ArrowLeft');
    await focused('many');
    await press('ArrowLeft');
    await page.getByRole('treeitem', { name: '200.txt' }).waitFor({ state: 'detached' });
    await press('Home');
    await focused('Workdir');
    await press('End');
    await focused('/tmp');
  });

  it('is a link to a file, and to a snapshot; one that is gone says so', async () => {
    const { id } = await createTask(member.client, { model: 'scripted', content: 'One.' });
    await turn(id, 'mkdir a; echo first > a/word.txt');
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'Two.' });
    await turn(id, 'echo second > a/word.txt');
    const { body } = await member.client.get<{ snapshots: { id: string }[] }>(`/v1/tasks/${id}/snapshots`);
    const page = await look(id, '/folder?path=a/word.txt');
    const content = page.getByRole('region', { name: 'Content of a/word.txt' });
    await content.getByText('second', { exact: true }).waitFor();
    await page.getByLabel('Snapshot').selectOption(body.snapshots[1]?.id ?? '');
    await content.getByText('first', { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('snapshot')).toBe(body.snapshots[1]?.id);
    await page.reload();
    await content.getByText('first', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await page.getByText('Two.', { exact: true }).waitFor();
    await page.goto(`/console/tasks/${id}/folder?path=a&snapshot=019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081`);
    await page.getByText('This snapshot is gone').waitFor();
    await page.getByRole('button', { name: 'Show the newest' }).click();
    await page.getByRole('treeitem', { name: 'word.txt' }).waitFor();
    await page.goto(`/console/tasks/${id}/elsewhere`);
    await page.getByText('There is nothing here').waitFor();
    await page.goto(`/console/tasks/${id}/folder?path=a/none.txt`);
    await page.getByText('There is no such path in this snapshot.').waitFor();
  });

  it('has nothing before the first run has ended; while a task runs it is that of its last snapshot', async () => {
    const { id } = await createTask(member.client, { model: 'scripted', content: 'Begin.' });
    const first = await model.asked();
    const page = await look(id);
    await page.getByText('No folder yet').waitFor();
    first.answer(bash('echo 1 > one.txt'));
    (await model.asked()).answer({ calls: [{ name: 'ask', arguments: { question: 'Go on?' } }] });
    await reaches(member.client, id, 'awaiting_input');
    await page.getByRole('treeitem', { name: 'one.txt' }).waitFor();
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'Yes.' });
    const second = await model.asked();
    await page.getByText('Shown is the last snapshot.').waitFor();
    second.answer(bash('echo 2 > two.txt'));
    (await model.asked()).answer({ text: 'Done.' });
    await page.getByRole('treeitem', { name: 'two.txt' }).waitFor();
    await page.getByText('Shown is the last snapshot.').waitFor({ state: 'detached' });
  });

  it('shows one of its two halves at a time on a phone', async () => {
    const page = await look(taskId);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('treeitem', { name: 'src' }).click();
    const file = page.getByRole('treeitem', { name: 'a.ts' });
    await file.click();
    await page.getByText('const answer').waitFor();
    expect(await file.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Back to the folders' }).click();
    await file.waitFor();
  });

  it('looks well', () =>
    looksWell(
      browser,
      { url: service.url, secret: member.key.secret, path: `/console/tasks/${taskId}/folder` },
      {
        folder: (page) => page.getByRole('treeitem', { name: 'many' }).click(),
        file: async (page) => {
          await page.getByRole('treeitem', { name: 'src' }).click();
          await page.getByRole('treeitem', { name: 'a.ts' }).click();
          await page.locator('[class*="h-keyword"]').waitFor();
        },
      },
    ));
});
