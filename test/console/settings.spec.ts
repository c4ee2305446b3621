import { readFileSync } from 'node:fs';
import { bootWorker, useService } from '../harness/app.js';
import { recordStep } from '../harness/billing.js';
import { makeMember } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

describeInBrowser('the console: usage, projects, settings', () => {
  const service = useService(bootWorker);
  const browser = useBrowser();

  it('makes a narrower key, shows its secret once, rotates it with an overlap and revokes it', async () => {
    const { client, key } = await makeMember(service);
    const { page } = await browser.signedIn(service.url, key.secret, '/console/settings');
    await page.getByRole('link', { name: 'Keys' }).click();
    await reachesPath(page, /^\/console\/settings\?part=keys$/);
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await row('this session').waitFor();

    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New key' });
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText('Give it a name.').waitFor();
    await dialog.getByLabel('Name').fill('Report');
    await dialog.getByLabel('Expires').selectOption('In 7 days');
    const chosen = dialog.getByRole('checkbox', { checked: true });
    for (let left = await chosen.count(); left > 0; left -= 1) await chosen.first().click();
    await dialog.getByRole('checkbox', { name: 'projects:read' }).check();
    await dialog.getByLabel('Name').press('Enter');

    const made = page.getByRole('region', { name: 'The key “Report” is made' });
    const first = (await made.locator('output').textContent()) ?? '';
    expect((await client.as(first).get('/v1/projects')).status).toBe(200);
    expect((await client.as(first).post('/v1/projects', { name: 'No' })).status).toBe(403);
    await row('Report').getByText('projects:read').waitFor();
    await row('Report').getByText('expires in 7 days').waitFor();
    await made.getByRole('button', { name: 'Done' }).click();
    await made.waitFor({ state: 'detached' });

    await row('Report').getByRole('button', { name: 'Rotate Report' }).click();
    const rotation = page.getByRole('dialog', { name: 'Rotate “Report”' });
    await rotation.getByLabel('The old secret goes on working').selectOption('for an hour');
    await rotation.getByRole('button', { name: 'Rotate' }).click();
    const second = await page
      .getByRole('region', { name: 'The new secret of “Report”' })
      .locator('output')
      .textContent();
    expect(second).not.toBe(first);
    const statuses = async () => {
      const answers = await Promise.all([first, second].map((secret) => client.as(secret).get('/v1/projects')));
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200]);
    await page.reload();
    await row('this session').waitFor();
    expect(await page.content()).not.toContain(second);

    // Each of them: the one that was rotated works on for an hour.
    for (let left = 2; left > 0; left -= 1) {
      await row('Report').first().getByRole('button', { name: 'Revoke Report' }).click();
      await page.getByRole('button', { name: 'Revoke the key' }).click();
      await row('Report')
        .nth(left - 1)
        .waitFor({ state: 'detached' });
    }
    expect(await statuses()).toEqual([401, 401]);
    await row('this session').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('It is the key of this session').waitFor();
    // What is still read when the key has gone.
    browser.allow(/status of 401/);
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('heading', { name: 'Sign in to Millwright' }).waitFor();
  });

  it('makes a project and adds a file by keyboard, and keeps the file when the project is deleted', async () => {
    const { key } = await makeMember(service);
    const { page } = await browser.signedIn(service.url, key.secret);
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await reachesPath(page, /^\/console\/projects$/);
    await page.getByRole('button', { name: 'New project' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name').press('Enter');
    await dialog.getByText('Give it a name of at most 200 characters.').waitFor();
    await page.keyboard.type('Water mill');
    await dialog.getByLabel('Tags').fill('wheel,');
    await dialog.getByLabel('Name').press('Enter');
    await page.getByRole('heading', { name: 'Water mill' }).waitFor();
    await page.getByText('wheel', { exact: true }).waitFor();

    const asked = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add files' }).press('Enter');
    await (await asked).setFiles({ name: 'wheel.txt', mimeType: 'text/plain', buffer: Buffer.from('round') });
    await page.getByText('wheel.txt', { exact: true }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download wheel.txt' }).press('Enter');
    expect(readFileSync(await (await saved).path(), 'utf8')).toBe('round');

    await page.getByRole('button', { name: 'Edit' }).click();
    await page
      .getByRole('dialog')
      .getByRole('radio', { name: /^Workspace/ })
      .check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByTitle('All members see it, its tasks and its files.').waitFor();

    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('1 file of it stays under').waitFor();
    await page.getByRole('button', { name: 'Delete the project' }).click();
    await reachesPath(page, /^\/console\/projects$/);
    await page.getByRole('link', { name: 'Files of deleted projects' }).click();
    await page.getByRole('button', { name: 'Remove wheel.txt' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('No files are left over').waitFor();
  });

  it('adds usage up, and makes a CSV in which no name becomes a formula', async () => {
    const member = await makeMember(service);
    const { id } = await createProject(member, { name: '=HYPERLINK("https://example.test", "a")' });
    await recordStep(service, member, { projectId: id, input: 1200, output: 34, costMicros: 2500 });
    await recordStep(service, member, { input: 100, output: 1, startsTurn: false });
    const { page } = await browser.signedIn(service.url, member.key.secret, '/console/usage?by=project&days=7');
    const table = page.getByRole('table', { name: 'Usage by project' });
    await table.getByRole('row', { name: /^=HYPERLINK.* 1 1 1,200 0 34 0 \$0.0025$/ }).waitFor();
    await table.getByRole('row', { name: /^In all 1 2 1,300 0 35 0 \$0.0025$/ }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toMatch(/^usage-by-project-since-\d{4}-\d\d-\d\d\.csv$/);
    const columns = 'tasks,steps,inputTokens,cachedInputTokens,outputTokens,reasoningTokens,cost,currency';
    expect(
      readFileSync(await download.path(), 'utf8')
        .replace('\u{feff}', '')
        .split('\r\n'),
    ).toEqual([
      `project,name,${columns}`,
      `${id},"'=HYPERLINK(""https://example.test"", ""a"")",1,1,1200,0,34,0,0.0025,USD`,
      ',,0,1,100,0,1,0,,',
      '',
    ]);
    await page.getByRole('button', { name: 'Model', exact: true }).click();
    await reachesPath(page, /by=model/);
    await page.getByRole('table', { name: 'Usage by model' }).waitFor();
  });

  it('asks for nothing that a narrow key may not see, and shows a viewer no button that changes anything', async () => {
    const narrow = await makeMember(service, { scopes: ['tasks:read'] });
    // Of a 403 nothing is allowed.
    const { page } = await browser.signedIn(service.url, narrow.key.secret, '/console/usage');
    await page.getByText('It needs the scope billing:read.').waitFor();
    await page.goto('/console/projects');
    await page.getByText('It needs the scope projects:read.').waitFor();
    await page.goto('/console/settings?part=keys');
    await page.getByText('this session').waitFor();

    const owner = await makeMember(service);
    await createProject(owner, { name: 'Shared', visibility: 'workspace' });
    const viewer = await makeMember(service, { workspace: owner.workspace, role: 'viewer' });
    const { page: other } = await browser.signedIn(service.url, viewer.key.secret, '/console/projects');
    await other.getByText('You may look at projects here, not change them.').waitFor();
    await other.getByRole('link', { name: /Shared/ }).click();
    await other.getByText('This session may not add files.').waitFor();
    expect(await other.getByRole('button', { name: /New|Edit|Delete|Add|Remove/ }).count()).toBe(0);
  });
});
