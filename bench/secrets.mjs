// What it costs that a connection is opened for a secret: node bench/secrets.mjs, after `npm run build`. The same requests go to the host directly (the
// floor), through a tunnel of the proxy, and through a connection that it opens. The three take turns; all is on this machine.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as secure } from 'node:tls';
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { Authority } from '../dist/engine/sandbox/network/authority.mjs';
import { NetworkProxy } from '../dist/engine/sandbox/network/network-proxy.js';
import { Env, readEnv } from '../dist/platform/config/env.js';
import { Metrics } from '../dist/platform/metrics/metrics.js';

const [ROUNDS, REQUESTS, MEGABYTES] = [3, 200, 100];
const HOST = '127.0.0.1';
const PLACEHOLDER = `mwsec_${'aB3'.repeat(8)}`;
Logger.overrideLogger(false);
const base = mkdtempSync(join(tmpdir(), 'bench-secrets-'));

const authority = new Authority('bench/secrets.mjs');
const block = Buffer.alloc(1 << 20, 'x');
const server = createServer(authority.host(HOST), async ({ url }, response) => {
  if (url !== '/large') return void response.end('seen\n');
  response.writeHead(200, { 'Content-Length': MEGABYTES * block.length });
  for (let n = 0; n < MEGABYTES; n++) {
    if (!response.write(block)) await new Promise((drained) => response.once('drain', drained));
  }
  response.end();
});
await new Promise((listening) => server.listen(0, HOST, listening));
const { port } = server.address();

const sandbox = { network: 'allow', allowHosts: [`${HOST}:${port}`], allowNetworks: ['127.0.0.0/8'] };
const proxy = new NetworkProxy(new Env(readEnv({ NODE_ENV: 'test' }).variables, { sandbox }, new Map()), new Metrics());
const authorities = [new X509Certificate(authority.certificate)];
const place = { header: 'Authorization', form: 'bearer', user: null };
const bindings = [{ host: HOST, port, methods: null, paths: null, place }];
const all = [{ name: 'TOKEN', env: 'TOKEN', placeholder: PLACEHOLDER, value: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', approved: true, bindings }]; // prettier-ignore
const secrets = { all, onUse: () => undefined, listen: () => () => undefined };
const way = { taskId: 'bench', user: null, hosts: sandbox.allowHosts, bound: false, authorities };
const nothing = { onUse: () => undefined, onRefusal: () => undefined };
const open = (secrets) => proxy.open(base, { ...way, ...nothing, secrets });

/** A connection with TLS, by a socket of the proxy; directly without one. */
async function connection(way) {
  const socket = way === null ? connect(port, HOST) : connect(way.path);
  socket.setNoDelay();
  if (way !== null) {
    socket.write(`CONNECT ${HOST}:${port} HTTP/1.1\r\nHost: ${HOST}:${port}\r\n\r\n`);
    await new Promise((answered) => socket.once('data', answered));
  }
  const channel = secure({ socket, rejectUnauthorized: false });
  await new Promise((ready) => channel.once('secureConnect', ready));
  return channel;
}

/** One request over the connection of the agent; resolves with its bytes. */
function ask(agent, path) {
  const headers = { Host: `${HOST}:${port}`, Authorization: `Bearer ${PLACEHOLDER}` };
  return new Promise((done, failed) => {
    let bytes = 0;
    const asking = request({ path, headers, agent }, (answer) => {
      answer.on('data', (data) => (bytes += data.length)).once('end', () => done(bytes));
    });
    asking.once('error', failed).end();
  });
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
const ways = { directly: null, 'by a tunnel': await open(undefined), opened: await open(secrets) };
const figures = Object.fromEntries(Object.keys(ways).map((name) => [name, { times: [], rates: [] }]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, way] of Object.entries(ways)) {
    const channel = await connection(way);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => channel;
    for (let n = 0; n < REQUESTS; n++) {
      const began = performance.now();
      await ask(agent, '/small');
      figures[name].times.push(performance.now() - began);
    }
    const began = performance.now();
    const bytes = await ask(agent, '/large');
    figures[name].rates.push(bytes / 1e6 / ((performance.now() - began) / 1000));
    agent.destroy();
    channel.destroy();
  }
}
const made = Array.from({ length: 50 }, () => {
  const began = performance.now();
  new Authority('one more').host(HOST);
  return performance.now() - began;
});

const tunnel = median(figures['by a tunnel'].times);
for (const [name, { times, rates }] of Object.entries(figures))
  console.log(
    `${name.padEnd(12)} request p50 ${median(times).toFixed(2)} ms, download ${median(rates).toFixed(0)} MB/s`,
  );
console.log(
  `opened adds  ${(median(figures.opened.times) - tunnel).toFixed(2)} ms to a request by a tunnel (asked: at most 3)`,
);
console.log(`authority    ${median(made).toFixed(2)} ms, with the certificate of a host (asked: at most 2)`);
for (const way of Object.values(ways)) await way?.close();
await proxy.onApplicationShutdown();
server.closeAllConnections();
server.close();
rmSync(base, { recursive: true });
