import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readEnv } from '../../platform/config/env.js';
import { VERSION } from '../../platform/config/version.js';
import { Egress } from '../../platform/egress/egress.js';
import { AuthorityFile, resolverOf, WebHosts } from '../../../test/harness/web-hosts.js';
import { pageUrl } from './page-url.js';
import { type WebAnswer, type WebAsk, WebRequests } from './web-requests.js';

const TEXT = 'The wheel turns. '.repeat(2_000);
const TIGHT = brotliCompressSync(Buffer.alloc(200 * 1024 ** 2), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const ZEROES = gzipSync(Buffer.alloc(200 * 1024 ** 2));

describe('How a page is asked for (reference §27)', () => {
  const authority = new AuthorityFile();
  let hosts: WebHosts;
  let requests: WebRequests;
  const open: ServerResponse[] = [];
  const path = ({ url = '' }: IncomingMessage) => url.split('?')[0];

  const pages = (request: IncomingMessage, response: ServerResponse): boolean => {
    const packed = (encoding: string, body: Buffer) => response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding }).end(body); // prettier-ignore
    const to = (location: string, status = 302) => response.writeHead(status, { location }).end();
    const at = (name: string, rest: string) => `https://${name}:${hosts.https}${rest}`;
    const found: Record<string, () => unknown> = {
      '/gzip': () => packed('gzip', gzipSync(TEXT)),
      '/br': () => packed('br', brotliCompressSync(TEXT)),
      '/deflate': () => packed('deflate', deflateSync(TEXT)),
      '/raw': () => packed('deflate', deflateRawSync(TEXT)),
      '/broken': () => packed('gzip', Buffer.from('no gzip')),
      '/other': () => packed('zstd', Buffer.from('?')),
      '/bomb': () => packed('gzip', ZEROES),
      '/tight': () => packed('br', TIGHT),
      '/drip': () => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        const drops = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(drops));
      },
      '/endless': () => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        const more = () => void response.write('x'.repeat(65_536), (error) => error ?? more());
        more();
      },
      '/slow': () => {
        response.writeHead(200, { 'content-type': 'text/plain' }).write('One');
        open.push(response);
      },
      '/silent': () => open.push(response),
      '/1': () => to('/2', 301),
      '/2': () => to('3', 303),
      '/3': () => to(at('allowed.test', '/4'), 307),
      '/4': () => to('/5', 308),
      '/5': () => to('/end?x=1#there'),
      '/end': () =>
        response.writeHead(200, { 'content-type': 'Text/HTML; Charset="UTF-8"', 'set-cookie': 'a=b' }).end('end'),
      '/circle': () => to('/circle'),
      '/nowhere': () => response.writeHead(302).end('no location'),
      '/elsewhere': () => to(at('b.wild.test', '/end')),
      '/port': () => to('https://allowed.test/end'),
      '/private': () => to('https://127.0.0.1/'),
      '/clear': () => to(`http://allowed.test:${hosts.https}/end`),
      '/file': () => to('file:///etc/passwd'),
      '/named': () => to('https://user:word@allowed.test/'),
      '/gone': () => response.writeHead(410, { 'content-type': 'text/plain' }).end('x'.repeat(400_000)),
      '/film': () => response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 7_000_000 }).write('x'),
      '/cut': () => {
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 100 }).write('half');
        setImmediate(() => response.destroy());
      },
    };
    const page = found[path(request) ?? ''];
    page?.();
    return page !== undefined;
  };

  beforeAll(async () => {
    hosts = await WebHosts.start(pages);
    const env = readEnv({});
    requests = new WebRequests(Object.assign(env, { file: { ...env.file, sandbox: { caFile: authority.path } } }));
    const { resolver } = resolverOf({
      'allowed.test': ['127.0.0.1'],
      'b.wild.test': ['127.0.0.1'],
      'wrong.test': ['127.0.0.1'],
      'private.test': ['10.0.0.1'],
      'both.test': ['8.8.8.8', '10.0.0.1'],
    });
    requests.egress = new Egress(['127.0.0.1/32'], resolver);
  });
  afterEach(() => {
    hosts.requests.splice(0);
    for (const response of open.splice(0)) response.destroy();
  });
  afterAll(async () => {
    await hosts.stop();
    authority.remove();
  });

  const url = (rest: string, host = 'allowed.test') => pageUrl(`https://${host}:${hosts.https}${rest}`);
  const get = (rest: string, more: Partial<WebAsk> & { host?: string } = {}) =>
    requests.get(url(rest, more.host), {
      ...{ owner: 'a', maxBytes: 100_000, seconds: 20, signal: new AbortController().signal, wants: () => true },
      ...more,
    });
  const answer = async (rest: string, more: Partial<WebAsk> = {}) => (await get(rest, more)) as WebAnswer;

  it('sends no cookie and no credential, and says who asks', async () => {
    await get('/end');
    await get('/end');
    expect(hosts.requests).toHaveLength(2);
    for (const { headers } of hosts.requests) {
      expect(Object.keys(headers).sort()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
      expect(headers['user-agent']).toBe(`Millwright/${VERSION}`);
    }
  });

  it.each(['/gzip', '/br', '/deflate', '/raw'])('unpacks %s', async (rest) => {
    const { body, cut, status, mediaType } = await answer(rest);
    expect([body.toString(), cut, status, mediaType]).toEqual([TEXT, false, 200, 'text/plain']);
  });

  it.each(['/bomb', '/tight', '/endless'])(
    'stops reading %s at the limit, which counts what is unpacked',
    async (rest) => {
      const before = process.memoryUsage().arrayBuffers;
      const { body, cut } = await answer(rest);
      expect([body.length, cut]).toEqual([100_000, true]);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 ** 2);
    },
  );

  it('reads little of what is no page, and nothing of a type that nobody wants', async () => {
    const { body, status, cut } = await answer('/gone', { maxBytes: 5_000_000 });
    expect([status, body.length, cut]).toEqual([410, 256 * 1024, true]);
    const film = await answer('/film', { wants: (type) => type !== 'video/mp4' });
    expect([film.body.length, film.length, film.mediaType]).toEqual([0, 7_000_000, 'video/mp4']);
  });

  it('follows five redirects to the same host, and no sixth', async () => {
    const found = await answer('/1');
    expect([found.url.href, found.body.toString(), found.charset]).toEqual([url('/end?x=1').href, 'end', 'utf-8']);
    expect(found.mediaType).toBe('text/html');
    expect(hosts.requests.map((one) => one.url)).toEqual(['/1', '/2', '/3', '/4', '/5', '/end?x=1']);
    hosts.requests.splice(0);
    await expect(get('/circle')).rejects.toThrow(/\/circle is redirected more than 5 times\.$/);
    expect(hosts.requests).toHaveLength(6);
  });

  it('names another host or port, and does not ask it', async () => {
    expect(await get('/elsewhere')).toEqual({
      url: url('/elsewhere'),
      status: 302,
      elsewhere: url('/end', 'b.wild.test'),
    });
    expect(await get('/private')).toMatchObject({ elsewhere: new URL('https://127.0.0.1/') });
    expect(await get('/port')).toMatchObject({ elsewhere: new URL('https://allowed.test/end') });
    expect(hosts.requests.map(({ host }) => host)).toEqual(Array(3).fill(`allowed.test:${hosts.https}`));
  });

  it('asks by https where a redirect says http, and takes no redirect to what is no page', async () => {
    expect((await answer('/clear')).body.toString()).toBe('end');
    expect((await answer('/nowhere')).body.toString()).toBe('no location');
    await expect(get('/file')).rejects.toThrow('The URL has to begin with https://, and not with file:');
    await expect(get('/named')).rejects.toThrow('The URL must have no user name and no password.');
  });

  it('gives up after its time, whether the host is silent or slow', async () => {
    for (const rest of ['/silent', '/slow', '/drip']) {
      await expect(get(rest, { seconds: 0.3 })).rejects.toThrow(`allowed.test:${hosts.https} has not answered in full within 0.3 s.`); // prettier-ignore
    }
  });

  it('ends with its signal, for the reason of that', async () => {
    const stop = new AbortController();
    const asked = get('/silent', { signal: stop.signal });
    stop.abort(new Error('Cancelled.'));
    await expect(asked).rejects.toThrow('Cancelled.');
  });

  it.each<[string, string, string, RegExp]>([
    ['a name that is none', 'none.test', '/', /^There is no host none\.test \(ENOTFOUND\)\.$/],
    [
      'a name of a private address',
      'private.test',
      '/',
      /^private\.test is not a public address.* Pages are read of public hosts alone\.$/,
    ],
    ['a name of which one address is private', 'both.test', '/', /^both\.test is not a public address/],
    [
      'a host that does not prove who it is',
      'wrong.test',
      '/',
      /does not prove that it is that host \(ERR_TLS_CERT_ALTNAME_INVALID\)\.$/,
    ],
    ['what cannot be unpacked', 'allowed.test', '/broken', /cannot be unpacked \(Z_DATA_ERROR\)\.$/],
    [
      'what is packed otherwise',
      'allowed.test',
      '/other',
      /^The answer is packed as "zstd", which was not asked for\.$/,
    ],
    ['an answer that breaks off', 'allowed.test', '/cut', /could not be asked by https \(ECONNRESET\)\.$/],
  ])('says of %s in a sentence what is wrong', async (_what, host, rest, message) => {
    await expect(get(rest, { host })).rejects.toThrow(message);
    if (host !== 'allowed.test') expect(hosts.requests).toEqual([]);
  });

  it.each([
    ...['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]'],
    ...['0.0.0.0', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::]', '①②⑦.⓪.⓪.①', '169.254.169.254'],
  ])('asks nobody at %s', async (host) => {
    const own = new WebRequests(readEnv({}));
    const ask = { owner: 'a', maxBytes: 1, seconds: 20, signal: new AbortController().signal, wants: () => true };
    await expect(own.get(url('/', host), ask)).rejects.toThrow('is not a public address');
    expect(hosts.requests).toEqual([]);
  });
});

describe('The address of a page (reference §27)', () => {
  it.each([
    ['http://mill.example/a?b=c#d', 'https://mill.example/a?b=c'],
    ['HTTP://MILL.example:80', 'https://mill.example/'],
    ['https://mill.example:8443/ä', 'https://mill.example:8443/%C3%A4'],
  ])('%s is asked as %s', (text, href) => expect(pageUrl(text).href).toBe(href));

  it.each([
    ['mill', '"mill" is no URL.'],
    ['https://a b/', 'is no URL.'],
    ['https://a/\nHost: b', 'is no URL.'],
    ['ftp://mill.example/', 'has to begin with https://, and not with ftp:'],
    ['data:text/html,x', 'has to begin with https://, and not with data:'],
    ['https://user@mill.example/', 'must have no user name and no password'],
    [`https://mill.example/${'a'.repeat(2_048)}`, 'at most 2048 are taken'],
    [`https://mill.example/${'ä'.repeat(1_000)}`, 'has more than 2048 characters'],
  ])('%s is refused', (text, message) => expect(() => pageUrl(text)).toThrow(message));
});
