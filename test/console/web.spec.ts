import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation } from '../harness/automation-requests.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { connect } from '../harness/hooks.js';
import { content, start, taskIn } from '../harness/task-pages.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const HELLO = '```bash\necho hello\n```';
const FIELD = 'Pages of the web';

describeInBrowser('pages of the web in the console (reference §27)', () => {
  const browser = useBrowser();
  const serving = (web?: { hosts: string[] }) => {
    const service = useService(() => bootWorker({ config: { web } }));
    const of = { service } as { service: typeof service; owner: Member };
    beforeEach(async () => void (of.owner = await makeMember(service, { role: 'owner' })));
    return of;
  };
  const look = async ({ service, owner }: ReturnType<typeof serving>, path: string, screen = {}) =>
    (await browser.signedIn(service.url, owner.key.secret, `/console${path}`, screen)).page;
  type OfAutomation = { automation: { web: boolean | null } };

  describe('where the operator lists hosts', () => {
    const of = serving({ hosts: ['docs.python.org', '*.mozilla.org'] });

    it('are taken from a task when it is made, on a phone, and its page says so', async () => {
      const page = await look(of, '/new', { width: 390, height: 844 });
      await content(page).fill(HELLO);
      await page.getByText('Of docs.python.org, *.mozilla.org.').waitFor();
      await page.getByLabel(FIELD).selectOption('Not in this task');
      expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      await start(page).click();
      const id = await taskIn(page);
      expect(await readTask(of.owner.client, id)).toMatchObject({ web: false });
      await finished(of.owner.client, id);
      const large = await look(of, `/tasks/${id}`);
      await large.getByText('not read', { exact: true }).waitFor();
      // What is taken over from it has its setting.
      await large.goto(`/console/new?from=${id}`);
      await large.locator('select', { hasText: 'Not in this task' }).waitFor();
      expect(await large.getByLabel(FIELD).inputValue()).toBe('no');
    });

    it('look well in both forms', async () => {
      const { secret } = of.owner.key;
      for (const path of ['/console/new', '/console/automations/new'])
        await looksWell(
          browser,
          { url: of.service.url, secret, path },
          { form: (page) => page.getByLabel(FIELD).waitFor() },
        );
    });

    it('are read by a task of which nobody has said anything', async () => {
      const page = await look(of, '/new');
      await content(page).fill(HELLO);
      await start(page).click();
      const id = await taskIn(page);
      expect(await readTask(of.owner.client, id)).toMatchObject({ web: true });
      await page.getByText('may be read', { exact: true }).waitFor();
      await finished(of.owner.client, id);
    });

    it('are given to the tasks of an automation, and taken from them, and stand in its details', async () => {
      await connect(of.service, of.owner);
      const page = await look(of, '/automations/new?event=github.push');
      await page.getByLabel('Name', { exact: true }).fill('On a push');
      await page.getByLabel('What each task is to do').fill('Look at it.');
      await page.getByText('An event carries what others wrote: such a task may be led').waitFor();
      expect(await page.getByLabel(FIELD).inputValue()).toBe('usual');
      await page.getByLabel(FIELD).selectOption('Its tasks may read them');
      await page.getByRole('button', { name: 'Create the automation' }).click();
      await reachesPath(page, /^\/console\/automations\/[-0-9a-f]{36}$/);
      await page.getByText('Its tasks may read them', { exact: true }).waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const web = async () => (await of.owner.client.get<OfAutomation>(`${AUTOMATIONS}/${id}`)).body.automation.web;
      expect(await web()).toBe(true);
      for (const [choice, shown, value] of [
        ['Not in its tasks', 'Not in its tasks', false],
        ['Not in tasks that an event starts', 'Not in tasks that an event starts', null],
      ] as const) {
        await page.getByRole('button', { name: 'Edit' }).click();
        await page.getByLabel(FIELD).selectOption(choice);
        await page.getByRole('button', { name: 'Save' }).click();
        await reachesPath(page, new RegExp(`^/console/automations/${id}$`));
        await page.getByText(shown, { exact: true }).waitFor();
        expect(await web()).toBe(value);
      }
    });
  });

  describe('where the operator says nothing of them', () => {
    const of = serving();

    it('are nowhere: not where tasks and automations are made, nor where they are shown', async () => {
      const { id } = await createTask(of.owner.client, { content: HELLO });
      const automation = await createAutomation(of.owner);
      await finished(of.owner.client, id);
      for (const [path, there] of [
        ['/new', 'Approvals'],
        ['/automations/new', 'Approvals'],
        [`/tasks/${id}`, 'Approvals'],
        [`/automations/${automation.id}`, 'Approvals'],
      ] as const) {
        const page = await look(of, '/usage');
        const [asked] = await Promise.all([
          page.waitForResponse((answer) => answer.url().endsWith('/v1/web')),
          page.goto(`/console${path}`),
        ]);
        expect(await asked.json()).toEqual({ web: null });
        await page.getByText(there, { exact: true }).waitFor();
        expect(await page.getByText(FIELD).count()).toBe(0);
      }
    });
  });
});
