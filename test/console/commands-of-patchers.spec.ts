import type { Page } from 'playwright-core';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { call, createTask, finished, reaches } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('commands of a model that writes patches, in the page of their task', () => {
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    model = await HeldModel.start();
    const env = { OPENAI_COMPATIBLE_URL: model.server.url, OPENAI_COMPATIBLE_MODEL: 'gpt-5.5' };
    return bootWorker({ env, config: { transparency: { data: true, tool_activity: true }, titles: false } });
  });
  const browser = useBrowser();
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.server.stop());

  const panel = (page: Page) => page.getByRole('region', { name: /^Commands/ });

  it('are shown, though no call asks for the background, and the conversation says in words which have ended', async () => {
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    (await model.asked()).answer(call('exec_command', { cmd: 'echo up; exec sleep 600' }));
    const next = await model.asked();
    const { page } = await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`);
    await panel(page).getByText('1 running').waitFor();
    next.answer(call('ask', { question: 'Go on?' }));
    const { pendingInteraction } = await reaches(owner.client, id, 'awaiting_input');
    await owner.client.post(`/v1/tasks/${id}/interaction`, { interactionId: pendingInteraction?.id, content: 'Yes.' });
    await page.getByText('The agent was told which of its commands run no more: b1 (stopped).').waitFor();
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
  });

  it('a list that cannot be read says so, and is read again', async () => {
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    (await model.asked()).answer(call('exec_command', { cmd: 'exec sleep 600', yield_time_ms: 250 }));
    const next = await model.asked();
    const { page, context } = await browser.signedIn(service.url, owner.key.secret, `/console/settings`);
    browser.allow(/500/);
    await context.route(/\/commands\?/, (route) => route.fulfill({ status: 500, json: { error: { code: 'internal_error', message: 'It broke.' } } })); // prettier-ignore
    await page.goto(`/console/tasks/${id}`);
    await panel(page)
      .getByRole('button', { name: /^Commands/ })
      .click({ timeout: 60_000 });
    await panel(page).getByText('It broke.').waitFor();
    await context.unroute(/\/commands\?/);
    await panel(page).getByRole('button', { name: 'Try again' }).click();
    await panel(page).getByText('exec sleep 600').waitFor();
    next.answer({ text: 'Done.' });
    await finished(owner.client, id);
  });
});
