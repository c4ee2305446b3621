import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { git, RepositoryFolder } from '../../../../test/harness/repositories.js';
import { describeDrivers, type DriverName, type Opened, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import { AuthorityFile, packument, resolverOf, WebHosts } from '../../../../test/harness/web-hosts.js';
import { Egress } from '../../../platform/egress/egress.js';
import { PROXY_PORT } from './inside.js';

/** What a host answers in place of a status that can be handed on. */
const BROKEN_HEADS = new Map([
  ['/control', '200 \u0001'],
  ['/low', '099 Low'],
  ['/upgrade', '101 Other\r\nConnection: upgrade\r\nUpgrade: other'],
]);

const NAMES = {
  'allowed.test': ['127.0.0.1'],
  'a.wild.test': ['127.0.0.1'],
  'dead.test': ['127.0.0.1'],
  'other.test': ['127.0.0.1'],
  'private.test': ['10.0.0.1'],
  'mixed.test': ['127.0.0.1', '10.0.0.1'],
};

function network(driver: DriverName): void {
  const folder = new RepositoryFolder();
  const authority = new AuthorityFile();
  const said: Record<string, unknown>[] = [];
  let hosts: WebHosts;
  let bench: SandboxBench;
  let task: Opened;
  let asked: string[];

  beforeAll(async () => {
    const repository = folder.make('lib', { 'a.txt': 'cloned\n' });
    git(repository, 'update-server-info');
    hosts = await WebHosts.start(({ url = '', headers }, response) => {
      if (url === '/endless') response.write(Buffer.alloc(65_536));
      else if (url === '/pad') response.end(JSON.stringify(packument(headers.host ?? '')));
      else if (url === '/big') response.end(Buffer.alloc(3_000_000, 'x'));
      else if (BROKEN_HEADS.has(url))
        response.socket?.end(`HTTP/1.1 ${BROKEN_HEADS.get(url)}\r\nContent-Length: 0\r\n\r\n`);
      else if (url === '/moved') response.writeHead(302, { location: 'http://other.test/' }).end();
      else if (!url.startsWith('/lib/')) return false;
      else if (url.includes('info/refs')) response.end(readFileSync(join(repository, '.git/info/refs')));
      else file(response, join(repository, '.git', url.slice('/lib/'.length)));
      return true;
    });
    const { http, https } = hosts;
    const allowHosts = [
      ...[http, https].flatMap((port) => [`allowed.test:${port}`, `*.wild.test:${port}`]),
      ...['dead.test:1', `private.test:${http}`, `mixed.test:${http}`, `absent.test:${http}`, 'other.test'],
      ...[`169.254.169.254:${http}`, '10.0.0.1'],
    ];
    const allowed = { allowHosts, allowNetworks: ['127.0.0.0/8'], caFile: authority.path };
    bench = new SandboxBench(driver, { network: 'allow', ...allowed });
    const found = resolverOf(NAMES);
    asked = found.asked;
    bench.proxy.egress = new Egress(['127.0.0.0/8'], found.resolver);
    Logger.overrideLogger({ log: note, warn: note, error: note });
    task = await bench.open();
  });
  afterAll(async () => {
    await bench.close();
    await hosts.stop();
    folder.remove();
    authority.remove();
    Logger.overrideLogger(false);
  });
  const note = (message: unknown) => {
    if (typeof message === 'object' && message !== null) said.push(message as Record<string, unknown>);
  };

  const run = async (command: string, opened = task) => {
    const { stdout, stderr, exitCode } = await opened.session.run(command, { network: true, timeoutSeconds: 60 });
    return { out: stdout.trim(), err: stderr.trim(), exitCode };
  };
  /** Status and text of a proxy's answer to these words. */
  const words = (...lines: string[]) =>
    `exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT}; printf '${lines.map((line) => `${line}\\r\\n`).join('')}\\r\\n' >&3; cat <&3`;
  const get = (url: string) => words(`GET ${url} HTTP/1.1`, 'Host: x', 'Connection: close');

  it('says at boot which hosts there are', async () => {
    const { active, missing, hosts: reached } = await bench.sandbox.check();
    expect(active.join(' ')).toContain(`Of hosts they reach allowed.test:${hosts.http}, *.wild.test:${hosts.http}`);
    expect(missing.join(' ')).not.toContain('allowHosts');
    expect(reached).toContain('other.test');
  });

  it('leads to an allowed host, by HTTP and HTTPS, both ways', async () => {
    const { http, https } = hosts;
    const curl = 'curl -sS -m 20';
    const { out, err } = await run(`
      ${curl} http://allowed.test:${http}/a?b=c
      ${curl} https://allowed.test:${https}/d https://a.wild.test:${https}/e
      head -c 3000000 /dev/zero | ${curl} --data-binary @- http://allowed.test:${http}/f
      head -c 3000000 /dev/zero | ${curl} -T - https://allowed.test:${https}/g
      ${curl} https://allowed.test:${https}/big | wc -c
      ${curl} -o /dev/null -w '%{http_code} %{redirect_url}' http://allowed.test:${http}/moved`);
    expect(err).toBe('');
    expect(out.split('\n')).toEqual([
      `GET allowed.test:${http} /a?b=c 0`,
      `GET allowed.test:${https} /d 0`,
      `GET a.wild.test:${https} /e 0`,
      `POST allowed.test:${http} /f 3000000`,
      `PUT allowed.test:${https} /g 3000000`,
      '3000000',
      '302 http://other.test/',
    ]);
    expect(hosts.requests.flatMap(({ headers }) => Object.keys(headers).filter((name) => /proxy|via|forward/.test(name)))).toEqual([]); // prettier-ignore
  });

  it('git and npm find it by themselves', async () => {
    const base = `http://allowed.test:${hosts.http}`;
    expect((await run(`git clone -q ${base}/lib there && cat there/a.txt`)).out).toBe('cloned');
    // It takes a second of the processor, and the driver is nothing to it.
    if (driver === 'bubblewrap') return;
    expect((await run(`npm view --registry ${base}/ pad version`)).out).toBe('1.2.3');
  });

  it('leads to no other host, by whatever name, and says which', async () => {
    const before = hosts.requests.length;
    const { http, https } = hosts;
    const urls = [
      ...[`http://other.test:${http}/`, `http://127.0.0.1:${http}/`, `http://localhost:${http}/`],
      ...[`http://2130706433:${http}/`, `http://[::1]:${http}/`, `http://wild.test:${http}/`],
      ...[`http://allowed.test.:${http}/`, `http://xallowed.test:${http}/`, `http://allowed.test.other.test:${http}/`],
      ...[`http://allowed.test:22/`, 'http://other.test:8080/'],
    ];
    const tunnels = [`other.test:${https}`, `127.0.0.1:${https}`, 'allowed.test:443', `0x7f.1:${https}`];
    const all = [...urls.map(get), ...tunnels.map((to) => words(`CONNECT ${to} HTTP/1.1`))];
    const { out } = await run(all.map((one) => `(${one}) | tr -d '\\r\\n'; echo`).join('\n'));
    const answers = out.split('\n');
    expect(answers).toHaveLength(all.length);
    for (const answer of answers)
      expect(answer).toMatch(/^HTTP\/1.1 403 .* is not among the hosts that may be reached/);
    expect(answers[0]).toContain(
      `other.test:${http} is not among the hosts that may be reached from here: allowed.test`,
    );
    expect(answers[3]).toContain(`127.0.0.1:${http} is not`);
    expect(hosts.requests.length).toBe(before);
  });

  it('leads to no address that is not public and in no network of the operator, whatever leads there', async () => {
    const { http } = hosts;
    const named = [`private.test:${http}`, `mixed.test:${http}`, `169.254.169.254:${http}`, '10.0.0.1'];
    const all = named.flatMap((host) => [get(`http://${host}/`), words(`CONNECT ${host.includes(':') ? host : `${host}:80`} HTTP/1.1`)]); // prettier-ignore
    const { out } = await run(all.map((one) => `(${one}) | tr -d '\\r\\n'; echo`).join('\n'));
    const answers = out.split('\n');
    expect(answers).toHaveLength(8);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 403 .* is not a public address/);
  });

  it('connects to what was checked, and asks for a name once', () => {
    // The system knows none of these names.
    expect(asked.filter((name) => name === 'allowed.test').length).toBeLessThanOrEqual(3);
    expect(asked).not.toContain('xallowed.test');
  });

  it('says what cannot be reached and what is no request, without an address', async () => {
    const wrong = ['GET / HTTP/1.1', 'GET https://allowed.test/ HTTP/1.1', 'GET http://a@allowed.test/ HTTP/1.1', 'CONNECT a@allowed.test:443 HTTP/1.1', 'CONNECT /x HTTP/1.1']; // prettier-ignore
    const all = [get(`http://absent.test:${hosts.http}/`), words('CONNECT dead.test:1 HTTP/1.1'), ...wrong.map((line) => words(line, 'Host: x', 'Connection: close'))]; // prettier-ignore
    const { out } = await run(all.map((one) => `(${one}) | tr -d '\\r\\n'; echo`).join('\n'));
    const [absent, dead, ...others] = out.split('\n');
    expect(absent).toMatch(/^HTTP\/1.1 502 .*absent.test cannot be reached: ENOTFOUND\./);
    expect(dead).toMatch(/^HTTP\/1.1 502 .*dead.test cannot be reached: ECONNREFUSED\./);
    expect(others).toHaveLength(wrong.length);
    for (const other of others) expect(other).toMatch(/^HTTP\/1.1 400 .*This is a proxy for HTTP/);
  });

  it('is the only way: the sandbox has no other, and no command that does not ask for one', async () => {
    const before = hosts.requests.length;
    const direct = `curl -sS -m 5 --noproxy '*' http://127.0.0.1:${hosts.http}/`;
    const { out, err, exitCode } = await run(`tail -n +3 /proc/net/dev | cut -d: -f1; stat -c %F /opt/millwright/network; ${direct}`); // prettier-ignore
    expect({ out, exitCode }).toEqual({ out: 'lo\nsocket', exitCode: 7 });
    expect(err).toMatch(/Failed to connect|Could not connect/);
    const without = await task.session.run(`env | grep -ci proxy; stat -c %F /opt/millwright/network; ${get('http://allowed.test/')}`); // prettier-ignore
    expect(without).toMatchObject({ stdout: expect.stringMatching(/^0\nregular empty file\n$/) });
    expect(hosts.requests.length).toBe(before);
  });

  it('leaves a command with nothing else: its descriptors, its children and the file system', async () => {
    const { out, exitCode } = await run(`ls /proc/self/fd | tr '\\n' ' '
      for child in $(cat /proc/$$/task/$$/children); do cat /proc/$child/comm; done 2>/dev/null | grep -c node
      (touch /opt/millwright/network; chmod 777 /opt/millwright/network; rm -f /opt/millwright/network) 2>/dev/null
      stat -c %F /opt/millwright/network`);
    expect({ out, exitCode }).toEqual({ out: '0 1 2 3 0\nsocket', exitCode: 0 });
  });

  it('is of one task: another has a socket of its own, or none', async () => {
    const other = await bench.open();
    const none = await bench.open(undefined, false);
    const sockets = () => readdirSync(join(bench.dataDir.path, networkFolder(bench.dataDir.path)));
    const before = sockets().length;
    expect((await run(`curl -sS -m 20 http://allowed.test:${hosts.http}/mine`, other)).out).toContain('/mine');
    expect(sockets()).toHaveLength(before + 1);
    const { out } = await run('env | grep -ci proxy; stat -c %F /opt/millwright/network', none);
    expect(out).toBe('0\nregular empty file');
    await other.session.close();
    expect(sockets()).toHaveLength(before);
    await none.session.close();
    expect(said.filter(({ taskId }) => taskId === other.taskId)).toEqual([
      expect.objectContaining({ host: 'allowed.test', connections: 1, failed: 0, bytesIn: expect.any(Number) }),
    ]);
    expect(said.filter(({ taskId }) => taskId === none.taskId)).toEqual([]);
  });

  it('takes 64 connections of one task at once, holds none up, and ends with the session', async () => {
    const greedy = await bench.open();
    const before = hosts.requests.length;
    const ask = `for (let i = 0; i < 80; i++) {
      const socket = require('net').connect(${PROXY_PORT}, '127.0.0.1').on('error', () => {}).resume();
      socket.write('GET http://allowed.test:${hosts.http}/endless HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
    }
    setInterval(() => {}, 1000)`;
    const flood = greedy.session.run(`node -e "${ask}"`, { network: true, timeoutSeconds: 60 });
    const ended = expect(flood).rejects.toThrow('closed');
    await until('64 of them', () => hosts.requests.length - before === 64);
    expect((await run(`curl -sS -m 20 http://allowed.test:${hosts.http}/beside`)).out).toContain('/beside');
    expect(hosts.requests.length - before).toBe(65);
    await greedy.session.close();
    await ended;
    const lines = said.filter(({ taskId }) => taskId === greedy.taskId);
    expect(lines).toEqual([
      expect.objectContaining({ host: 'allowed.test', connections: 64 }),
      expect.objectContaining({ refused: 0, dropped: 16 }),
    ]);
    expect(lines[0]?.['bytesIn']).toBeGreaterThanOrEqual(64 * 65_536);
  });

  it('outlives an answer that is none, for all who use it', async () => {
    const all = [...BROKEN_HEADS.keys()].map((url) => get(`http://allowed.test:${hosts.http}${url}`));
    const { out } = await run(all.map((one) => `(${one}) | tr -d '\\r\\n'; echo`).join('\n'));
    const answers = out.split('\n');
    expect(answers).toHaveLength(all.length);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 502 .*allowed.test cannot be reached/);
    expect((await run(`curl -sS -m 20 http://allowed.test:${hosts.http}/after`)).out).toContain('/after');
  });

  it('carries out one request of a connection at a time, whatever is sent behind it', async () => {
    const before = hosts.requests.length;
    const to = (path: string, version: string) => `GET http://allowed.test:${hosts.http}${path} HTTP/${version}`;
    for (const version of ['1.1', '1.0']) {
      const head = 'Host: x\\r\\nConnection: keep-alive\\r\\n\\r\\n';
      const many = `for i in {1..200}; do printf '${to('/endless', version)}\\r\\n${head}'; done`;
      const { out } = await run(`exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT}; (${many}) >&3; head -c 60000 <&3 | head -1`);
      expect(out).toContain('HTTP/1.1 200');
    }
    expect(hosts.requests.length - before).toBe(2);
  });

  it('does not begin for a session that has ended', async () => {
    const late = await bench.open();
    const sockets = () => readdirSync(join(bench.dataDir.path, networkFolder(bench.dataDir.path)));
    const before = sockets();
    const command = late.session.run('true', { network: true });
    const ended = expect(command).rejects.toThrow('closed');
    await late.session.close();
    await ended;
    expect(sockets()).toEqual(before);
  });

  it('is told to the log: bytes in and out by host, and what was refused', async () => {
    const { taskId, session } = task;
    await session.close();
    const lines = said.filter((line) => line['taskId'] === taskId);
    const one = (host: string) => lines.find((line) => line['host'] === host) ?? {};
    expect(one('allowed.test')['bytesOut']).toBeGreaterThan(6_000_000);
    expect(one('allowed.test')['bytesIn']).toBeGreaterThan(3_000_000);
    expect(one('dead.test')).toMatchObject({ connections: 0, failed: 1, bytesIn: 0 });
    const refusal = lines.find((line) => 'refused' in line) ?? {};
    expect(refusal['refused']).toBe(15 + 8);
    expect(refusal['hosts']).toEqual(expect.arrayContaining(['other.test', 'private.test']));
  });

  it('is there again for the next command of a session, when its thread has ended', async () => {
    const sessions = [await bench.open(), await bench.open()];
    const again = (opened: Opened) => run(`curl -sS -m 20 http://allowed.test:${hosts.http}/again`, opened);
    for (const opened of sessions) expect((await again(opened)).out).toContain('/again');
    await (Reflect.get(bench.proxy, 'thread') as Worker).terminate();
    for (const opened of sessions) expect((await again(opened)).out).toContain('/again');
    for (const { session } of sessions) await session.close();
  });
}

describe('The network of a sandbox', () => describeDrivers(network));

const networkFolder = (base: string) => readdirSync(base).find((name) => name.startsWith('network.')) ?? '';

function file(response: { end: (content?: Buffer) => void; statusCode: number }, path: string): void {
  try {
    response.end(readFileSync(path));
  } catch {
    response.statusCode = 404;
    response.end();
  }
}
