import type { Page } from 'playwright-core';
import { AGENTS, createAgent } from '../harness/agents.js';
import { useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { createAutomation, DAILY, readAutomation } from '../harness/automation-requests.js';
import { makeMember, type Member } from '../harness/client.js';
import { createEnvironment, ENVIRONMENTS } from '../harness/environments.js';
import { bootWithServers, programOf } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { call, createTask, finishedLater, readTask, script } from '../harness/tasks.js';
import { describeInBrowser, reachesPath, useBrowser } from '../harness/walks.js';

const PAGE = '/console/settings?part=models';
interface Named {
  mcpServers: string[] | null;
}

describeInBrowser('servers of tools in the console', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    const docs = { ...programOf('program.mjs', 'plain'), description: 'Our handbook', readOnly: ['get_*'] };
    return bootWithServers(model, {
      docs: { ...docs, default: true },
      absent: { command: 'no-such-program' },
      remote: { url: 'http://127.0.0.1:1/mcp', description: 'Issues of ours' },
    });
  });
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());
  const browser = useBrowser();

  const look = async (path = PAGE) => (await browser.signedIn(service.url, owner.key.secret, path)).page;
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  /** Chooses one server in a form. */
  const choose = async (page: Page, name: string) => {
    await page.getByLabel('Servers of tools', { exact: true }).selectOption('Those that are chosen here');
    const names = page.getByRole('group', { name: 'Which servers it has' });
    // What is chosen by default stands there already.
    expect(await names.getByRole('checkbox', { name: /^docs/ }).isChecked()).toBe(true);
    await names.getByRole('checkbox', { name: /^docs/ }).uncheck();
    await names.getByRole('checkbox', { name: new RegExp(`^${name}`) }).check();
  };
  /** A task that has called two tools, of which one failed. */
  const used = async () => {
    const content = script(call('mcp__docs__echo', { message: 'hello' }), call('mcp__docs__fail', {}));
    const { id } = await createTask(owner.client, { content, model: 'scripted', mcpServers: ['docs', 'absent'] });
    expect((await finishedLater(owner.client, id)).status).toBe('completed');
    return id;
  };

  it('are listed with state, tools and sizes, and when they were asked', async () => {
    const page = await look();
    const row = (name: string) => page.getByRole('listitem').filter({ has: page.locator('code', { hasText: name }) }).first(); // prettier-ignore
    await row('docs').getByText('not asked yet').waitFor();
    await used();
    await page.reload();
    const docs = row('docs');
    await docs.getByText('Our handbook').waitFor();
    await docs.getByText(/ready · in the sandbox · asks as the task does · for all tasks that name none · asked/).waitFor(); // prettier-ignore
    const { body } = await owner.client.get<{
      mcpServers: { name: string; tools: { name: string; description: string }[] | null }[];
    }>('/v1/mcp-servers');
    const tools = body.mcpServers.find(({ name }) => name === 'docs')?.tools ?? [];
    const bytes = tools.reduce((sum, { name, description }) => sum + name.length + description.length, 0);
    const tokens = Math.round(bytes / 3.5);
    await docs.getByText(`${tools.length} tools: names and descriptions have`).click();
    await docs.getByText(`about ${tokens} tokens`).waitFor();
    await docs.getByRole('listitem').filter({ hasText: 'get_env' }).getByText('only reads').waitFor();
    expect(await docs.getByRole('listitem').filter({ hasText: 'add_line' }).getByText('only reads').count()).toBe(0);
    await row('absent')
      .getByText(/cannot be reached · .* · asked/)
      .waitFor();
    await row('remote').getByText('not asked yet · called by the service · asks before each change').waitFor();
  });

  it('are chosen for a new task, and stand in its details', async () => {
    const page = await look('/console/new');
    await page.getByLabel('What is to be done').fill('Look around.');
    await choose(page, 'remote');
    await press(page, 'Start the task');
    await reachesPath(page, /^\/console\/tasks\/[-0-9a-f]{36}$/);
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(((await readTask(owner.client, id)) as unknown as Named).mcpServers).toEqual(['remote']);
    // With what is known of it.
    await page
      .getByRole('definition')
      .getByText(/^remote \((not asked yet|cannot be reached)\)$/)
      .waitFor();
  });

  it('are chosen for an agent, an environment and an automation', async () => {
    const agent = await createAgent(owner.client);
    const page = await look(`/console/agents/${agent.slug}/edit`);
    await choose(page, 'remote');
    await press(page, 'Save');
    await page.getByRole('definition').getByText('remote', { exact: true }).waitFor();
    const { body } = await owner.client.get<{ agent: Named }>(`${AGENTS}/${agent.slug}`);
    expect(body.agent.mcpServers).toEqual(['remote']);

    await createEnvironment(owner.client, { slug: 'node-22', setup: [] });
    await page.goto('/console/settings?part=environments&environment=node-22&do=edit');
    await choose(page, 'remote');
    await press(page, 'Save as a new version');
    await page.getByRole('definition').getByText('remote', { exact: true }).waitFor();
    const stored = await owner.client.get<{ environment: Named }>(`${ENVIRONMENTS}/node-22`);
    expect(stored.body.environment.mcpServers).toEqual(['remote']);

    const { id } = await createAutomation(owner, DAILY);
    await page.goto(`/console/automations/${id}/edit`);
    await choose(page, 'remote');
    await press(page, 'Save');
    await page.getByRole('definition').getByText('remote', { exact: true }).waitFor();
    expect(await readAutomation(owner.client, id)).toMatchObject({ mcpServers: ['remote'] });
  });

  it('stand in the rows of a task apart from their tools', async () => {
    const page = await look(`/console/tasks/${await used()}`);
    const row = (name: RegExp) => page.getByRole('button', { name });
    await row(/^echo of docs\b/).waitFor();
    expect(await row(/mcp__/).count()).toBe(0);
    await row(/^echo of docs\b/).click();
    await page.getByText('"message": "hello"').waitFor();
    await row(/^fail of docs\b/).waitFor();
  });

  it('look well in the settings', async () => {
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: PAGE },
      { list: (page) => page.getByText('Our handbook').first().waitFor() },
    );
  });
});
