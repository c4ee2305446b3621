import type { Page } from 'playwright-core';
import { bootApp, useService } from '../harness/app.js';
import { createAutomation, DAILY, readAutomation } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { pushSkill, type SkillBody, SKILLS, skillFile, skillZip } from '../harness/skills.js';
import { readTask, type TaskBody } from '../harness/tasks.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';
import { zipOf } from '../harness/zips.js';

const PAGE = '/console/settings?part=skills';
type Task = TaskBody & { skills: { name: string; version: number }[] };

describeInBrowser('skills in the console', () => {
  const service = useService(bootApp);
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  const browser = useBrowser();

  const look = async (path = PAGE, secret = owner.key.secret, screen = {}) =>
    (await browser.signedIn(service.url, secret, path, screen)).page;
  const choose = (page: Page, buffer: Buffer) =>
    page.getByLabel('Zip of a skill').setInputFiles({ name: 'a.zip', mimeType: 'application/zip', buffer });
  const all = async () => (await owner.client.get<{ skills: SkillBody[] }>(SKILLS)).body.skills;

  it('are uploaded, looked at version by version, given to all tasks, and deleted', async () => {
    const page = await look();
    await page.getByText('There is no skill yet').waitFor();
    await choose(page, skillZip('release-notes', 'How notes are written.', { name: 'examples/one.txt', content: 'The first example.' })); // prettier-ignore
    await page.getByText('release-notes is version 1 now.').waitFor();
    await choose(page, skillZip('release-notes', 'A newer way.'));
    await page.getByText('release-notes is version 2 now.').waitFor();
    await page.getByRole('link', { name: /release-notes/ }).click();
    await page.getByRole('definition').getByText('A newer way.').waitFor();
    await page.getByText('description: A newer way.').waitFor();
    await page.getByLabel('Version').selectOption({ index: 1 });
    await page.getByText('This is version 1. The newest is version 2.').waitFor();
    await page.getByText('examples/one.txt').click();
    await page.getByText('The first example.').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the zip' }).click();
    expect((await saved).suggestedFilename()).toBe('release-notes-1.zip');
    await page.getByRole('checkbox', { name: /Give it to all tasks/ }).check();
    await page.getByRole('link', { name: 'Skills' }).first().click();
    await page.getByText('in all tasks').waitFor();
    expect(await all()).toMatchObject([{ name: 'release-notes', version: 2, default: true }]);
    await page.getByRole('link', { name: /release-notes/ }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is no skill yet').waitFor();
    expect(await all()).toEqual([]);
  });

  it('that are wrong say where, on a phone too', async () => {
    const page = await look(PAGE, owner.key.secret, { width: 390, height: 844 });
    browser.allow(/status of 400/);
    await page.getByText('There is no skill yet').waitFor();
    await choose(page, zipOf([{ name: 'SKILL.md', content: skillFile('Not-A-Name') }]));
    await page.getByRole('alert').getByText('SKILL.md, line 2: name has to be').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  });

  it.each(['member', 'viewer'] as const)('are only looked at by a %s', async (role) => {
    await pushSkill(service, owner, 'notes');
    const { key } = await makeMember(service, { workspace: owner.workspace, role });
    const page = await look(PAGE, key.secret);
    await page.getByRole('link', { name: /notes/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Upload a zip' }).count()).toBe(role === 'viewer' ? 0 : 1);
    await page.getByRole('link', { name: /notes/ }).click();
    await page.getByText('description: How to do notes.').waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    if (role === 'member')
      expect(await page.getByRole('checkbox', { name: /Give it to all tasks/ }).isDisabled()).toBe(true);
  });

  it('look well: the list, and one with its contents', async () => {
    await pushSkill(service, owner, 'notes');
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: PAGE },
      {
        list: (page) => page.getByRole('link', { name: /notes/ }).waitFor(),
        one: async (page) => {
          await page.getByRole('link', { name: /notes/ }).click();
          await page.getByText('description: How to do notes.').waitFor();
        },
      },
    );
  });

  it('are chosen for a new task, and stand in its details', async () => {
    await pushSkill(service, owner, 'notes');
    await pushSkill(service, owner, 'review');
    const page = await look('/console/new');
    await page.getByLabel('What is to be done').fill('Look around.');
    await page.getByLabel('Skills').selectOption('Those that are chosen here');
    await page.getByRole('checkbox', { name: 'review' }).check();
    await page.getByRole('button', { name: 'Start the task' }).click();
    await reachesPath(page, /^\/console\/tasks\/[-0-9a-f]{36}$/);
    const task = (await readTask(owner.client, new URL(page.url()).pathname.split('/').at(-1) ?? '')) as Task;
    expect(task.skills).toEqual([{ name: 'review', version: 1 }]);
    await page.getByRole('link', { name: 'review, version 1' }).click();
    await page.getByText('description: How to do review.').waitFor();
  });

  it('are chosen for an automation, which keeps them from being deleted', async () => {
    await pushSkill(service, owner, 'notes');
    const { id } = await createAutomation(owner, DAILY);
    const page = await look(`/console/automations/${id}/edit`);
    await page.getByLabel('Skills').selectOption('Those that are chosen here');
    await page.getByRole('checkbox', { name: 'notes' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('definition').getByText('notes', { exact: true }).waitFor();
    expect(await readAutomation(owner.client, id)).toMatchObject({ skills: ['notes'] });
    await page.goto(`${PAGE}&skill=notes`);
    browser.allow(/status of 409/);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText('An automation or an agent of the workspace names this skill')
      .waitFor();
  });
});
