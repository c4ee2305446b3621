import { join } from 'node:path';
import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { Operator } from '../harness/operator.js';
import { freePort } from '../harness/ports.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, finished, readMessages, texts } from '../harness/tasks.js';
import { describeInBrowser, useBrowser } from '../harness/walks.js';

describeInBrowser('the page of a task, while the service is killed', () => {
  const folder = temporaryFolder();
  let model: HeldModel;
  let db: TestDatabase;
  let env: Record<string, string>;
  let service: ServiceProcess;
  let secret: string;

  beforeAll(async () => {
    [model, db] = await Promise.all([HeldModel.start(), createDatabase()]);
    env = {
      DATABASE_URL: db.url,
      DATA_DIR: join(folder.path, 'data'),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.server.url,
      // It comes back where the page looks for it.
      PORT: String(await freePort()),
      LEASE_SECONDS: '4',
    };
    service = await ServiceProcess.start(env);
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await new Operator({ db }).json<{ key: { secret: string } }>('key', 'create', ...who);
    secret = key.secret;
  });
  afterAll(async () => {
    await service.end();
    await model.server.stop();
    await db.drop();
    folder.remove();
  });
  const browser = useBrowser();

  it('says so, keeps a draft, and follows the run to its end when the service is back', async () => {
    const client = new Client(service.url, secret);
    const { id } = await createTask(client, { content: 'Grind the rye' });
    const begun = await model.asked();
    const { page } = await browser.signedIn(service.url, secret, `/console/tasks/${id}`);
    // After two seconds it says for what, and since when.
    await page.getByText(/^(Working$|Waiting for the model, since)/).waitFor();
    begun.answer(bash('echo ground'));
    const cut = await model.asked();
    cut.answer({ text: 'The millstone turns, and before all of the rye is flour the service dies.', stall: true });
    await page.getByText('The millstone turns').waitFor();
    const message = page.getByLabel('Message to the agent');
    await message.fill('Sift the flour');
    // A page that is loaded anew does not have it.
    await page.evaluate('window.isTheSame = true');

    // What was asked for while nobody answered.
    browser.allow(/net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)/);
    await service.end('SIGKILL');
    const banner = page.getByText('The service does not answer');
    await banner.waitFor();
    const first = page.getByRole('article').filter({ hasText: 'Grind the rye' });
    await first.waitFor();
    expect(await message.inputValue()).toBe('Sift the flour');
    await message.press('End');
    await page.keyboard.type(' twice');

    service = await ServiceProcess.start(env);
    const again = await model.asked();
    await banner.waitFor({ state: 'detached' });
    again.answer({ text: 'The rye is flour.' });
    await page.locator('header').getByText('Completed').waitFor();
    const conversation = page.getByRole('region', { name: 'Conversation' });
    await conversation.getByText('The rye is flour.', { exact: true }).waitFor();
    expect(await conversation.getByText('The rye is flour.').count()).toBe(1);
    expect(await conversation.locator('[data-step]').count()).toBe(1);
    expect(await first.count()).toBe(1);
    // The answer that was cut is no message.
    expect(await conversation.getByText('The millstone turns').count()).toBe(0);
    expect(texts(await readMessages(client, id))).toEqual(['The rye is flour.']);

    expect(await message.inputValue()).toBe('Sift the flour twice');
    await message.press('Control+Enter');
    const told = await model.asked();
    expect(told.said.at(-1)).toBe('Sift the flour twice');
    told.answer({ text: 'It is sifted.' });
    await conversation.getByText('It is sifted.', { exact: true }).waitFor();
    expect(await page.getByRole('article').filter({ hasText: 'Sift the flour twice' }).count()).toBe(1);
    expect(await message.inputValue()).toBe('');
    await finished(client, id);
    expect(await page.evaluate('window.isTheSame')).toBe(true);
  });
});
