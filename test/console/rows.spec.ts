import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, reaches } from '../harness/tasks.js';
import { describeInBrowser, drawn, useBrowser } from '../harness/walks.js';

describeInBrowser('a row of the list of tasks', () => {
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

  it('says what came of a task, what it asks, and its repository, branch and pull request', async () => {
    const { id } = await createTask(member.client, {
      title: 'Round to cents',
      content: '```bash\ntrue\n```\n',
      model: 'runbook',
    });
    const asks = await createTask(member.client, {
      title: 'Rename',
      content: '```ask\nTo **what**?\nSay it.\n```\n',
      model: 'runbook',
    });
    await Promise.all([finished(member.client, id), reaches(member.client, asks.id, 'awaiting_input')]);
    const url = 'https://git.test/acme/bill/pull/12';
    const push = {
      branch: 'millwright/cents',
      url: null,
      pullRequest: null,
      pullRequestUrl: url,
      pullRequestState: 'merged',
    };
    const repository = { url: 'https://git.test/acme/bill.git', ref: null, commit: null, push };
    await service.db.query(
      `UPDATE tasks SET repository = $2, changes = '{"files": 1, "additions": 7, "deletions": 2}' WHERE id = $1`,
      [id, JSON.stringify(repository)],
    );
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/tasks');
    const done = page.getByRole('listitem').filter({ hasText: 'Round to cents' });
    await done.getByText('Block 1').waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await drawn(page);
      await done.getByText('acme/bill · millwright/cents').filter({ visible: true }).waitFor();
      const link = done.getByRole('link', { name: 'Pull request 12' });
      expect(await link.getAttribute('href')).toBe(url);
      await done.getByText('+7').waitFor();
      await page.getByRole('listitem').filter({ hasText: 'Rename' }).getByText('To what?').waitFor();
      // The page does not grow wider than the screen.
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
  });
});
