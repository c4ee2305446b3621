import type { Page } from 'playwright-core';
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { bootWorker, useService } from '../harness/app.js';
import { looksWell } from '../harness/axe.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { makeKey } from '../harness/keys.js';
import { createTask, finished } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

describeInBrowser('a host that a task was refused, in the console', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let model: HeldModel;
  let owner: Member;
  /** Was refused a host that the operator allows, and one that it does not. */
  let taskId: string;
  const service = useService(async () => {
    [hosts, model] = await Promise.all([WebHosts.start(), HeldModel.start()]);
    const allowHosts = [`allowed.test:${hosts.https}`, `a.wild.test:${hosts.https}`];
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url },
      config: { sandbox: { network: 'allow', allowHosts, caFile: authority.path } },
    });
  });
  const browser = useBrowser();
  const listed = () => `a.wild.test:${hosts.https}`;
  beforeAll(async () => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'], 'a.wild.test': ['127.0.0.1'] });
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    owner = await makeMember(service, { role: 'owner' });
    await owner.client.post('/v1/environments', { slug: 'mill', allowHosts: [`allowed.test:${hosts.https}`] });
    taskId = (await createTask(owner.client, { content: 'Go on.', environment: 'mill' })).id;
    const ask = (host: string) => `curl -sS -m 20 https://${host}:${hosts.https}/a`;
    (await model.asked()).answer(bash(ask('allowed.test'), ask('a.wild.test'), ask('never.test')));
    (await model.asked()).answer({ text: 'Done.' });
    await finished(owner.client, taskId);
  });
  afterAll(async () => {
    await Promise.all([model.server.stop(), hosts.stop()]);
    authority.remove();
  });

  const look = async (secret = owner.key.secret) =>
    (await browser.signedIn(service.url, secret, `/console/tasks/${taskId}`)).page;
  const allow = (page: Page, host: string) => page.getByRole('button', { name: `Allow this host: ${host} in mill` });
  const stored = async () =>
    (await owner.client.get<{ environment: object }>('/v1/environments/mill')).body.environment;

  it('is only named to a session that changes no environment', async () => {
    const { secret } = await makeKey(owner.client, { scopes: ['tasks:read', 'projects:read'] });
    const page = await look(secret);
    await page.getByText('a.wild.test').first().waitFor();
    expect(await page.getByRole('button', { name: /^Allow / }).count()).toBe(0);
  });

  it('is what the service says of it, where the operator does not allow it either', async () => {
    const page = await look();
    browser.allow(/status of 400/);
    await allow(page, `never.test:${hosts.https}`).first().click();
    await page.getByText('is not among the hosts and ports that the operator allows').waitFor();
    expect(await stored()).toMatchObject({ version: 1 });
  });

  it('looks well where it was refused', () =>
    looksWell(
      browser,
      { url: service.url, secret: owner.key.secret, path: `/console/tasks/${taskId}` },
      {
        conversation: (page) => allow(page, listed()).first().waitFor(),
        details: async (page) => {
          await page.getByText('Hosts and secrets that it used').click();
          await page.getByRole('list', { name: 'Hosts' }).getByText('1 refused').first().waitFor();
        },
      },
    ));

  it('is allowed by one click, in the conversation and the details alike', async () => {
    const page = await look();
    await page.getByText('Hosts and secrets that it used').click();
    const list = page.getByRole('list', { name: 'Hosts' });
    await list.getByText('1 connection').waitFor();
    await allow(page, listed()).nth(1).waitFor();
    await allow(page, listed()).first().click();
    await page.getByText(`mill allows ${listed()} from version 2 on`).waitFor();
    await page.getByText('mill allows it by now').nth(1).waitFor();
    expect(await stored()).toMatchObject({ version: 2, allowHosts: [`allowed.test:${hosts.https}`, listed()] });
  });
});
