import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { namesOn } from '../../../../test/harness/names.js';
import { describeDrivers, type DriverName, type Opened, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import { WebHosts } from '../../../../test/harness/web-hosts.js';
import { PROXY_PORT } from './inside.js';

const URL_INSIDE = `http://127.0.0.1:${PROXY_PORT}`;
const CURL = 'curl -sS -m 60';

/** What the service has behind the door of one session. */
class Behind {
  readonly asked: string[] = [];
  /** Requests that are under way. */
  open = 0;
  readonly connections: Duplex[] = [];
  readonly take = (connection: Duplex) => {
    this.connections.push(connection);
    this.server.emit('connection', connection);
  };
  private readonly server;

  constructor(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void) {
    this.server = createServer((request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      this.open += 1;
      response.once('close', () => (this.open -= 1));
      void answer(request, response);
    });
  }
}

/** Says what it was asked. */
const echo = async (request: IncomingMessage, response: ServerResponse) => {
  const body = await text(request);
  response.end(`${request.method} ${request.url} ${String(request.headers['x-of'] ?? '-')} ${body}.\n`);
};

function door(driver: DriverName): void {
  let bench: SandboxBench;
  let hosts: WebHosts;
  const opened: Opened[] = [];
  beforeAll(async () => {
    Logger.overrideLogger(['fatal']);
    hosts = await WebHosts.start();
    const allowHosts = [`allowed.test:${hosts.http}`];
    bench = new SandboxBench(driver, { network: 'allow', allowHosts, allowNetworks: ['127.0.0.0/8'] });
    bench.proxy.egress = namesOn({ 'allowed.test': ['127.0.0.1'] });
  });
  afterEach(async () => {
    for (const { session } of opened.splice(0)) await session.close();
  });
  afterAll(async () => {
    await bench.close();
    await hosts.stop();
    Logger.overrideLogger(false);
  });
  const open = async (network: boolean, behind: Behind | null) => {
    const one = await bench.open(undefined, network, undefined, behind?.take);
    opened.push(one);
    const run = async (command: string, options: object = { network: true }) => {
      const { stdout, stderr, exitCode } = await one.session.run(command, { timeoutSeconds: 120, ...options });
      return { out: stdout.trim(), err: stderr.trim(), exitCode };
    };
    return { ...one, run };
  };
  /** The answer to these words, in one line. */
  const words = (...lines: string[]) =>
    `(exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT}; printf '${lines.map((line) => `${line}\\r\\n`).join('')}\\r\\n' >&3; cat <&3) | tr -d '\\r\\n'; echo`;
  const sockets = () => {
    const folder = readdirSync(bench.dataDir.path).find((name) => name.startsWith('network.'));
    return folder === undefined ? [] : readdirSync(join(bench.dataDir.path, folder));
  };

  describe.each([
    ['without a network', false],
    ['with a network', true],
  ])('%s', (_, network) => {
    it('answers curl and node, in boxes of their own, in the one that commands share, and programs', async () => {
      const behind = new Behind(echo);
      const { run } = await open(network, behind);
      const node = `node -e "fetch('${URL_INSIDE}/v1/b', {method: 'POST', body: 'of node'}).then(async (said) => process.stdout.write(await said.text()))"`;
      const all = `${CURL} -H 'X-Of: curl' -d 'of curl' ${URL_INSIDE}/v1/a?x=1; ${CURL} ${URL_INSIDE}/v1/models; ${node}`;
      for (const options of [
        { network: true },
        { shared: true },
        { network: true, program: { memoryBytes: 2 * 1024 ** 3 } },
      ]) {
        const { out, err } = await run(all, options);
        expect({ out: out.split('\n'), err }).toEqual({
          out: ['POST /v1/a?x=1 curl of curl.', 'GET /v1/models - .', 'POST /v1/b - of node.'],
          err: '',
        });
      }
      expect(behind.asked).toHaveLength(9);
    });

    it('is not there for a command that does not ask for the network', async () => {
      const behind = new Behind(echo);
      const { run } = await open(network, behind);
      expect(await run(`${CURL} ${URL_INSIDE}/v1/models`, {})).toMatchObject({ exitCode: 7 });
      expect(behind.asked).toEqual([]);
    });

    it('takes 8 MiB, and answers as many', async () => {
      const bytes = Buffer.alloc(8 * 1024 ** 2, 'of the answer');
      let sum = '';
      const behind = new Behind(async (request, response) => {
        const hash = createHash('sha256');
        for await (const chunk of request) hash.update(chunk as Buffer);
        sum = hash.digest('hex');
        response.end(bytes);
      });
      const { run } = await open(network, behind);
      const { out } = await run(
        `head -c ${8 * 1024 ** 2} /dev/urandom >body; ${CURL} --data-binary @body ${URL_INSIDE}/v1/responses | sha256sum; sha256sum <body`,
      );
      const [answered, sent] = out.split('\n').map((line) => line.split(' ')[0]);
      expect(answered).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect(sent).toBe(sum);
    });

    it('hands on an answer as it comes', async () => {
      const read: string[] = [];
      const behind = new Behind(async (request, response) => {
        if (request.url === '/read') {
          read.push(await text(request));
          return void response.end();
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // The head alone has to come too.
        response.flushHeaders();
        await until('the head to be read', () => read.includes('200'));
        for (const piece of ['one', 'two', 'three']) {
          response.write(`${piece}\n`);
          await until(`${piece} to be read`, () => read.includes(piece));
        }
        response.end();
      });
      const { run } = await open(network, behind);
      const program = `const post = (path, body) => fetch('${URL_INSIDE}' + path, { method: 'POST', body });
        post('/v1/responses', 'x').then(async (said) => {
          await post('/read', String(said.status));
          for await (const chunk of said.body) await post('/read', Buffer.from(chunk).toString().trim());
        })`;
      expect(await run(`node -e "${program}"`)).toMatchObject({ exitCode: 0 });
      expect(read).toEqual(['200', 'one', 'two', 'three']);
    });
  });

  it('leads nowhere else from a task without a network, whose commands are told of no proxy', async () => {
    const behind = new Behind(echo);
    const { run, session } = await open(false, behind);
    const before = hosts.requests.length;
    const { out } = await run(`env | grep -ci proxy
      ${words(`CONNECT allowed.test:${hosts.http} HTTP/1.1`)}
      ${words(`GET http://allowed.test:${hosts.http}/ HTTP/1.1`, 'Host: x', 'Connection: close')}
      ${words(`GET http://127.0.0.1:${PROXY_PORT}/v1/models HTTP/1.1`, 'Host: x', 'Connection: close')}`);
    const [variables, ...answers] = out.split('\n');
    expect(variables).toBe('0');
    expect(answers).toHaveLength(3);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 403 .*There is no network here/);
    expect(hosts.requests.length).toBe(before);
    expect(behind.asked).toEqual([]);
    expect(session.network).toBeNull();
  });

  it('stands beside the proxy of a task with a network, on one connection too', async () => {
    const { run, session } = await open(true, new Behind(echo));
    const page = `http://allowed.test:${hosts.http}/page`;
    const both = `const socket = require('net').connect(${PROXY_PORT}, '127.0.0.1');
      const ask = (url, more) => socket.write('GET ' + url + ' HTTP/1.1\\r\\nHost: x\\r\\n' + more + '\\r\\n');
      ask('/v1/b', '');
      socket.once('data', () => ask('${page}', 'Connection: close\\r\\n')).pipe(process.stdout);`;
    const { out } = await run(`${CURL} ${page}; ${CURL} -d 1 ${URL_INSIDE}/v1/a
      ${CURL} -p -x ${URL_INSIDE} ${page}
      node -e "${both}" | grep GET`);
    const proxied = `GET allowed.test:${hosts.http} /page 0`;
    expect(out.split('\n')).toEqual([proxied, 'POST /v1/a - 1.', proxied, 'GET /v1/b - .', proxied]);
    expect(session.network).toMatchObject({ refused: [] });
  });

  it('is nothing without one: nobody listens, or the proxy alone', async () => {
    const without = await open(false, null);
    expect(await without.run(`${CURL} ${URL_INSIDE}/v1/models`)).toMatchObject({ exitCode: 7 });
    const proxied = await open(true, null);
    expect((await proxied.run(`${CURL} ${URL_INSIDE}/v1/models`)).out).toContain('This is a proxy for HTTP');
  });

  it('is of one task: no other reaches it, by any name', async () => {
    const [mine, theirs] = [new Behind(echo), new Behind(echo)];
    const [first, second] = [await open(false, mine), await open(false, theirs)];
    await Promise.all([first.run(`${CURL} ${URL_INSIDE}/mine`), second.run(`${CURL} ${URL_INSIDE}/theirs`)]);
    expect([mine.asked, theirs.asked]).toEqual([['GET /mine'], ['GET /theirs']]);
    const { out } = await first.run(
      'ls /opt/millwright; for file in /opt/millwright/*; do test -S $file && echo $file; done',
    );
    expect(out).not.toContain('door');
    expect(out.split('\n').filter((line) => line.startsWith('/'))).toEqual(['/opt/millwright/network']);
  });

  it('is closed with the session: what is open ends, and nothing is left', async () => {
    const before = sockets();
    const behind = new Behind((request) => void request.resume());
    const { session } = await open(true, behind);
    const asking = session.run(`${CURL} -d x ${URL_INSIDE}/v1/responses`, { network: true, timeoutSeconds: 120 });
    const ended = expect(asking).rejects.toThrow('closed');
    await until('the request', () => behind.asked.length === 1);
    expect(sockets()).toHaveLength(before.length + 2);
    const [connection] = behind.connections;
    const closed = connection && once(connection, 'close');
    await session.close();
    await Promise.all([ended, closed]);
    await until('nothing to be open', () => behind.open === 0);
    expect(sockets()).toEqual(before);
  });

  it('is there again for the next command, when what leads to it has ended by a defect', async () => {
    const before = sockets();
    const behind = new Behind((request, response) => {
      request.resume();
      if (request.url !== '/open') response.end('answered');
    });
    const { run } = await open(false, behind);
    const asking = run(`${CURL} -d x ${URL_INSIDE}/open`);
    await until('the request', () => behind.open === 1);
    await (Reflect.get(bench.proxy, 'thread') as Worker).terminate();
    expect(await asking).not.toMatchObject({ exitCode: 0 });
    await until('its end', () => behind.open === 0);
    expect(sockets()).toEqual(before);
    expect((await run(`${CURL} ${URL_INSIDE}/again`)).out).toBe('answered');
  });

  it('is told when somebody inside does not wait for the answer', async () => {
    const behind = new Behind((request) => void request.resume());
    const { session } = await open(false, behind);
    const running = await session.start(`${CURL} -d x ${URL_INSIDE}/v1/responses`, { shared: true });
    await until('the request', () => behind.open === 1);
    running.stop();
    await until('its end', () => behind.open === 0);
  });

  it('refuses a request of more than 32 MiB, whether it says so or not, and serves the next one', async () => {
    const sizes: number[] = [];
    const behind = new Behind(async (request, response) => {
      let bytes = 0;
      try {
        for await (const chunk of request) bytes += (chunk as Buffer).length;
        response.end('taken\n');
      } catch {
        // It was broken off.
      }
      sizes.push(bytes);
    });
    const { run } = await open(false, behind);
    const send = (size: number, how: string) =>
      `head -c ${size} /dev/zero | ${CURL} -o /dev/null -w '%{http_code}\\n' -H 'Expect:' ${how} --data-binary @- ${URL_INSIDE}/v1/responses`;
    const { out } = await run(
      `${send(33_554_433, '')}; ${send(40_000_000, "-H 'Transfer-Encoding: chunked'")}; ${send(33_554_432, '')}`,
    );
    expect(out.split('\n')).toEqual(['413', '413', '200']);
    expect(sizes.every((size) => size <= 33_554_432)).toBe(true);
    expect(sizes).toContain(33_554_432);
  });
}

describe('The door of a sandbox (reference §30)', () => {
  describeDrivers(door);

  it('is not to be had where nothing keeps a task apart', async () => {
    const bench = new SandboxBench('none');
    await expect(bench.open(undefined, false, undefined, () => undefined)).rejects.toThrow(
      'Engines work in a sandbox alone',
    );
    await bench.close();
  });
});
