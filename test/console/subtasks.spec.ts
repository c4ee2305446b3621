import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { SubtaskBench } from '../harness/subtasks.js';
import { createTask } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

const block = (tasks: object[]) => `\`\`\`delegate\n${JSON.stringify({ tasks })}\n\`\`\``;
const part = (title: string, content: string) => ({ title, content, folder: 'empty' });

describeInBrowser('tasks of a task', () => {
  let member: Member;
  let bench: SubtaskBench;
  let id: string;
  const service = useService(bootWorker);
  const browser = useBrowser();
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    bench = new SubtaskBench(member);
    const inner = part('The second part', block([part('A part of that', '```ask\nWhich one?\n```')]));
    const content = block([part('The first part', '```sh\ntrue\n```'), inner]);
    id = (await createTask(member.client, { title: 'The whole', content })).id;
    const [, second] = await bench.waiting(id, 2);
    await bench.waiting(second?.id ?? '', 1);
  });

  it('stand on its page as a tree, with what they ask, and lead to their own pages and back', async () => {
    const { page } = await browser.signedIn(service.url, member.key.secret, `/console/tasks/${id}`);
    const tree = page
      .getByRole('complementary', { name: 'Details' })
      .getByRole('list', { name: 'Tasks of this task' })
      .first();
    await tree.getByRole('link', { name: 'The first part' }).waitFor();
    await tree.getByRole('link', { name: 'Which one?' }).waitFor();
    await tree.getByRole('link', { name: 'A part of that' }).click();
    await page.getByRole('heading', { name: 'A part of that' }).waitFor();
    await page.getByRole('complementary', { name: 'Details' }).getByRole('link', { name: 'The second part' }).click();
    await page.getByRole('heading', { name: 'The second part' }).waitFor();
  });

  it('are opened in the list, which has the top tasks alone', async () => {
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/tasks');
    await page.getByRole('link', { name: /The whole/ }).waitFor();
    expect(await page.getByRole('link', { name: /The first part/ }).count()).toBe(0);
    await page.getByRole('button', { name: '3 tasks' }).click();
    await page.getByRole('link', { name: /The first part/ }).waitFor();
    await page.getByRole('link', { name: 'Which one?' }).waitFor();
    const at = { url: service.url, secret: member.key.secret, path: '/console/tasks' };
    await looksWell(browser, at, {
      opened: async (shown) => {
        await shown.getByRole('button', { name: '3 tasks' }).press('Enter');
        await shown.getByRole('link', { name: 'Which one?' }).waitFor();
      },
    });
  });
});
