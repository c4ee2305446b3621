import type { Locator, Page } from 'playwright-core';
import { bootApp, useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

interface Defaults {
  checks: { name: string; command: string; protect: string[]; required: boolean }[] | null;
  maxRepairs: number | null;
}

const WHOLE = { timeoutSeconds: 30, required: false, network: true };
const KEPT = [
  { name: 'unit', command: 'npm ci\nnpm test', protect: ['test/**', 'a.json'], ...WHOLE },
  { name: 'lint', command: 'npm run lint', protect: ['test/**'], ...WHOLE, required: true, network: false },
];

describeInBrowser('the checks that a project or an automation has for its tasks, in the console', () => {
  const service = useService(bootApp);
  const browser = useBrowser();
  let owner: Member;
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });

  const look = async (path: string) => (await browser.signedIn(service.url, owner.key.secret, path)).page;
  const ofProject = async (id: string) =>
    (await owner.client.get<{ project: Defaults }>(`/v1/projects/${id}`)).body.project;
  const ofAutomation = async (id: string) =>
    (await owner.client.get<{ automation: Defaults }>(`${AUTOMATIONS}/${id}`)).body.automation;
  const choose = (form: Locator | Page, what: string) => form.getByLabel('Checks of its tasks').selectOption(what);
  const unfold = (form: Locator | Page) => form.getByText('Checks', { exact: true }).click();

  it('are said in the form of a project, seen in its page, and told apart from none and from nothing said', async () => {
    const { id } = await createProject(owner, { name: 'Water mill' });
    const page = await look(`/console/projects/${id}`);
    const form = page.getByRole('dialog');
    const edit = () => page.getByRole('button', { name: 'Edit' }).click();
    const save = async () => {
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
    };
    await edit();
    await unfold(form);
    await choose(form, 'Those that stand here');
    await form.getByLabel('Command of check 1').fill('npm test');
    await form.getByLabel('Protected paths').fill('test/**');
    await page.keyboard.press('Enter');
    await form.getByLabel('Repairs in a turn').fill('many');
    // What the service refuses stands at its field.
    browser.allow(/status of 400/);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').filter({ hasText: /^Repairs in a turn must/ }).waitFor(); // prettier-ignore
    await form.getByLabel('Repairs in a turn').fill('0');
    await form.getByRole('button', { name: 'Add a check' }).click();
    await form.getByLabel('Name of check 2').fill('Lint');
    await form.getByLabel('Command of check 2').fill('npm run lint');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('alert').filter({ hasText: /^Name of a check must be/ }).waitFor(); // prettier-ignore
    expect(await form.getByLabel('Name of check 2').getAttribute('aria-invalid')).toBe('true');
    await form.getByLabel('Name of check 2').fill('lint');
    await save();
    expect(await ofProject(id)).toMatchObject({
      checks: [
        { name: 'npm-test', command: 'npm test', protect: ['test/**'], required: true },
        { name: 'lint', command: 'npm run lint', protect: ['test/**'] },
      ],
      maxRepairs: 0,
    });
    const shown = page.getByRole('region', { name: 'Checks of its tasks' });
    await shown.getByRole('listitem').filter({ hasText: /^npm-test npm test$/ }).waitFor(); // prettier-ignore
    await shown.getByText('0 repairs in a turn').waitFor();

    await edit();
    await choose(form, 'None');
    await save();
    await shown.getByText('None', { exact: true }).waitFor();
    expect(await ofProject(id)).toMatchObject({ checks: [], maxRepairs: 0 });

    await edit();
    expect(await form.getByLabel('Checks of its tasks').inputValue()).toBe('none');
    await choose(form, 'Those of its environment');
    await form.getByLabel('Repairs in a turn').fill('');
    await save();
    await shown.waitFor({ state: 'detached' });
    expect(await ofProject(id)).toMatchObject({ checks: null, maxRepairs: null });
  });

  it('are said in the form of an automation; what is not asked for there stays as it was', async () => {
    const { id } = await createAutomation(owner, { checks: KEPT, maxRepairs: 5 });
    const page = await look(`/console/automations/${id}`);
    const edit = () => page.getByRole('button', { name: 'Edit' }).click();
    const save = async () => {
      await page.getByRole('button', { name: 'Save' }).click();
      await reachesPath(page, new RegExp(`^/console/automations/${id}$`));
    };
    await page.getByText('unit npm ci ⏎ npm test').waitFor();
    await page.getByText('5 repairs in a turn').waitFor();
    await edit();
    // What all of them protect stands once; the rest at its check.
    await page.getByText('Not required, with the network of the task, at most 30 seconds, protects a.json too').waitFor(); // prettier-ignore
    await page.getByLabel('Name', { exact: true }).fill('Called so');
    await save();
    expect(await ofAutomation(id)).toMatchObject({ name: 'Called so', checks: KEPT, maxRepairs: 5 });

    await edit();
    await page.getByLabel('Command of check 1').press('End');
    await page.getByLabel('Command of check 1').pressSequentially('\nnpm run e2e');
    await page.getByRole('button', { name: 'Remove the tag test/**' }).click();
    await save();
    const { checks } = await ofAutomation(id);
    expect(checks).toMatchObject([
      { ...KEPT[0], command: expect.stringContaining('npm run e2e'), protect: ['a.json'] },
      { ...KEPT[1], protect: [] },
    ]);

    await edit();
    await choose(page, 'Those of its project');
    await page.getByLabel('Repairs in a turn').fill('');
    await save();
    await page.getByText('Those of its project', { exact: true }).waitFor();
    expect(await ofAutomation(id)).toMatchObject({ checks: null, maxRepairs: null });

    await edit();
    await unfold(page);
    await choose(page, 'None');
    await save();
    expect(await ofAutomation(id)).toMatchObject({ checks: [], maxRepairs: null });
  });

  it('look well, on a desk and on a phone', async () => {
    const long = [{ name: 'a'.repeat(40), command: 'x'.repeat(400), protect: ['y'.repeat(200)] }, ...KEPT];
    const project = await createProject(owner, { name: 'Water mill' });
    await owner.client.patch(`/v1/projects/${project.id}`, { checks: long, maxRepairs: 3 });
    const automation = await createAutomation(owner, { checks: long, maxRepairs: 3 });
    const at = (path: string) => ({ url: service.url, secret: owner.key.secret, path });
    const states = {
      facts: (page: Page) => page.getByText('3 repairs in a turn').waitFor(),
      form: async (page: Page) => {
        await page.getByRole('button', { name: 'Edit' }).click();
        await page.getByText('protects test/**, a.json too').waitFor();
      },
    };
    await looksWell(browser, at(`/console/projects/${project.id}`), states);
    await looksWell(browser, at(`/console/automations/${automation.id}`), states);
  });
});
