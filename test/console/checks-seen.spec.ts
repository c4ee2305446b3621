import { readFileSync } from 'node:fs';
import { verifyProof } from '@millwright/sdk';
import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { createTask, finished } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('what the checks of a task saw, in its page', () => {
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url }, config: { transparency: { data: true } } });
  });
  const browser = useBrowser();
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.server.stop());

  const panel = (page: Page) => page.getByRole('region', { name: 'Checks' });
  const one = (page: Page, name: string) =>
    panel(page).getByRole('list', { name: 'The last round' }).getByRole('listitem', { name, exact: true });
  const look = async (id: string) =>
    (await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`)).page;
  const ended = async (checks: object[], command: string) => {
    const { id } = await createTask(owner.client, { content: 'Go on.', maxRepairs: 0, checks });
    (await model.asked()).answer(bash(command));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    return id;
  };
  it('stands in the head and at each check: how it was on the original, and how it is now, with the output of both', async () => {
    const done = { name: 'done', command: 'sleep 1; cat done.txt || ! echo "it is missing"' };
    const long = { name: 'long', command: 'seq 1 20000', required: false };
    const id = await ended([done, long], 'echo "it is there" >done.txt');
    const page = await look(id);
    const head = page.getByTitle(/^Checks: 1 failed before → 2 passed\n/);
    const lines = (await head.getAttribute('title'))?.split('\n') ?? [];
    expect(lines.slice(1)).toEqual(['done: failed → passed', 'long: passed → passed']);
    await one(page, 'done').getByText('failed before → passed', { exact: true }).waitFor();
    // In the order of the task, although the second ends first.
    expect(await panel(page).locator('li > details strong').allTextContents()).toEqual(['done', 'long']);
    await one(page, 'long').getByText('passed before → passed, not required', { exact: true }).waitFor();
    await one(page, 'done').locator('summary').click();
    await one(page, 'done').getByRole('group', { name: 'Output of done' }).getByText('it is there').waitFor();
    await one(page, 'done').getByRole('group', { name: 'What done wrote before' }).getByText('it is missing').waitFor();
    // Of a long output the end stands there, and all of it is a file.
    await one(page, 'long').locator('summary').click();
    const saving = page.waitForEvent('download');
    await one(page, 'long').getByRole('button', { name: 'Save all of the output' }).first().click();
    expect(readFileSync(await (await saving).path(), 'utf8')).toMatch(/^1\n2\n(.*\n)*20000\n$/);
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: `/console/tasks/${id}` },
      {
        'before and after': async (shown) => {
          await one(shown, 'done').locator('summary').click();
          await one(shown, 'done').getByRole('group', { name: 'What done wrote before' }).waitFor();
        },
      },
    );
  });

  it('is saved as a proof, with the line that verifies it', async () => {
    const id = await ended([{ name: 'done', command: 'cat done.txt' }], 'echo yes >done.txt');
    const page = await look(id);
    await panel(page).getByText('What the checks saw, signed by the service.').waitFor();
    await panel(page).getByText('mw verify proof.json', { exact: true }).waitFor();
    const saving = page.waitForEvent('download');
    await panel(page).getByRole('button', { name: 'Save proof.json' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('proof.json');
    const proof = JSON.parse(readFileSync(await saved.path(), 'utf8')) as Parameters<typeof verifyProof>[0];
    const { summary } = await verifyProof(proof, { origin: service.url });
    expect(summary).toContain(`PASSED: done (failed before) passed. Turn 1 of task ${id}`);
  });

  it('is written before the eyes of who unfolds a check that runs, on the original and on the work', async () => {
    const slow = { name: 'slow', command: 'echo first; sleep 5; echo second' };
    const { id } = await createTask(owner.client, { content: 'Go on.', checks: [slow] });
    const page = await look(id);
    const written = one(page, 'slow').getByRole('group', { name: 'Output so far of slow' });
    await one(page, 'slow').getByText('runs on the original').waitFor();
    await page.getByTitle('Checks: slow runs on the original', { exact: true }).waitFor();
    await one(page, 'slow').locator('summary').click();
    await written.getByText(/^first$/).waitFor();
    // It stays unfolded when it ends.
    await one(page, 'slow').getByRole('group', { name: 'What slow wrote before' }).getByText('second').waitFor();
    (await model.asked()).answer({ text: 'Done.' });
    await one(page, 'slow').getByText('passed before → running').waitFor();
    await written.getByText(/^first$/).waitFor();
    await one(page, 'slow').getByRole('group', { name: 'Output of slow' }).getByText('second').waitFor();
    await finished(owner.client, id);
  });

  it('is found out again by a button, once the task is final, by those who may write', async () => {
    const id = await ended([{ name: 'done', command: 'cat done.txt' }], 'true');
    const { key } = await makeMember(service, { workspace: owner.workspace, role: 'owner', scopes: ['tasks:read'] });
    const reader = (await browser.signedIn(service.url, key.secret, `/console/tasks/${id}`)).page;
    const page = await look(id);
    const again = (shown: Page) => panel(shown).getByRole('button', { name: 'Run the checks again' });
    await again(page).click();
    await again(page).waitFor({ state: 'detached' });
    await panel(page).getByText('Earlier rounds').click();
    await panel(page).getByRole('region', { name: 'Turn 1, first round' }).waitFor();
    await again(page).waitFor();
    await one(page, 'done').getByText('failed before → failed, exit 1').waitFor();
    await finished(owner.client, id);
    await panel(reader).getByRole('button', { name: 'Save proof.json' }).waitFor();
    expect(await again(reader).count()).toBe(0);
    const { id: busy } = await createTask(owner.client, {
      content: 'Go on.',
      checks: [{ name: 'one', command: 'true' }],
    });
    const asked = await model.asked();
    await page.goto(`/console/tasks/${busy}`);
    await one(page, 'one').waitFor();
    expect(await again(page).count()).toBe(0);
    asked.answer({ text: 'Done.' });
    await again(page).waitFor();
  });
});
