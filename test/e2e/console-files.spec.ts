import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConsoleFolder } from '../../src/surfaces/console/console-files.js';
import { bootApp, type BootOptions, type TestApp, useService } from '../harness/app.js';
import { Browser } from '../harness/browser.js';
import { makeMember } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';
import { temporaryFolder } from '../harness/service.js';

const PAGE = `<!doctype html><title>Millwright</title>${'<!-- long enough to be compressed -->'.repeat(40)}`;
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(4000))});\n`;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types worker";
const FOR_EVER = 'public, max-age=31536000, immutable';

describe('The files of the console (reference §20)', () => {
  const folder = temporaryFolder();
  const service = useService(() => {
    const assets = join(folder.path, 'built', 'assets');
    mkdirSync(assets, { recursive: true });
    writeFileSync(join(folder.path, 'secret.txt'), 'beside it');
    writeFileSync(join(folder.path, 'built', 'index.html'), PAGE);
    writeFileSync(join(folder.path, 'built', 'theme.js'), 'document;');
    writeFileSync(join(folder.path, 'built', 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(assets, 'index-B1x2_3.js'), SCRIPT);
    writeFileSync(join(assets, 'geist-Qw3-4.woff2'), Buffer.alloc(3000, 7));
    const path = join(folder.path, 'built');
    return bootApp({ override: (builder) => builder.overrideProvider(ConsoleFolder).useValue({ path }) });
  });
  afterAll(() => folder.remove());

  /** As a browser that was sent there by another site, and without a credential. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Browser(service.url).send(method, path, { headers: { 'Sec-Fetch-Site': 'cross-site', 'Accept-Encoding': 'identity', ...headers } }); // prettier-ignore

  it.each(['/console/', '/console/?q=1', '/console/tasks', '/console/tasks/0199/changes', '/console/assets', '/console/a.b/c', '/console/%2E%2E', '/console/%00'])(
    '%s is the page',
    async (path) => {
      const { status, body, headers } = await rawRequest(service.url, [`GET ${path} HTTP/1.1`]);
      expect([path, status, body]).toEqual([path, 200, PAGE]);
      expect(headers).toContain('Content-Type: text/html; charset=utf-8\r\n');
      expect(headers).toContain('Cache-Control: no-cache\r\n');
    },
  ); // prettier-ignore

  it.each([
    ['theme.js', 'text/javascript; charset=utf-8', 'no-cache', 9],
    ['favicon.svg', 'image/svg+xml', 'no-cache', 41],
    ['assets/index-B1x2_3.js', 'text/javascript; charset=utf-8', FOR_EVER, SCRIPT.length],
    ['assets/geist-Qw3-4.woff2', 'font/woff2', FOR_EVER, 3000],
  ])('%s is %s, kept %s', async (name, type, cache, length) => {
    const { status, text, headers } = await get(`/console/${name}`);
    expect([status, text.length]).toEqual([200, length]);
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([type, cache]);
  });

  it('each comes with the policy, to which nothing is added, and under no limit', async () => {
    for (const path of ['/console/', '/console/tasks', '/console/theme.js', '/console/assets/index-B1x2_3.js']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect([...headers.keys()].filter((name) => /ratelimit|set-cookie|access-control/.test(name))).toEqual([]);
    }
  });

  it('/console leads there for good, with its query', async () => {
    for (const [path, location] of [['/console', '/console/'], ['/console?a=%20b', '/console/?a=%20b']] as const) {
      const { status, headers } = await get(path);
      expect([status, headers.get('location')]).toEqual([308, location]);
    }
  }); // prettier-ignore

  it.each([
    '/console/nothing.js',
    '/console/assets/index-old.js',
    '/console/tasks/a.b',
    '/console/../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..%2fsecret.txt',
    '/console/assets/..%2f..%2f..%2fsecret.txt',
    '/console/..%5csecret.txt',
    '/console//etc/hosts.allow',
    '/console/theme.js/',
    '/console/constructor.js',
    '/consoles',
    '/Console/',
  ])('%s is nowhere, nor is anything of the disk', async (path) => {
    const { status, body } = await rawRequest(service.url, [`GET ${path} HTTP/1.1`]);
    expect([path, status]).toEqual([path, 404]);
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'not_found', code: 'not_found' } });
  });

  it.each([
    ['br', 'gzip, deflate, br, zstd'],
    ['gzip', 'gzip;q=0.5, br;q=0'],
    ['gzip', 'GZIP'],
  ])('%s for who takes %j', async (encoding, accepted) => {
    const headers = { 'Accept-Encoding': accepted };
    for (const [path, content] of [['/console/assets/index-B1x2_3.js', SCRIPT], ['/console/', PAGE]] as const) {
      const answer = await rawRequest(service.url, [`HEAD ${path} HTTP/1.1`, `Accept-Encoding: ${accepted}`]);
      expect(answer.headers).toContain(`Content-Encoding: ${encoding}\r\n`);
      expect(answer.headers).toContain('Vary: Accept-Encoding\r\n');
      const length = Number(/content-length: (\d+)/i.exec(answer.headers)?.[1]);
      expect(length).toBeLessThan(content.length / 4);
      // fetch unpacks it.
      expect((await get(path, headers)).text).toBe(content);
    }
  }); // prettier-ignore

  it('no encoding for who takes none, for what is small, and for what is compressed already', async () => {
    for (const [path, accepted] of [
      ['/console/', 'identity'],
      ['/console/', 'br;q=0, gzip;q=0.000'],
      ['/console/theme.js', 'br'],
      ['/console/assets/geist-Qw3-4.woff2', 'br'],
    ] as const) {
      const { headers } = await get(path, { 'Accept-Encoding': accepted });
      expect([path, headers.get('content-encoding')]).toEqual([path, null]);
    }
  });

  it('who has a file gets 304, by the tag of its encoding', async () => {
    const tags = new Set<string>();
    for (const encoding of ['identity', 'gzip', 'br']) {
      const tag = (await get('/console/tasks', { 'Accept-Encoding': encoding })).headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w-]{22}(-br|-gzip)?"$/);
      tags.add(tag);
      const again = await get('/console/', { 'Accept-Encoding': encoding, 'If-None-Match': `"x", W/${tag}` });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
      expect([again.headers.get('cache-control'), again.headers.get('vary')]).toEqual(['no-cache', 'Accept-Encoding']);
    }
    expect(tags.size).toBe(3);
    expect((await get('/console/', { 'If-None-Match': '"x"' })).status).toBe(200);
  });

  it('HEAD says what GET would; other methods are 405', async () => {
    const [head, whole] = [await get('/console/', {}, 'HEAD'), await get('/console/')];
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['content-length', 'etag', 'content-type', 'content-security-policy']) {
      expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)]);
    }
    for (const path of ['/console', '/console/', '/console/theme.js']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const { status, headers, body } = await get(path, {}, method);
        expect([path, method, status, headers.get('allow')]).toEqual([path, method, 405, 'GET, HEAD']);
        expect(body.error?.code).toBe('method_not_allowed');
      }
    }
  });

  it('a browser at / is sent there; a program gets the 404 that names /docs', async () => {
    const { status, headers } = await get('/', { Accept: 'text/html,*/*;q=0.8' });
    expect([status, headers.get('location')]).toEqual([302, '/console/']);
    expect((await get('/', { Accept: '*/*' })).body.error?.message).toContain('/docs');
  });

  it('none of it is in the document', async () => {
    const { paths } = (await get('/openapi.json')).body as { paths?: object };
    expect(Object.keys(paths ?? {}).filter((path) => path.includes('console'))).toEqual([]);
  });
});

describe('The console (reference §20)', () => {
  const services: TestApp[] = [];
  const boot = async (options?: BootOptions): Promise<TestApp> => {
    const service = await bootApp(options);
    services.push(service);
    return service;
  };
  // The one that has the database last.
  afterEach(async () => {
    for (const service of services.splice(0).reverse()) await service.close();
  });
  const ask = async (url: string, path: string, headers = {}) => new Browser(url).get(path, headers);

  it('that is not built says how to build it, and one can log in all the same', async () => {
    const service = await boot({
      override: (builder) => builder.overrideProvider(ConsoleFolder).useValue({ path: '/nowhere' }),
    });
    const { key } = await makeMember(service);
    const page = await ask(service.url, '/console/');
    expect([page.status, page.body.error?.code]).toEqual([404, 'not_found']);
    expect(page.body.error?.message).toContain('npm run build');
    expect((await ask(service.url, '/console')).status).toBe(308);
    expect((await new Browser(service.url).logIn({ key: key.secret })).status).toBe(204);
  });

  it('that is off is not there: neither page nor log-in, and no cookie counts', async () => {
    const on = await boot();
    const { key } = await makeMember(on);
    const browser = new Browser(on.url);
    await browser.logIn({ key: key.secret });
    const off = await boot({ db: on.db, env: { CONSOLE: 'off' } });
    const elsewhere = Object.assign(new Browser(off.url), { cookie: browser.cookie });
    for (const path of ['/console', '/console/', '/console/theme.js']) {
      expect((await elsewhere.get(path)).body.error?.message).toBe('There is nothing at this path.');
    }
    expect((await elsewhere.logIn({ key: key.secret })).status).toBe(404);
    expect((await elsewhere.send('OPTIONS', '/console/')).status).toBe(404);
    expect((await elsewhere.get('/v1/auth/context')).body.error?.code).toBe('missing_credential');
    expect((await elsewhere.get('/', { Accept: 'text/html' })).headers.get('location')).toBe('/docs');
  });

  it('is nothing of a worker', async () => {
    const worker = await boot({ env: { ROLE: 'worker' } });
    expect((await ask(worker.url, '/console/')).status).toBe(404);
    expect((await new Browser(worker.url).logIn({ key: 'x' })).status).toBe(404);
  });
});
