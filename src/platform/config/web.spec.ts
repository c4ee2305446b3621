import { configFileSchema } from './config-file.js';
import { webOf } from './web.js';

const read = (web: unknown) => configFileSchema().safeParse({ web });
const wrong = (web: unknown) => read(web).error?.issues.map(({ path }) => path.join('.'));

describe('Which pages of the web agents may read (reference §16, §27)', () => {
  it('is none without "web", and with it what its hosts say', () => {
    expect(webOf(configFileSchema().parse({}))).toBeNull();
    const hosts = ['docs.example.com', '*.example.org', 'wiki.example:8443'];
    const limits = { maxBytes: 5_242_880, seconds: 20, perTurn: 100 };
    expect(webOf(configFileSchema().parse({ web: { hosts } }))).toEqual({ hosts, urls: 'any', ...limits });
  });

  it('is what somebody has named where any host is allowed, unless the operator says otherwise', () => {
    const urls = (web: object) => webOf(configFileSchema().parse({ web }))?.urls;
    expect(urls({ hosts: ['a.example', '*'] })).toBe('seen');
    expect(urls({ hosts: ['*'], urls: 'any' })).toBe('any');
    expect(urls({ hosts: ['a.example'], urls: 'seen' })).toBe('seen');
  });

  it.each<[string, object, string[]]>([
    ['no hosts', {}, ['web.hosts']],
    ['an empty list of hosts', { hosts: [] }, ['web.hosts']],
    ['a URL for a host', { hosts: ['https://a.example'] }, ['web.hosts.0', 'web.hosts.0']],
    ['capitals in a host', { hosts: ['A.example'] }, ['web.hosts.0', 'web.hosts.0']],
    ['another word for urls', { hosts: ['*'], urls: 'all' }, ['web.urls']],
    ['too many bytes', { hosts: ['*'], maxBytes: 60 * 1024 ** 2 }, ['web.maxBytes']],
    ['no time', { hosts: ['*'], seconds: 0 }, ['web.seconds']],
    ['half a call', { hosts: ['*'], perTurn: 0.5 }, ['web.perTurn']],
    ['what nobody knows', { hosts: ['*'], cookies: true }, ['web']],
  ])('%s stops the boot', (_what, web, paths) => expect(wrong(web)).toEqual(paths));
});
