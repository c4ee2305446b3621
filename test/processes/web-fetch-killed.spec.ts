import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Client } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { ServiceProcess, temporaryFolder, WEB_SERVICE } from '../harness/service.js';
import { call, createTask, readMessages, readResults, readTask, script } from '../harness/tasks.js';
import { expectToldTo } from '../harness/told.js';
import { until } from '../harness/until.js';
import { AuthorityFile, WebHosts } from '../harness/web-hosts.js';

describe('A worker that is killed amid web_fetch (reference §27)', () => {
  const folder = temporaryFolder();
  const authority = new AuthorityFile();
  let [hosts, model, service] = [] as unknown as [WebHosts, ModelServer, ServiceProcess];
  let answers = false;
  const pages = ({ url = '' }: IncomingMessage, response: ServerResponse): boolean => {
    // In the middle of its answer it waits for the kill.
    response.writeHead(200, { 'content-type': 'text/html' }).write(`<title>The mill</title><p>The page ${url}`);
    if (answers || url !== '/held') response.end('.');
    return true;
  };
  beforeAll(async () => {
    hosts = await WebHosts.start(pages);
    model = await ModelServer.start();
  });
  afterAll(async () => {
    await service?.end('SIGKILL');
    await Promise.all([hosts.stop(), model.stop()]);
    folder.remove();
    authority.remove();
  });

  it('is followed by one that asks again, counts on, and has one result and one source of each call', async () => {
    const path = join(folder.path, 'millwright.json');
    const web = { hosts: [`allowed.test:${hosts.https}`], perTurn: 3, seconds: 120 };
    const config = { web, sandbox: { caFile: authority.path }, transparency: { url_sources: true }, titles: false };
    writeFileSync(path, JSON.stringify(config));
    const env = { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url, CONFIG_FILE: path };
    service = await ServiceProcess.start(env, WEB_SERVICE);
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
    const at = (rest: string) => `https://allowed.test:${hosts.https}${rest}`;
    const fetch = (rest: string) => call('web_fetch', { url: at(rest) });
    const content = script(fetch('/first'), fetch('/held'), fetch('/third'), fetch('/fourth'), { text: 'Done.' });
    const { id } = await createTask(new Client(service.url, key.secret), { content });
    const asked = () => hosts.requests.map(({ url }) => url);
    await until('the page to be asked for', () => asked().includes('/held'), { within: 150_000 });

    await service.end('SIGKILL');
    answers = true;
    service = await ServiceProcess.start(env, WEB_SERVICE);
    const again = new Client(service.url, key.secret);
    await until('the task to end', async () => (await readTask(again, id)).finishedAt !== null, { within: 150_000 });
    expect(await readTask(again, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(asked()).toEqual(['/first', '/held', '/held', '/third']);
    const results = await readResults(again, id);
    expect(results.slice(0, 3).map(({ output }) => (output as { text: string }).text)).toEqual([
      ...['The page /first.', 'The page /held.', 'The page /third.'],
    ]);
    expect([results.length, results[3]?.error]).toEqual([
      4,
      expect.stringContaining('A turn may read 3 pages, and this one has.'),
    ]);
    const parts = (await readMessages(again, id)).flatMap((message) => message.parts) as {
      type: string;
      url?: string;
    }[];
    const sources = parts.filter(({ type }) => type === 'source_url').map(({ url }) => url);
    expect(sources).toEqual([at('/first'), at('/held'), at('/third')]);
    await expectToldTo(again, id);
    expect(await service.end()).toBe(0);
  });
});
