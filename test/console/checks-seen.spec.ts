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
  /** As if it had run on the original. */
  const stood = async (id: string, name: string, status: string, output: string) => {
    const exitCode = status === 'passed' ? 0 : 1;
    await service.db.query(
      `INSERT INTO task_checks (id, task_id, turn, round, phase, name, command, required, status, exit_code, duration_ms, output, output_bytes, output_sha256, created_at)
       SELECT gen_random_uuid(), $1, 1, 0, 'before', $2, c.command, true, $3, $4, 1500, $5, 1, '', now() - interval '1 hour'
       FROM task_checks c WHERE c.task_id = $1 AND c.name = $2`,
      [id, name, status, exitCode, output],
    );
    const data = { checkId: id, name, phase: 'before', round: 0, required: true, status, exitCode, durationMs: 1500, projectId: null, metadata: {} }; // prettier-ignore
    await service.db.query(
      `WITH t AS (UPDATE tasks SET last_event = last_event + 1 WHERE id = $1 RETURNING id, last_event)
       INSERT INTO task_events (task_id, seq, type, data) SELECT id, last_event, 'check.completed', $2 FROM t`,
      [id, JSON.stringify(data)],
    );
  };

  it('stands in the head and at each check: how it was on the original, and how it is now, with the output of both', async () => {
    const checks = [
      { name: 'done', command: 'echo now; cat done.txt' },
      { name: 'same', command: 'echo same' },
    ];
    const id = await ended(checks, 'echo yes >done.txt');
    await stood(id, 'done', 'failed', 'no such file: done.txt\n');
    await stood(id, 'same', 'passed', 'same\n');
    const page = await look(id);
    const head = page.getByTitle(/^Checks: 1 failed before → 2 passed\n/);
    expect(await head.getAttribute('title')).toBe(
      'Checks: 1 failed before → 2 passed\ndone: failed → passed\nsame: passed → passed',
    );
    await one(page, 'done').getByText('failed before → passed', { exact: true }).waitFor();
    await one(page, 'same').getByText('passed before → passed', { exact: true }).waitFor();
    await one(page, 'done').locator('summary').click();
    await one(page, 'done').getByRole('group', { name: 'Output of done' }).getByText('now').waitFor();
    await one(page, 'done').getByRole('group', { name: 'What done wrote before' }).getByText('no such file').waitFor();
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
    expect(summary).toContain(`PASSED: done passed. Turn 1 of task ${id}`);
  });
});
