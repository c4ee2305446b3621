import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { useService } from '../harness/app.js';
import { bringAxe, THEMES, violations } from '../harness/axe.js';
import { bootWorld, makeWorld, type World } from '../harness/console-world.js';
import { describeInBrowser, drawn, useBrowser } from '../harness/walks.js';

const WIDTHS = [1440, 820, 390];

/** Where pictures go (scripts/console-shots.mjs); null: nobody wants any. */
const SHOTS = process.env['CONSOLE_SHOTS'] ?? null;
/** Widths of which pictures are made. */
const PICTURED: Record<number, string> = { 1440: 'desktop', 390: 'phone' };

/** What a page is called in pictures and failures, and where it is. */
const VIEWS: Record<string, (world: World) => string> = {
  tasks: () => '/tasks',
  'tasks-failed': () => '/tasks?status=failed',
  new: () => '/new',
  'task-done': ({ tasks }) => `/tasks/${tasks.done}`,
  'task-changes': ({ tasks }) => `/tasks/${tasks.done}?tab=changes`,
  'task-files': ({ tasks }) => `/tasks/${tasks.done}?tab=files`,
  'task-folder': ({ tasks }) => `/tasks/${tasks.done}/folder`,
  'task-question': ({ tasks }) => `/tasks/${tasks.asks}`,
  'task-approval': ({ tasks }) => `/tasks/${tasks.approval}`,
  'task-failed': ({ tasks }) => `/tasks/${tasks.failed}`,
  'task-gone': () => '/tasks/019aa3b5-7d1e-7f00-8a2b-3c4d5e6f7081',
  automations: () => '/automations',
  'automation-new': () => '/automations/new',
  automation: ({ automationId }) => `/automations/${automationId}`,
  integrations: () => '/integrations',
  integration: () => '/integrations/github',
  webhooks: () => '/webhooks',
  'webhook-new': () => '/webhooks/new',
  webhook: ({ webhookId }) => `/webhooks/${webhookId}`,
  usage: () => '/usage',
  'usage-by-project': () => '/usage?by=project&show=cost&days=90',
  projects: () => '/projects',
  'projects-deleted': () => '/projects/deleted',
  project: ({ projectId }) => `/projects/${projectId}`,
  settings: () => '/settings',
  'settings-keys': () => '/settings?part=keys',
  'settings-members': () => '/settings?part=members',
  'settings-services': () => '/settings?part=services',
  'settings-repositories': () => '/settings?part=repositories',
  'settings-secrets': () => '/settings?part=secrets',
  'settings-skills': () => '/settings?part=skills',
  'settings-models': () => '/settings?part=models',
  'settings-notices': () => '/settings?part=notices',
  'settings-preferences': () => '/settings?part=preferences',
  'settings-limits': () => '/settings?part=limits',
  nowhere: () => '/nowhere',
};

describeInBrowser('the console, looked at by axe (WCAG 2.2 AA)', () => {
  const service = useService(bootWorld);
  const browser = useBrowser();
  let world: World;
  beforeAll(async () => {
    world = await makeWorld(service);
    if (SHOTS !== null) mkdirSync(SHOTS, { recursive: true });
  });
  afterAll(() => world.close());

  // Each theme in a window of its own: text that is not drawn anew keeps the colours of the theme before for a moment.
  it.each(THEMES)('has no violation on any page, on desk, tablet and phone, where it is %s', async (theme) => {
    const { page } = await browser.open(service.url, { theme });
    // Of a task that is not there.
    browser.allow(/status of 404/);
    await page.goto('/console/');
    await page.getByLabel('Key', { exact: true }).waitFor();
    await bringAxe(page);
    const found = await look(page, 'login', theme);
    await browser.signIn(page, world.owner.key.secret);
    // Over nothing that looks different then.
    await page.mouse.move(0, 0);
    await bringAxe(page);
    for (const [name, path] of Object.entries(VIEWS)) {
      await goTo(page, `/console${path(world)}`);
      found.push(...(await look(page, name, theme)));
    }
    expect(found).toEqual([]);
    // A minute on two cores that do nothing else is long; on busy ones it takes several.
  }, 300_000); // prettier-ignore
});

/** As a link of the page does. To load it anew would take a second each time. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await drawn(page);
}

/** Of a page at each width, with a picture of some. */
const look = (page: Page, name: string, theme: (typeof THEMES)[number]): Promise<string[]> =>
  violations(page, name, theme, WIDTHS, async (width) => {
    const kind = PICTURED[width];
    if (SHOTS !== null && kind !== undefined)
      await page.screenshot({ path: join(SHOTS, `${name}-${kind}-${theme}.png`) });
  });
