import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { serveGit } from '../../../../test/harness/code-hosts/git-backend.js';
import { echo } from '../../../../test/harness/echoes.js';
import { git, RepositoryFolder } from '../../../../test/harness/repositories.js';
import { describeDrivers, type DriverName, type Opened, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { slowIt } from '../../../../test/harness/slow.js';
import { until } from '../../../../test/harness/until.js';
import { AuthorityFile, packument, resolverOf, WebHosts } from '../../../../test/harness/web-hosts.js';
import { Egress } from '../../../platform/egress/egress.js';
import type { SandboxSecrets, SecretUse, TaskSecret } from '../sandbox.js';
import { Authority } from './authority.mjs';
import type { VaultBinding } from './vault.mjs';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const NEXT = 'ghp_the-next-value-of-it-0123456789';
const PLACEHOLDER = `mwsec_${'aB3'.repeat(8)}`;
const KEY = 'key-4f1c&9a=77';
const KEY_PLACEHOLDER = `mwsec_${'xY9'.repeat(8)}`;
const BASIC = `Basic ${Buffer.from(`x-access-token:${VALUE}`).toString('base64')}`;
const NAMES = { 'allowed.test': ['127.0.0.1'], 'a.wild.test': ['127.0.0.1'], 'b.wild.test': ['127.0.0.1'], 'untrusted.test': ['127.0.0.1'] }; // prettier-ignore

function opened(driver: DriverName): void {
  const authority = new AuthorityFile();
  const folder = new RepositoryFolder();
  const uses: SecretUse[] = [];
  let hosts: WebHosts;
  let untrusted: ReturnType<typeof createHttps>;
  let given: string[];
  const held: (() => void)[] = [];
  let bench: SandboxBench;
  let task: Opened;
  let repository: string;
  let change: (all: TaskSecret[]) => void;

  beforeAll(async () => {
    repository = folder.make('lib', { 'a.txt': 'cloned\n' });
    hosts = await WebHosts.start((request, response) => {
      const { url = '', headers, method } = request;
      const [path = '', kind = ''] = url.split('/').slice(1);
      const said = headers.authorization ?? '';
      if (path === 'echo') echo(said, kind, response);
      else if (path === 'pad')
        response.writeHead(said === `Bearer ${VALUE}` ? 200 : 401).end(JSON.stringify(packument(headers.host ?? ''))); // prettier-ignore
      else if (path === 'simple')
        response.writeHead(said === BASIC ? 200 : 401, { 'content-type': 'text/html' }).end('<a href="pad-1.2.3.tar.gz">pad-1.2.3.tar.gz</a>'); // prettier-ignore
      else if (path === 'login')
        response.writeHead(said === BASIC || said === `Bearer ${VALUE}` ? 200 : 401).end('in\n');
      else if (path === 'held') held.push(() => response.end(said));
      else if (path === 'before') response.end(VALUE);
      // Later than a handshake may take.
      else if (path === 'late') setTimeout(() => response.end('late\n'), 11_000);
      else if (path === 'events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
        response.once('close', () => undefined);
      } else if (path === 'big')
        response.writeHead(200, { 'content-length': 3_000_000 }).end(method === 'HEAD' ? '' : Buffer.alloc(3_000_000, 'x')); // prettier-ignore
      else if (path === 'lib') {
        if (said === BASIC)
          void serveGit(repository, new URL(url.slice('/lib'.length), 'http://x'), request, response, () => undefined); // prettier-ignore
        else response.writeHead(401, { 'www-authenticate': 'Basic realm="it"' }).end();
      } else return false;
      return true;
    });
    hosts.onUpgrade(({ headers }, socket) => {
      const said = `Connection: Upgrade\r\nUpgrade: websocket\r\nX-Said: ${headers.authorization}\r\nX-Extensions: ${headers['sec-websocket-extensions']}`;
      socket.on('error', () => undefined).write(`HTTP/1.1 101 Switching Protocols\r\n${said}\r\n\r\n`);
      socket.pipe(socket, { end: false }).write(`it was ${headers.authorization}.`);
    });
    given = [];
    const stranger = new Authority('A stranger');
    untrusted = createHttps(stranger.host('untrusted.test'), (request, response) => {
      given.push(JSON.stringify(request.rawHeaders));
      response.end();
    });
    untrusted.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => untrusted.listen(0, '127.0.0.1', resolve));
    const allowHosts = [`allowed.test:${hosts.https}`, `*.wild.test:${hosts.https}`, `allowed.test:${hosts.http}`, `untrusted.test:${portOf(untrusted)}`]; // prettier-ignore
    bench = new SandboxBench(driver, { network: 'allow', allowHosts, allowNetworks: ['127.0.0.0/8'], caFile: authority.path }); // prettier-ignore
    bench.proxy.egress = new Egress(['127.0.0.0/8'], resolverOf(NAMES).resolver);
    Logger.overrideLogger(false);
    const listen: SandboxSecrets['listen'] = (changed) => {
      change = changed;
      return () => undefined;
    };
    task = await bench.open(undefined, true, { all: secrets(VALUE), onUse: (use) => uses.push(use), listen });
  });
  afterAll(async () => {
    await bench.close();
    await hosts.stop();
    untrusted.close();
    folder.remove();
    authority.remove();
  });

  const secrets = (value: string | null, approved = true): TaskSecret[] => {
    const at = (host: string, port: number, place: VaultBinding['place']): VaultBinding => ({ host, port, methods: null, paths: null, place }); // prettier-ignore
    const bearer = { header: 'Authorization', form: 'bearer', user: null } as const;
    const basic = { header: 'Authorization', form: 'basic', user: 'x-access-token' } as const;
    const bindings = [at('allowed.test', hosts.https, bearer), at('a.wild.test', hosts.https, basic), at('allowed.test', hosts.http, bearer), at('untrusted.test', portOf(untrusted), bearer)]; // prettier-ignore
    return [
      { name: 'TOKEN', env: 'TOKEN', placeholder: PLACEHOLDER, value, approved, bindings },
      { name: 'KEY', env: 'THE_KEY', placeholder: KEY_PLACEHOLDER, value: KEY, approved, bindings: [at('allowed.test', hosts.https, { query: 'key' })] }, // prettier-ignore
    ];
  };
  const run = async (command: string) => {
    const { stdout, stderr, exitCode } = await task.session.run(command, { network: true, timeoutSeconds: 60 });
    return { out: stdout.trim(), err: stderr.trim(), exitCode };
  };
  const curl = (path: string, how = '-H "Authorization: Bearer $TOKEN"', host = 'allowed.test') =>
    run(`curl -sS -m 20 ${how} 'https://${host}:${hosts.https}${path}'`);
  const last = () => hosts.requests.at(-1);

  it('has a placeholder inside, and the value in the header of the host that it is bound to', async () => {
    expect((await run('env | grep mwsec_ | sort')).out.split('\n')).toEqual([`THE_KEY=${KEY_PLACEHOLDER}`, `TOKEN=${PLACEHOLDER}`]); // prettier-ignore
    expect((await curl('/a?b=c')).out).toBe(`GET allowed.test:${hosts.https} /a?b=c 0`);
    expect(last()?.headers.authorization).toBe(`Bearer ${VALUE}`);
    await curl('/a', '-u "me:$TOKEN"', 'a.wild.test');
    expect(last()?.headers.authorization).toBe(BASIC);
    await curl('/a?key=$THE_KEY'.replace('$THE_KEY', KEY_PLACEHOLDER), '');
    expect(last()?.url).toBe(`/a?key=${encodeURIComponent(KEY)}`);
    expect(uses.filter(({ what }) => what === 'used')).toEqual([
      { secret: 'TOKEN', host: 'allowed.test', what: 'used', type: 'secret', id: expect.any(String) as string },
      { secret: 'TOKEN', host: 'a.wild.test', what: 'used', type: 'secret', id: expect.any(String) as string },
      { secret: 'KEY', host: 'allowed.test', what: 'used', type: 'secret', id: expect.any(String) as string },
    ]);
  });

  it('opens no other connection: that of another host is a tunnel, with the placeholder', async () => {
    await curl('/a', undefined, 'b.wild.test');
    expect(last()?.headers.authorization).toBe(`Bearer ${PLACEHOLDER}`);
    await run(`curl -sS -m 20 -H "Authorization: Bearer $TOKEN" http://allowed.test:${hosts.http}/plain`);
    expect(last()?.headers.authorization).toBe(`Bearer ${PLACEHOLDER}`);
    const issuer = (host: string) => `echo | openssl s_client -proxy 127.0.0.1:61080 -connect ${host}:${hosts.https} -servername ${host} 2>/dev/null | openssl x509 -noout -issuer`; // prettier-ignore
    expect((await run(issuer('allowed.test'))).out).toContain('Millwright, for one run of a task');
    expect((await run(issuer('b.wild.test'))).out).toContain('Authority of these tests');
  });

  // What follows is the proxy's alone, and the same for each driver.
  if (driver === 'bubblewrap') return;

  it('refuses what a binding does not name, with a sentence', async () => {
    const before = hosts.requests.length;
    for (const [how, words] of [
      ['-H "X-Other: $TOKEN"', 'TOKEN may not stand in the header X-Other'],
      ['-H "Authorization: Bearer $TOKEN" -H "Authorization: x"', '2 times'],
      ['-u "me:$TOKEN"', "as 'Bearer …'"],
      ['-d "{\\"t\\":\\"$TOKEN\\"}"', 'TOKEN may not stand in the body'],
      ['-H "Host: other.test" -H "Authorization: Bearer $TOKEN"', 'and to no other host'],
      [`-H 'Transfer-Encoding: chunked' -d "x$THE_KEY"`, 'KEY may not stand in the body'],
    ] as const) {
      const { out } = await curl('/a', `-w '\\n%{http_code}' ${how}`);
      expect([how, out]).toEqual([how, expect.stringContaining(words)]);
      expect(out.split('\n').at(-1)).toBe(words.includes('no other host') ? '421' : '403');
    }
    expect((await curl(`/${PLACEHOLDER}`)).out).toContain('may not stand in an address');
    expect((await curl(`/?other=${KEY_PLACEHOLDER}`)).out).toContain('may not stand in an address');
    // A body is on its way when its placeholder is seen; the others never leave.
    expect(hosts.requests.slice(before).filter(({ headers }) => JSON.stringify(headers).includes(VALUE))).toEqual([]);
    const refused = uses.filter(({ what }) => what === 'refused').map(({ secret }) => secret);
    expect(refused.toSorted()).toEqual(['KEY', 'KEY', 'TOKEN', 'TOKEN', 'TOKEN', 'TOKEN', 'TOKEN']);
    const sni = await run(`echo | openssl s_client -proxy 127.0.0.1:61080 -connect allowed.test:${hosts.https} -servername other.test 2>&1 | grep -c 'BEGIN CERT'`); // prettier-ignore
    expect(sni.out).toBe('0');
  });

  it('masks what the host says of the value', async () => {
    for (const kind of ['plain', 'gzip', 'br', 'twice', 'bytes', 'base64']) {
      const { out } = await curl(`/echo/${kind}`, '--compressed -H "Authorization: Bearer $TOKEN"');
      expect([kind, out.includes('[secret TOKEN]')]).toEqual([kind, true]);
      expect(Buffer.from(out, 'base64').toString('latin1') + out).not.toContain(VALUE);
    }
    const { out } = await curl('/echo/headers', '-i -H "Authorization: Bearer $TOKEN"');
    expect(out).not.toContain(VALUE);
    expect(out.match(/\[secret TOKEN\]/g)).toHaveLength(3);
    for (const kind of ['zstd', 'transfer', 'lying']) {
      const { out: said, exitCode } = await curl(`/echo/${kind}`, '-w "%{http_code}" -H "Authorization: Bearer $TOKEN"'); // prettier-ignore
      expect([kind, said.includes(VALUE)]).toEqual([kind, false]);
      expect(kind === 'lying' ? exitCode : said).toEqual(kind !== 'lying' ? expect.stringContaining('a coding that cannot be looked into') : expect.not.stringMatching(/^0$/)); // prettier-ignore
    }
    expect(uses).toContainEqual(expect.objectContaining({ secret: 'TOKEN', host: 'allowed.test', what: 'masked' }));
  });

  it('carries what is large, what comes bit by bit, and what has no body', async () => {
    const sum = (bytes: number) => createHash('sha256').update(Buffer.alloc(bytes, 'x')).digest('hex');
    const get = `curl -sS -m 20 -H "Authorization: Bearer $TOKEN" https://allowed.test:${hosts.https}`;
    expect((await run(`${get}/big | sha256sum`)).out).toContain(sum(3_000_000));
    expect((await run(`head -c 3000000 /dev/zero | ${get}/f -T -`)).out).toContain('/f 3000000');
    expect((await run(`${get}/big -I`)).out).toMatch(/content-length: 3000000/i);
    const event = await run(`exec 3< <(${get}/events -N); read -r line <&3; echo "$line"`);
    expect(event.out).toBe('data: one');
    expect((await run(`${get}/one ${get.split(' ').at(-1)}/two -w '%{num_connects}\n'`)).out.split('\n')[1]).toBe('1');
  });

  it('carries a web socket, whose frames keep their lengths', async () => {
    const script = `const headers = { Connection: 'Upgrade', Upgrade: process.argv[1], 'Sec-WebSocket-Extensions': 'permessage-deflate', Authorization: 'Bearer ' + process.env.TOKEN };
      const asking = require('https').request('https://allowed.test:${hosts.https}/socket', { headers }).end();
      asking.on('response', (answer) => { console.log(answer.statusCode); process.exit(); });
      asking.on('upgrade', (answer, socket, first) => {
        let said = first.toString('latin1');
        console.log(answer.headers['x-said'], answer.headers['x-extensions']);
        socket.write('sent ' + process.env.TOKEN);
        socket.on('data', (data) => { said += data.toString('latin1'); if (said.includes(process.env.TOKEN)) { console.log(said); process.exit(); } });
      });`;
    const { out, err } = await run(`node -e '${script.replaceAll("'", `'"'"'`)}' websocket`);
    expect([err, out.split('\n')]).toEqual([
      '',
      [`Bearer [secret TOKEN] undefined`, `it was Bearer ${'*'.repeat(VALUE.length)}.sent ${PLACEHOLDER}`],
    ]);
    expect((await run(`node -e '${script.replaceAll("'", `'"'"'`)}' other`)).out).toBe('501');
  });

  it('git clones and pushes with the placeholder where its token stands', async () => {
    const { out, err } = await run(`git clone -q https://x:$TOKEN@a.wild.test:${hosts.https}/lib there && cd there && cat a.txt .git/config
      head -c 3000000 /dev/urandom > big; git add big; git -c user.name=a -c user.email=a@b commit -qm big; git push -q origin HEAD:done`); // prettier-ignore
    expect(err).toBe('');
    expect(out).toContain('cloned');
    expect(out).toContain(PLACEHOLDER);
    expect(git(repository, 'log', '--format=%s', '-1', 'done').trim()).toBe('big');
  });

  slowIt(
    'npm, pip, wget, Python and Node take the placeholder where they take a token, and wait for a slow host',
    async () => {
      const [bearer, basic] = ['allowed.test', 'a.wild.test'].map((host) => `${host}:${hosts.https}`);
      const tools: Record<string, [needs: string, command: string, prints: string]> = {
        npm: [
          '/usr/bin/env',
          `npm view --registry https://${bearer}/ --//${bearer}/:_authToken=$TOKEN pad version`,
          '1.2.3',
        ],
        pip: ['/usr/bin/pip3', `pip3 index versions pad --index-url https://x:$TOKEN@${basic}/simple 2>/dev/null | head -1`, 'pad (1.2.3)'], // prettier-ignore
        netrc: ['/usr/bin/curl', `printf 'machine a.wild.test login me password %s\\n' "$TOKEN" > ~/.netrc; curl -sSn https://${basic}/login`, 'in'], // prettier-ignore
        late: ['/usr/bin/curl', `curl -sS -H "Authorization: Bearer $TOKEN" https://${bearer}/late`, 'late'],
        wget: ['/usr/bin/wget', `wget -qO- --header "Authorization: Bearer $TOKEN" https://${bearer}/login`, 'in'],
        urllib: ['/usr/bin/python3', `python3 -c "import os, urllib.request as u; print(u.urlopen(u.Request('https://${bearer}/login', headers={'Authorization': 'Bearer ' + os.environ['TOKEN']})).read().decode())"`, 'in'], // prettier-ignore
        fetch: ['/usr/bin/env', `node --input-type=module -e "const { TOKEN } = process.env; console.log(await (await fetch('https://${bearer}/login', { headers: { authorization: 'Bearer ' + TOKEN } })).text())"`, 'in'], // prettier-ignore
        https: ['/usr/bin/env', `node -e "require('https').get('https://${bearer}/login', { headers: { authorization: 'Bearer ' + process.env.TOKEN } }, (answer) => answer.pipe(process.stdout))"`, 'in'], // prettier-ignore
      };
      for (const [name, [needs, command, prints]] of Object.entries(tools)) {
        if (!existsSync(needs)) continue;
        const { out, err } = await run(command);
        expect([name, out.trim() || err]).toEqual([name, prints]);
      }
    },
    120_000,
  );

  it('gives no value to a host that cannot prove its name', async () => {
    const { out } = await run(`curl -sS -m 20 -H "Authorization: Bearer $TOKEN" https://untrusted.test:${portOf(untrusted)}/`); // prettier-ignore
    expect(out).toMatch(/untrusted.test cannot be reached: (SELF_SIGNED|UNABLE_TO)/);
    expect(given).toEqual([]);
  });

  it('takes another value with the next request, and none of one that waits for a person or is gone', async () => {
    change(secrets(VALUE, false));
    expect((await curl('/unapproved', '-i -H "Authorization: Bearer $TOKEN"')).out).toMatch(/HTTP\/1.1 403[^]*X-Millwright-Refused: secret_not_approved/i); // prettier-ignore
    expect([last()?.url, uses.at(-1)]).toEqual([expect.not.stringContaining('unapproved'), expect.objectContaining({ secret: 'TOKEN', what: 'refused' })]); // prettier-ignore
    change(secrets(NEXT));
    await curl('/a');
    expect(last()?.headers.authorization).toBe(`Bearer ${NEXT}`);
    change(secrets(null));
    const before = hosts.requests.length;
    expect((await curl('/a', '-w "%{http_code}" -H "Authorization: Bearer $TOKEN"')).out).toBe('The secret TOKEN is gone.\n403'); // prettier-ignore
    expect(hosts.requests).toHaveLength(before);
    change(secrets(VALUE));
  });

  it('masks on what it was before: an answer was on its way, or the host has kept it', async () => {
    const asked = curl('/held');
    const go = await until('the request', () => held.pop());
    change(secrets(NEXT));
    expect((await curl('/before', '')).out).toBe('[secret TOKEN]');
    go();
    expect((await asked).out).toBe('Bearer [secret TOKEN]');
    change(secrets(null));
    expect((await curl('/before', '')).out).toBe('[secret TOKEN]');
    // Turned round by the host, and back by the command.
    expect((await run(`echo ${[...VALUE].toReversed().join('')} | rev; echo ${[...NEXT].toReversed().join('')} | rev`)).out).toBe('[secret TOKEN]\n[secret TOKEN]'); // prettier-ignore
    change(secrets(VALUE));
  });

  it('shows nothing of it in a sandbox of another task', async () => {
    const other = await bench.open();
    const { stdout } = await other.session.run(
      `env | grep -c mwsec_; curl -sS -m 20 -H "Authorization: Bearer ${PLACEHOLDER}" https://allowed.test:${hosts.https}/a`,
      { network: true },
    );
    expect(stdout).toBe(`0\nGET allowed.test:${hosts.https} /a 0\n`);
    expect(last()?.headers.authorization).toBe(`Bearer ${PLACEHOLDER}`);
  });
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port;
}

describe('A secret at the way out of a sandbox', () => describeDrivers(opened));
