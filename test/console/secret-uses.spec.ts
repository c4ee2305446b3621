import type { Page } from 'playwright-core';
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { KEPT } from '../harness/console-repositories.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { createSecret } from '../harness/secrets.js';
import { content, start, taskIn } from '../harness/task-pages.js';
import { createTask, finished, readTask } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

describeInBrowser('the secrets that a task used, in its details', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  const service = useService(async () => {
    [hosts, model] = await Promise.all([WebHosts.start(), HeldModel.start()]);
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts: [`allowed.test:${hosts.https}`], caFile: authority.path } },
    });
  });
  const browser = useBrowser();
  beforeAll(async () => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    owner = await makeMember(service, { role: 'owner' });
    const binding = { host: 'allowed.test', port: hosts.https, place: { header: 'Authorization' } };
    await createSecret(owner.client, { name: 'TOKEN', bindings: [binding] });
  });
  afterAll(async () => {
    await Promise.all([model.server.stop(), hosts.stop()]);
    authority.remove();
  });

  const ask = (more = '') =>
    `curl -sS -m 20 -H "Authorization: Bearer $TOKEN" ${more} https://allowed.test:${hosts.https}/a`;
  const used = (page: Page) => page.getByRole('list', { name: 'Secrets used' });

  it('stand there once they are unfolded, while it works and when it has ended, with what was refused', async () => {
    const { id } = await createTask(owner.client, { content: 'Go on.' });
    const { page } = await browser.signedIn(service.url, owner.key.secret, `/console/tasks/${id}`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    (await model.asked()).answer(bash(ask()));
    const next = await model.asked();
    const fold = page.getByText('Secrets that it used');
    await fold.waitFor();
    expect(asked.filter((path) => path.endsWith('/secrets'))).toEqual([]);
    await fold.click();
    await used(page).getByText('TOKEN at allowed.test').waitFor();
    await used(page).getByText('1 request').waitFor();
    next.answer(bash(ask('-H "X-Other: $TOKEN"')));
    // What its last command used is written down after its end.
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    await used(page).getByText('1 refused').waitFor();
    expect(await page.evaluate<string>(KEPT)).not.toContain('canary-value');
    await page.goto('/console/settings?part=secrets');
    await page.getByRole('listitem', { name: 'TOKEN' }).getByText('Used now').waitFor();
    await looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: `/console/tasks/${id}` },
      {
        details: async (shown) => {
          await shown.getByText('Secrets that it used').click();
          await used(shown).getByText('1 refused').waitFor();
        },
      },
    );
  });

  it('are asked for in a task that was made so, with the hosts in sight and no tool to remember', async () => {
    const { page } = await browser.signedIn(service.url, owner.key.secret, '/console/new');
    await content(page).fill('Read the list.');
    await page.getByLabel('Approvals').selectOption('Ask before secrets');
    await page.getByText('You are asked before the first use of each secret').waitFor();
    await start(page).click();
    const { answer } = await model.asked();
    const id = await taskIn(page);
    expect(await readTask(owner.client, id)).toMatchObject({ approvals: 'secrets' });
    answer({ calls: [{ name: 'use_secret', arguments: { name: 'TOKEN', reason: '<!-- To --> read the list.' } }] });
    const what = page.getByRole('region', { name: 'What would be done' });
    for (const words of [
      'May the agent use the secret TOKEN',
      `goes to allowed.test:${hosts.https}.`,
      '<!-- To --> read the list.',
    ])
      await what.getByText(words).waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, id);
    await page.getByText('Approved by').first().waitFor();
    await page.getByText('asks before secrets').waitFor();
  });
});
