// What other programs do in a task, in its page: the calls and results of the fixture are what Codex, Claude Code and opencode had on record.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { approvalOf } from '../harness/approvals.js';
import { useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, type FakeCall, FakeModel, type FakeRequest } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { PROGRAMS, programOf } from '../harness/mcp/worker.js';
import { createTask, finishedLater, reaches, script } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

interface Recorded {
  name: string;
  input: unknown;
  plain?: boolean;
  text: string;
  failed?: boolean;
}

const WIRES = { codex: 'openai-responses', 'claude-code': 'anthropic-messages', opencode: 'openai-chat' } as const;
type Engine = keyof typeof WIRES;
const ENGINES = Object.keys(WIRES) as Engine[];
const CALLS = JSON.parse(readFileSync('test/fixtures/engines/calls.json', 'utf8')) as Record<Engine, Recorded[]>;

/** The small program carries the calls out as the real one did. */
const ANSWERS = Object.fromEntries(
  ENGINES.flatMap((engine) =>
    CALLS[engine].map(({ text, failed = false }, index) => [`${engine}-${index}`, { text, failed }]),
  ),
);
const recorded = (engine: Engine): FakeCall[] =>
  CALLS[engine].map(({ name, input, plain }, index) => {
    return { name, arguments: input, id: `${engine}-${index}`, ...(plain === true ? { plain } : {}) };
  });

/** One call after another, then words. */
function play(request: FakeRequest) {
  const engine = ENGINES.find((one) => request.messages.some(({ text }) => text.includes(`Do as ${one} did.`)));
  if (engine === undefined || request.tools.length === 0) return byScript(request);
  const done = request.messages.flatMap(({ calls }) => calls).length;
  const call = recorded(engine)[done];
  return call === undefined ? { text: 'All is done.' } : { calls: [call] };
}

describeInBrowser('what other programs do, in the page of their task', () => {
  let model: FakeModel;
  let owner: Member;
  /** By engine, a task in which it made each of its calls. */
  const tasks = new Map<Engine, string>();
  const service = useService(async () => {
    model = await FakeModel.start(play);
    const env = { ANSWERS: JSON.stringify(ANSWERS) };
    const engines = {
      ...Object.fromEntries(ENGINES.map((name) => [name, engineOf({ ...env, MCP: '1' }, { wire: WIRES[name] })])),
      opencode: engineOf({ ...env, MCP: 'plain' }, { wire: WIRES.opencode }),
      forgetful: engineOf({ FAULT: 'no-resume' }),
    };
    return bootWithEngines(model, engines, {
      config: {
        transparency: { custom: true },
        sandbox: { programs: [PROGRAMS] },
        mcpServers: { docs: { ...programOf('program.mjs', 'plain'), readOnly: ['echo'] } },
      },
    });
  });
  const browser = useBrowser();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    for (const engine of ENGINES) {
      const { id } = await createTask(owner.client, { model: engine, content: `Do as ${engine} did.` });
      expect((await finishedLater(owner.client, id)).status).toBe('completed');
      tasks.set(engine, id);
    }
  }, 300_000);
  afterAll(() => model.stop());

  const look = async (id = '') => (await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`)).page;
  const row = (page: Page, name: RegExp) => page.getByRole('button', { name });
  /** Unfolds the line that stands for all steps, and gives what it says. */
  const unfold = async (page: Page) => {
    const line = page.locator('[data-step]').first();
    await line.waitFor();
    const words = await line.innerText();
    await line.click();
    return words;
  };
  /** Of the first diff of a file, when it is there. */
  const linesOf = async (page: Page, path: string) => {
    const lines = page.getByRole('region', { name: path, exact: true }).first().getByRole('row');
    await lines.nth(1).waitFor({ state: 'attached' });
    return (await lines.allInnerTexts()).map((line) => line.trimEnd());
  };
  const detail = (page: Page, name: string) =>
    page.locator('dt', { hasText: new RegExp(`^${name}$`) }).locator('xpath=following-sibling::dd[1]');

  it('Codex: commands and what is typed into them, patches and pictures stand as ours do', async () => {
    const page = await look(tasks.get('codex'));
    expect(await unfold(page)).toContain('Ran 3 commands');
    await row(page, /^Ran mkdir src.* done$/).click();
    await page
      .getByRole('group', { name: /^Output of mkdir src/ })
      .getByText('a.txt')
      .waitFor();
    // What failed is unfolded by itself.
    await row(page, /^Ran echo before.* exit 3 failed$/).waitFor();
    expect(await page.getByRole('group', { name: /^Output of echo before/ }).innerText()).toBe('before\nbad');
    await page.getByText('workdir: "/workdir/src"').waitFor();
    await row(page, /^Ran read x.* in the background as 77959/).waitFor();
    await row(page, /^Typed one in session 77959 done$/).click();
    expect(await page.getByRole('group', { name: 'Output of session 77959' }).first().innerText()).toBe('one\ngot one');
    await row(page, /^Waited for session 77959 done$/).waitFor();
    await row(page, /^Typed two in session 77959 exit 4 failed$/).waitFor();
    expect(await page.getByText(/Chunk ID|Wall time/).count()).toBe(0);

    await row(page, /^Edited b\.txt \+2 −0.* done$/).click();
    await page.getByRole('region', { name: 'b.txt' }).getByText('added', { exact: true }).waitFor();
    expect(await linesOf(page, 'b.txt')).toEqual(expect.arrayContaining([expect.stringMatching(/hello$/)]));
    await row(page, /^Edited src\/a\.txt \+1 −1.* done$/).click();
    expect(await linesOf(page, 'src/a.txt')).toEqual(expect.arrayContaining([expect.stringMatching(/B$/)]));
    // Its protocol says of an error what it says of any result.
    await row(page, /^Edited src\/a\.txt \+1 −1.* error failed$/).waitFor();
    await page.getByText(/^apply_patch verification failed: Failed to find/).waitFor();
    await row(page, /^Read b\.txt done$/).waitFor();
    // This version has no such tool any more: a plan that was not made is none.
    await row(page, /^Planned Write.* error failed$/).waitFor();
    expect(await page.getByRole('heading', { name: /^Plan/ }).count()).toBe(0);
  });

  it('Claude Code: its list of tasks is the plan, and edits are diffs', async () => {
    const page = await look(tasks.get('claude-code'));
    expect(await unfold(page)).toMatch(/^Ran 3 commands, .*wrote 1 file, read 2 files, edited 2 files/);
    const plan = page.getByRole('complementary', { name: 'Details' }).locator('section', { hasText: 'Plan' }).first();
    expect(await plan.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/done:\s*Look/),
      expect.stringMatching(/under way:\s*Write/),
    ]);
    await row(page, /^Planned Look done$/).click();
    await row(page, /^Planned item 2 under way done$/).waitFor();
    await row(page, /^Ran echo before.* exit 3 failed$/).waitFor();
    expect(await page.getByRole('group', { name: /^Output of echo before/ }).innerText()).toBe('before\nbad');
    await row(page, /^Wrote b\.txt 2 lines done$/).click();
    await page.getByRole('group', { name: 'Content of /workdir/b.txt' }).getByText('world').waitFor();
    await row(page, /^Read src\/a\.txt done$/).click();
    expect(await page.getByRole('group', { name: 'Content of /workdir/src/a.txt' }).innerText()).not.toContain('\t');
    await row(page, /^Edited src\/a\.txt \+1 −1.* done$/).click();
    expect(await linesOf(page, 'src/a.txt')).toEqual(expect.arrayContaining([expect.stringMatching(/B$/)]));
    await row(page, /^Edited src\/a\.txt \+1 −1.* error failed$/).waitFor();
    await page.getByText('String to replace not found in file.').waitFor();
    await row(page, /^Ran sleep 1; echo up in the background as bw6l7rpv2/).waitFor();
    await row(page, /^Searched hello error failed$/).waitFor();
    expect(await page.getByText('tool_use_error').count()).toBe(0);
  });

  it('opencode: commands, files, searches and its plan stand as ours do', async () => {
    const page = await look(tasks.get('opencode'));
    expect(await unfold(page)).toMatch(/^Ran 2 commands, wrote 1 file, read 2 files, edited 2 files, searched 2 times/);
    await row(page, /^Ran mkdir src.* done$/).click();
    await page
      .getByRole('group', { name: /^Output of mkdir src/ })
      .getByText('a.txt')
      .waitFor();
    await row(page, /^Planned Write 1\/3 done$/).waitFor();
    const plan = page.getByRole('complementary', { name: 'Details' }).locator('section', { hasText: 'Plan' }).first();
    expect(await plan.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/done:\s*Look/),
      expect.stringMatching(/under way:\s*Write/),
      expect.stringMatching(/dropped:\s*Drop/),
    ]);
    await row(page, /^Wrote b\.txt 2 lines done$/).waitFor();
    await row(page, /^Read src\/a\.txt done$/).waitFor();
    await row(page, /^Edited src\/a\.txt \+1 −1.* done$/).click();
    expect(await linesOf(page, 'src/a.txt')).toEqual(expect.arrayContaining([expect.stringMatching(/B$/)]));
    await row(page, /^Edited src\/a\.txt \+1 −1.* error failed$/).waitFor();
    await row(page, /^Searched hello done$/).click();
    await page.getByText('Line 1: hello').waitFor();
    await row(page, /^Looked for \*\*\/\*\.txt done$/).waitFor();
  });

  it.each([
    ['codex', 'mcp__millwright__'],
    ['opencode', 'millwright_'],
  ] as const)('tools of the service that %s calls, and of servers, stand as in the loop', async (engine, prefix) => {
    const call = (name: string, args: unknown): FakeCall => ({ name: `${prefix}${name}`, arguments: args });
    const items = [
      { text: 'Hand over', status: 'done' },
      { text: 'Ask', status: 'in_progress' },
    ];
    const content = script(
      { calls: [shell('echo hi > b.txt')] },
      { calls: [call('publish', { path: 'b.txt' })] },
      { calls: [call('todo', { items })] },
      { calls: [call('mcp__docs__echo', { message: 'hello' })] },
      { calls: [call('ask', { question: 'Which colour?' })] },
    );
    const { id } = await createTask(owner.client, { model: engine, content, mcpServers: ['docs'] });
    await reaches(owner.client, id, 'awaiting_input');
    const page = await look(id);
    await page.getByRole('button', { name: 'Download b.txt' }).first().waitFor();
    await row(page, /^Planned Ask 1\/2 done$/).waitFor();
    await row(page, /^echo of docs done$/).waitFor();
    await page.getByLabel('Answer in your own words').fill('Green.');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByLabel('Question of the agent').getByText('Green.').waitFor();
    expect(await row(page, /millwright/).count()).toBe(0);
    // The script goes by what the program has carried out: a question never reaches it, and would be asked again.
    await reaches(owner.client, id, 'awaiting_input');
    await owner.client.post(`/v1/tasks/${id}/cancel`);
  });

  it('an edit that waits for a person is shown as what it changes, with all else that it says', async () => {
    const input = { file_path: '/workdir/a.txt', old_string: 'left', new_string: 'right', replace_all: true };
    const content = script({ calls: [{ name: 'Edit', arguments: input }] }, { text: 'Done.' });
    const { id } = await createTask(owner.client, { model: 'claude-code', content, approvals: 'writes' });
    await approvalOf(owner.client, id);
    const page = await look(id);
    const what = page.getByRole('region', { name: 'What would be done' });
    await what.getByText('/workdir/a.txt').waitFor();
    expect(await what.innerText()).toMatch(/-left\s+\+right/);
    await what.getByText('"replace_all": true').waitFor();
    await page.getByText('Don’t ask again for').getByText('Edit', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await finishedLater(owner.client, id);
  });

  it('a call that names one thing twice is shown as it is before it is approved', async () => {
    const input = { path: '/workdir/harmless', file_path: '/workdir/other', content: 'x' };
    const content = script({ calls: [{ name: 'Write', arguments: input }] }, { text: 'Done.' });
    const { id } = await createTask(owner.client, { model: 'claude-code', content, approvals: 'writes' });
    await approvalOf(owner.client, id);
    const page = await look(id);
    const what = page.getByRole('region', { name: 'What would be done' });
    await what.getByText('"file_path": "/workdir/other"').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await finishedLater(owner.client, id);
  });

  it('a session that began anew is said in words', async () => {
    const { id } = await createTask(owner.client, { model: 'forgetful', content: script({ text: 'One.' }) });
    await finishedLater(owner.client, id);
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'And now?' });
    await finishedLater(owner.client, id);
    const page = await look(id);
    await page.getByText('The engine forgetful began a session of its own here, and was told what was said before.').waitFor(); // prettier-ignore
  });

  it('the engine stands in the details of the task and with its model, and nowhere else', async () => {
    const page = await look(tasks.get('opencode'));
    await detail(page, 'Engine').getByText('opencode', { exact: true }).waitFor();
    const { id } = await createTask(owner.client, { model: 'scripted', content: script({ text: 'Hello.' }) });
    await page.goto(`/console/tasks/${id}`);
    await detail(page, 'Model').getByText('scripted').waitFor();
    expect(await detail(page, 'Engine').count()).toBe(0);
    await page.goto('/console/settings?part=models');
    const listed = (name: string) =>
      page.getByRole('listitem').filter({ has: page.locator('code', { hasText: new RegExp(`^${name}$`) }) });
    await listed('codex').getByText('engine codex', { exact: true }).waitFor();
    expect(
      await listed('scripted')
        .getByText(/^engine /)
        .count(),
    ).toBe(0);
  });

  it('look well', async () => {
    for (const engine of ['codex', 'claude-code'] as const) {
      await looksWell(
        browser,
        { url: service.url, secret: owner.key.secret, path: `/console/tasks/${tasks.get(engine)}` },
        { steps: async (page) => unfold(page) },
      );
    }
  });
});
