import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { createProject } from '../harness/projects.js';
import { bootWithModels } from '../harness/task-walks.js';
import { createTask, finished, readMessages } from '../harness/tasks.js';
import { focused } from '../harness/typist.js';
import { until } from '../harness/until.js';
import { describeInBrowser, drawn, isInViewport, useBrowser } from '../harness/walks.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = JSON.stringify({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
const LOOK = `axe.run(${RULES}).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`;

const FILES = [
  {
    path: 'src/sum.js',
    lines: [
      ' // Sums.',
      '-export const sum = (a, b) => a - b;',
      '+export const sum = (a, b) => a + b;',
      '+export const twice = (a) => sum(a, a);',
      ' export const none = 0;',
    ],
  },
  { path: 'notes.md', lines: [' # Notes', '-- old', '+- new', ' - kept'] },
];
type Lines = typeof FILES;

/** A patch as git writes it, in a runbook that publishes it. */
function publishes(files: Lines, before = 0): string {
  const patch = files.flatMap(({ path, lines }) => {
    const of = (sign: string) => lines.filter((line) => line[0] === ' ' || line[0] === sign).length;
    return [
      `diff --git a/${path} b/${path}`,
      `--- a/${path}`,
      `+++ b/${path}`,
      `@@ -${before + 1},${of('-')} +${before + 1},${of('+')} @@`,
      ...lines,
    ];
  });
  const write = `cat > work.patch <<'END'\n${patch.join('\n')}\nEND`;
  return `\`\`\`bash\n${write}\n\`\`\`\n\n\`\`\`publish path=work.patch\n\`\`\`\n`;
}

describeInBrowser('a review of the changes of a task', () => {
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

  async function changed(files: Lines = FILES, more: object = {}): Promise<string> {
    const { id } = await createTask(member.client, { content: publishes(files), model: 'runbook', ...more });
    await finished(member.client, id);
    return id;
  }
  async function look(id: string): Promise<Page> {
    const path = `/console/tasks/${id}?tab=changes`;
    const { page } = await browser.signedIn(service.url, member.key.secret, path);
    await page.getByText('2 files changed').waitFor();
    return page;
  }
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const form = (page: Page) => page.getByRole('region', { name: 'Review' });
  /** What the last message of a person says of lines. */
  async function sent(id: string): Promise<unknown[]> {
    const messages = await readMessages(member.client, id);
    const { parts } = messages.findLast(({ role }) => role === 'user') ?? { parts: [] };
    return parts.flatMap((part) => (part.type === 'custom' ? [part.data] : []));
  }

  const add = async (page: Page, text: string) => {
    await page.getByRole('textbox', { name: /^Comment on/ }).fill(text);
    await page.getByRole('button', { name: 'Add the comment' }).click();
  };
  const SUM = { path: 'src/sum.js', side: 'new' };
  const ADDED = 'export const sum = (a, b) => a + b;\nexport const twice = (a) => sum(a, a);';

  it('is made by the mouse, on a line and on lines of either side, and sent as one message', async () => {
    const id = await changed();
    const page = await look(id);
    await row(page, 'a + b').hover();
    await page.getByRole('button', { name: 'Comment on line 2', exact: true }).click();
    await add(page, 'Why was it wrong?');
    // By a drag from the button.
    await row(page, 'a + b').first().hover();
    await page.getByRole('button', { name: 'Comment on line 2', exact: true }).hover();
    await page.mouse.down();
    await row(page, 'twice').getByRole('cell').last().hover();
    await row(page, 'none = 0').getByRole('cell').last().hover();
    await page.mouse.up();
    await page.getByRole('textbox', { name: 'Comment on lines 2 to 4', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    // By two numbers.
    await row(page, 'a + b').first().getByRole('cell').nth(1).click();
    await row(page, 'twice')
      .getByRole('cell')
      .nth(1)
      .click({ modifiers: ['Shift'] });
    await add(page, 'Test both');
    await page.getByRole('button', { name: 'Side by side' }).click();
    await row(page, 'a - b').getByRole('cell').nth(1).hover();
    await page.getByRole('button', { name: 'Comment on line 2 before' }).click();
    await add(page, 'Keep this one');
    await form(page).getByRole('button', { name: '3 comments' }).click();
    await form(page).getByRole('button', { name: 'Remove: Line 2', exact: true }).click();
    await form(page).getByRole('button', { name: 'Edit: Line 2 before' }).click();
    await form(page).getByRole('textbox', { name: 'Comment on line 2 before' }).fill('Keep **this** one');
    await form(page).getByRole('button', { name: 'Save' }).click();
    await form(page)
      .getByLabel(/^Say something/)
      .fill('Nearly there.');
    await form(page).getByRole('button', { name: 'Send review' }).click();

    const message = page.getByRole('article').filter({ hasText: 'Nearly there.' });
    const cards = message.getByRole('list', { name: 'Review' }).getByRole('listitem');
    await until('the cards', async () => (await cards.count()) === 2);
    expect(await cards.first().innerText()).toContain('Lines 2–3');
    expect(await cards.last().innerText()).toContain('Keep **this** one');
    expect(await sent(id)).toEqual([
      { ...SUM, line: 2, endLine: 3, quote: ADDED, text: 'Test both' },
      {
        ...SUM,
        side: 'old',
        line: 2,
        endLine: 2,
        quote: 'export const sum = (a, b) => a - b;',
        text: 'Keep **this** one',
      },
    ]);
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText('2 files changed').waitFor();
    expect(await form(page).count()).toBe(0);
  });

  it('is made by the keyboard alone', async () => {
    const id = await changed();
    const page = await look(id);
    await page.getByRole('group', { name: 'Changes of src/sum.js' }).focus();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Comment on line 1');
    const presses = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await presses('ArrowDown', 'ArrowDown');
    expect(await focused(page)).toBe('Comment on line 2');
    await presses('Shift+ArrowDown');
    expect(await focused(page)).toBe('Comment on lines 2 to 3');
    await presses('c');
    await page.keyboard.type('Test both; c is a letter here');
    await presses('Control+Enter');
    // One goes on from there, into the next file too.
    expect(await focused(page)).toBe('Comment on line 3');
    await presses('ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Enter');
    await page.getByRole('textbox', { name: 'Comment on line 1', exact: true }).waitFor();
    await page.keyboard.type('A title');
    await presses('Control+Enter');
    await form(page).getByRole('button', { name: '2 comments' }).focus();
    await presses('Tab', 'Tab');
    await until('the focus', () => page.evaluate<boolean>('document.activeElement.textContent === "Send review"'));
    await presses('Control+Enter');
    await page.getByRole('list', { name: 'Review' }).waitFor();
    expect(await sent(id)).toEqual([
      { ...SUM, line: 2, endLine: 3, quote: ADDED, text: 'Test both; c is a letter here' },
      { path: 'notes.md', side: 'new', line: 1, endLine: 1, quote: '# Notes', text: 'A title' },
    ]);
  });

  it('is made by touching the numbers of lines on a phone', async () => {
    const id = await changed();
    const { page } = await browser.open(service.url, { width: 390, height: 844 }, { hasTouch: true, isMobile: true });
    await browser.signIn(page, member.key.secret, `/console/tasks/${id}?tab=changes`);
    await page.getByText('2 files changed').waitFor();
    await row(page, 'a + b').getByRole('cell').nth(1).tap();
    await page.getByRole('textbox', { name: 'Comment on line 2', exact: true }).waitFor();
    await row(page, 'twice').getByRole('cell').nth(1).tap();
    const text = page.getByRole('textbox', { name: 'Comment on lines 2 to 3', exact: true });
    await text.waitFor();
    await until('the box in view', () => isInViewport(page, text));
    await text.fill('Test both');
    await page.getByRole('button', { name: 'Add the comment' }).tap();
    await until('the foot in view', () => isInViewport(page, form(page)));
    await form(page).getByRole('button', { name: 'Send review' }).tap();
    await page.getByRole('list', { name: 'Review' }).waitFor();
    expect(await sent(id)).toEqual([{ ...SUM, line: 2, endLine: 3, quote: ADDED, text: 'Test both' }]);
  });

  it('stays in the browser, and goes with its lines when there is a new patch', async () => {
    const id = await changed();
    const page = await look(id);
    await row(page, 'twice').getByRole('cell').nth(1).click();
    await add(page, 'Three times?');
    await row(page, '- new').getByRole('cell').nth(1).click();
    await page.getByRole('textbox', { name: /^Comment on/ }).fill('Half a thou');
    await page.reload();
    await page.getByText('2 files changed').waitFor();
    await form(page).getByText('2 comments').waitFor();
    expect(await page.getByText('Half a thou').count()).toBe(1);

    const [sum, notes] = FILES;
    const moved = { path: 'src/sum.js', lines: [' // One more.', ...(sum?.lines ?? [])] };
    const other = { path: 'notes.md', lines: (notes?.lines ?? []).map((line) => line.replace('+- new', '+- newer')) };
    await member.client.post(`/v1/tasks/${id}/messages`, { content: publishes([moved, other]) });
    await finished(member.client, id);
    await page.getByText('1 outdated').waitFor();
    await page.getByRole('region', { name: 'src/sum.js' }).getByText('Line 4', { exact: true }).waitFor();
    await form(page).getByText('outdated', { exact: true }).waitFor();
    await form(page).getByRole('button', { name: 'Send review' }).click();
    await page.getByRole('list', { name: 'Review' }).waitFor();
    expect(await sent(id)).toEqual([
      { ...SUM, line: 4, endLine: 4, quote: 'export const twice = (a) => sum(a, a);', text: 'Three times?' },
      { path: 'notes.md', side: 'new', line: 2, endLine: 2, quote: '- new', text: 'Half a thou' },
    ]);
  });

  it.each(['light', 'dark'] as const)('has no violation by axe (WCAG 2.2 AA), where it is %s', async (theme) => {
    const id = await changed();
    const screen = { width: 1440, height: 900, theme };
    const path = `/console/tasks/${id}?tab=changes`;
    const { page } = await browser.signedIn(service.url, member.key.secret, path, screen);
    await page.evaluate(AXE);
    const violations = async () => {
      const found: string[] = [];
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(
          'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))',
        );
        found.push(...(await page.evaluate<string[]>(LOOK)).map((said) => `${width}: ${said}`));
      }
      return found;
    };
    await page.getByText('2 files changed').waitFor();
    await page.getByRole('button', { name: 'Apply locally' }).click();
    await row(page, 'a + b').getByRole('cell').nth(1).click();
    await add(page, 'Why?');
    await row(page, '# Notes').getByRole('cell').nth(1).click();
    await form(page).getByRole('button', { name: '1 comment' }).click();
    expect(await violations()).toEqual([]);
    await form(page).getByRole('button', { name: 'Send review' }).click();
    await page.getByRole('list', { name: 'Review' }).waitFor();
    await finished(member.client, id);
    await page
      .locator('header')
      .getByText(/Completed|Failed/)
      .waitFor();
    expect(await violations()).toEqual([]);
  });

  it('is not offered to a session that may not write', async () => {
    const project = await createProject(member, { name: 'Mill', visibility: 'workspace' });
    const id = await changed(FILES, { projectId: project.id });
    const reader = await makeMember(service, { workspace: member.workspace, role: 'viewer' });
    const { page } = await browser.signedIn(service.url, reader.key.secret, `/console/tasks/${id}?tab=changes`);
    await page.getByText('2 files changed').waitFor();
    await drawn(page);
    await row(page, 'a + b').hover();
    expect(await page.getByRole('button', { name: /^Comment on/ }).count()).toBe(0);
  });
});
