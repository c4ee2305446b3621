import { type AddressInfo, createServer as createTcp, type Server as TcpServer, type Socket } from 'node:net';
import { cut, endless, HostileHost, json, type Serve, text } from '../../../../test/harness/hostile-host.js';
import { Egress } from '../../../platform/egress/egress.js';
import { apiFetch } from './api-fetch.js';
import type { HostReads } from './host-client.js';
import { HostError, type HostFailure } from './host-error.js';
import { askHost } from './host-reads.js';

/** Far below the limit of a request: what hangs is given up by the one who asks. */
const PATIENCE_MS = 1500;
const SHA = 'a'.repeat(40);
const REPOSITORY = {
  full_name: 'acme/api',
  private: true,
  default_branch: 'main',
  pushed_at: '2026-01-02T03:04:05Z',
  permissions: { push: true },
};
const PROJECT = {
  path_with_namespace: 'acme/api',
  visibility: 'private',
  default_branch: 'main',
  last_activity_at: '2026-01-02T03:04:05.678Z',
  permissions: { project_access: { access_level: 30 }, group_access: null },
};

type Ask = (reads: HostReads) => Promise<unknown>;
type Kind = 'github' | 'gitlab';

const repositories: Ask = (reads) => reads.repositories(1);
const branches: Ask = (reads) => reads.branches('acme/api', 1);
const repository: Ask = (reads) => reads.repository('acme/api');
const pull: Ask = (reads) => reads.pullRequest('acme/api', 1);
const refs: Ask = (reads) => reads.searchBranches('acme/api', 'x');
const many = <T>(n: number, one: T): T[] => Array.from({ length: n }, () => one);
const bit = (change: object) => json([{ ...REPOSITORY, ...change }]);
const piece = (change: object) => json([{ ...PROJECT, ...change }]);

/** What is asked, what the host does, and what the error is. */
const CASES: [string, Kind, Ask, Serve, HostFailure][] = [
  ['null', 'github', repositories, json(null), 'unreadable'],
  ['null', 'gitlab', repositories, json(null), 'unreadable'],
  ['a number', 'github', repositories, json(7), 'unreadable'],
  ['a text', 'github', repository, json('acme'), 'unreadable'],
  ['a text', 'gitlab', repository, json('acme'), 'unreadable'],
  ['an object where a list is expected', 'github', repositories, json({ 0: REPOSITORY, length: 1 }), 'unreadable'],
  ['an object where a list is expected', 'gitlab', repositories, json({ 0: PROJECT, length: 1 }), 'unreadable'],
  ['a list where an object is expected', 'github', repository, json([REPOSITORY]), 'unreadable'],
  ['a list where an object is expected', 'gitlab', repository, json([PROJECT]), 'unreadable'],
  ['a list of nulls', 'github', repositories, json([null]), 'unreadable'],
  ['a list of nulls', 'gitlab', repositories, json([null]), 'unreadable'],
  ['nothing', 'github', repositories, text(''), 'unreadable'],
  ['nothing', 'gitlab', repositories, text(''), 'unreadable'],
  ['half of a JSON', 'github', repositories, text('[{"full_name": "acme/'), 'unreadable'],
  ['half of a JSON', 'gitlab', repositories, text('[{"path_with_namespace": "acme/'), 'unreadable'],
  ['two values of JSON', 'github', repository, text(JSON.stringify(REPOSITORY).repeat(2)), 'unreadable'],
  ['bytes that are no UTF-8', 'github', repository, text(Buffer.from('{"login":"\xff\xfe"', 'latin1')), 'unreadable'],
  ['a page for people', 'github', repositories, text('<html>Log in</html>', 'text/html'), 'unreadable'],
  ['a page for people', 'gitlab', repositories, text('<html>Log in</html>', 'text/html'), 'unreadable'],
  ['a page that says it is JSON', 'github', repositories, text('<html>Log in</html>'), 'unreadable'],
  ['JSON that says it is a page', 'gitlab', repositories, text('[]', 'text/html'), 'unreadable'],
  ['JSON of no type', 'github', repositories, (response) => response.writeHead(200).end('[]'), 'unreadable'],
  ['JSON of a type like it', 'github', repositories, text('[]', 'application/jsonp'), 'unreadable'],
  [
    'packed JSON that nobody asked for',
    'github',
    repositories,
    text(Buffer.from('1f8b0800', 'hex'), undefined, 200, { 'content-encoding': 'gzip' }),
    'unreadable',
  ],
  ['a redirect to itself', 'github', repositories, text('', undefined, 302, { location: '/user/repos' }), 'moved'],
  [
    'a redirect to the network inside',
    'gitlab',
    repositories,
    text('', undefined, 301, { location: 'http://169.254.169.254/' }),
    'moved',
  ],
  ['a redirect with a list', 'github', repositories, json([REPOSITORY], 307, { location: '/' }), 'moved'],
  ['a success without a body', 'github', repositories, (response) => response.writeHead(204).end(), 'unreadable'],
  ['not modified', 'gitlab', repositories, (response) => response.writeHead(304).end(), 'moved'],
  ['accepted', 'github', repositories, json([], 202), 'unreadable'],
  ['an error of its own', 'gitlab', repositories, text('<html>', 'text/html', 502), 'unreachable'],
  ['an error with null', 'github', repositories, json(null, 422), 'unreadable'],
  ['a refusal with what is no message', 'gitlab', repository, json({ message: { toString: 1 } }, 403), 'forbidden'],
  [
    'too many requests',
    'gitlab',
    repository,
    text('Retry later', 'text/plain', 429, { 'retry-after': '30' }),
    'limited',
  ],
  ['too many requests, by 403', 'github', repository, json({}, 403, { 'x-ratelimit-remaining': '0' }), 'limited'],
  ['a wait of a thousand years', 'github', repository, json({}, 429, { 'retry-after': '99999999999' }), 'limited'],
  ['a page of too many rows', 'github', repositories, json(many(101, REPOSITORY)), 'unreadable'],
  ['a page of too many rows', 'gitlab', repositories, json(many(101, PROJECT)), 'unreadable'],
  [
    'a hundred thousand branches',
    'github',
    branches,
    json(many(20_000, { name: 'x', commit: { sha: SHA } })),
    'unreadable',
  ],
  [
    'a hundred thousand names',
    'github',
    refs,
    json(many(20_001, { ref: 'refs/heads/x', object: { sha: SHA } })),
    'unreadable',
  ],
  ['a name that is giant', 'github', repositories, bit({ full_name: `acme/${'x'.repeat(1_000_000)}` }), 'unreadable'],
  ['a name that leads elsewhere', 'github', repositories, bit({ full_name: '../acme/api' }), 'unreadable'],
  [
    'a name that leads elsewhere',
    'gitlab',
    repositories,
    piece({ path_with_namespace: 'acme/../../etc' }),
    'unreadable',
  ],
  ['a name with a host', 'gitlab', repositories, piece({ path_with_namespace: '//evil.example/a' }), 'unreadable'],
  ['a name with a question', 'github', repositories, bit({ full_name: 'acme/api?x=1#y' }), 'unreadable'],
  ['a null byte in a name', 'github', repositories, bit({ full_name: 'acme/a\u0000pi' }), 'unreadable'],
  ['a null byte in a branch', 'gitlab', repositories, piece({ default_branch: 'ma\u0000in' }), 'unreadable'],
  ['`private` as a text', 'github', repositories, bit({ private: 'false' }), 'unreadable'],
  ['a visibility that there is not', 'gitlab', repositories, piece({ visibility: 'all' }), 'unreadable'],
  ['a right by a text', 'github', repositories, bit({ permissions: { push: 'true' } }), 'unreadable'],
  [
    'a right that is no number',
    'gitlab',
    repositories,
    piece({ permissions: { project_access: { access_level: '50' } } }),
    'unreadable',
  ],
  [
    'a right beyond numbers',
    'gitlab',
    repositories,
    text(JSON.stringify([PROJECT]).replace('30', '1e999')),
    'unreadable',
  ],
  ['a time that is none', 'github', repositories, bit({ pushed_at: 'yesterday' }), 'unreadable'],
  [
    'a commit that is none',
    'github',
    branches,
    json([{ name: 'main', commit: { sha: '--upload-pack=x' } }]),
    'unreadable',
  ],
  ['a commit that is none', 'gitlab', branches, json([{ name: 'main', commit: { id: 7 } }]), 'unreadable'],
  ['a ref that is no branch', 'github', refs, json([{ ref: 'refs/tags/x', object: { sha: SHA } }]), 'unreadable'],
  ['a state that there is not', 'github', pull, json({ number: 1, state: 'ajar' }), 'unreadable'],
  ['a state that there is not', 'gitlab', pull, json({ iid: 1, state: 'ajar' }), 'unreadable'],
  [
    'lists in lists, a hundred thousand deep',
    'github',
    repositories,
    text('['.repeat(100_000) + ']'.repeat(100_000)),
    'unreadable',
  ],
  [
    'objects in objects, a hundred thousand deep',
    'gitlab',
    repositories,
    text('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)),
    'unreadable',
  ],
  ['a number of a million digits', 'github', repository, text(`{"login": ${'9'.repeat(1_000_000)}}`), 'unreadable'],
  ['a text of escapes', 'github', repository, text(`{"login": "${'\\"9n'.repeat(400_000)}"}`), 'unreadable'],
  ['a JSON that never ends', 'github', repositories, endless, 'unreachable'],
  ['a JSON that never ends', 'gitlab', repositories, endless, 'unreachable'],
  ['a body that is cut off', 'github', repositories, (response) => cut(response), 'unreachable'],
  ['a body that is cut off', 'gitlab', repositories, (response) => cut(response), 'unreachable'],
];

/** What no server that keeps to HTTP sends, and what comes too slowly. */
const RAW: [string, (socket: Socket) => void][] = [
  ['hangs up', (socket) => socket.destroy()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['speaks another language', (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
  ['sends two lengths', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n[]')],
  ['sends headers without end', (socket) => void socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n`)],
  ['sends a broken chunk', (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n')],
];
const SLOW: typeof RAW = [
  ['says nothing', () => undefined],
  ['stops behind the headers', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[')],
  ['says that it goes on, again and again', (socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
  [
    'sends a byte at a time',
    (socket) => drip(socket, ' ', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n'),
  ],
];

function drip(socket: Socket, what: string, first = what): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(what), 20);
  socket.once('close', () => clearInterval(timer));
}

const originOf = (server: TcpServer) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe('What a host of repositories answers is held to shapes and limits (reference §15)', () => {
  const egress = new Egress(['127.0.0.1/32']);
  let raw: (socket: Socket) => void = () => undefined;
  let web: HostileHost;
  let tcp: TcpServer;

  beforeAll(async () => {
    web = await HostileHost.listen();
    tcp = createTcp((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => raw(socket));
    });
    await new Promise<void>((done) => tcp.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    await web.close();
    await new Promise((done) => tcp.close(done));
  });

  const ask = (kind: Kind, what: Ask, origin = web.origin, patience = PATIENCE_MS) => {
    const signal = AbortSignal.timeout(patience);
    const api = kind === 'github' ? origin : `${origin}/api/v4`;
    const fetch = apiFetch(egress, 'default', null, signal);
    return askHost(kind, { api, token: 'a-token', fetch }, signal, what).catch((error: unknown) => error);
  };

  it.each(CASES)('%s (%s) is an error with a sentence', async (_name, kind, what, answer, code) => {
    Object.assign(web, { serve: answer, asked: 0 });
    const error = await ask(kind, what, web.origin, 10_000);
    expect(error).toBeInstanceOf(HostError);
    expect([(error as HostError).code, web.asked]).toEqual([code, 1]);
    expect((error as HostError).message).toMatch(/^The [^\n]{10,120}\.$/);
    expect((error as HostError).retryAfterSeconds ?? 1).toBeGreaterThanOrEqual(1);
    expect((error as HostError).retryAfterSeconds ?? 1).toBeLessThanOrEqual(3600);
  });

  it.each(RAW)('a host that %s is an error', async (_name, answer) => {
    raw = answer;
    for (const kind of ['github', 'gitlab'] as const) {
      expect(await ask(kind, repositories, originOf(tcp))).toMatchObject({ name: 'HostError' });
    }
  });

  it.each(SLOW)('a host that %s is given up when the time is over', async (_name, answer) => {
    raw = answer;
    const begun = Date.now();
    expect(await ask('github', repositories, originOf(tcp), 300)).toMatchObject({ name: 'TimeoutError' });
    expect(Date.now() - begun).toBeLessThan(20_000);
  });

  it('keys with a meaning of their own change nothing', async () => {
    const evil = '"__proto__": {"push": true, "polluted": 1}, "constructor": {"prototype": {"polluted": 1}}';
    const row = JSON.stringify({ ...REPOSITORY, permissions: undefined });
    web.serve = text(`[${row.replace('{', `{${evil},`)}]`);
    const { path, pushedAt } = { path: 'acme/api', pushedAt: '2026-01-02T03:04:05.000Z' };
    const shown = { path, private: true, defaultBranch: 'main', mayPush: false, pushedAt };
    expect(await ask('github', repositories)).toEqual({ rows: [shown], more: false });
    expect('polluted' in {}).toBe(false);
  });

  it('one page is one request, whatever it says of the next one', async () => {
    const link = `<${web.origin}/user/repos?page=1>; rel="next"`;
    const headers = { link, 'x-next-page': '1', 'x-total-pages': '1e99' };
    for (const [kind, row] of [
      ['github', REPOSITORY],
      ['gitlab', PROJECT],
    ] as const) {
      web.serve = json(many(100, row), 200, headers);
      web.asked = 0;
      expect(await ask(kind, repositories)).toMatchObject({ more: true });
      expect(web.asked).toBe(1);
    }
  });
});
