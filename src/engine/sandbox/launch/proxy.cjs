// Loaded before every program of Node in a sandbox that has a network: fetch, http and https go through the proxy that https_proxy
// names. Node does so by itself from 22.21 and 24.5 on, told by NODE_USE_ENV_PROXY.
'use strict';
const { https_proxy: named = '', no_proxy: direct = '' } = process.env;
if (URL.canParse(named) && !process.allowedNodeEnvironmentFlags.has('--use-env-proxy')) throughProxy(new URL(named));

function throughProxy(proxy) {
  const http = require('node:http');
  const https = require('node:https');
  const tls = require('node:tls');
  const near = new Set(direct.split(','));
  const isNear = (host) => near.has(host.replace(/^\[|\]$/g, ''));
  const ask = http.request;
  // Its own way to the proxy, which is near.
  const own = new http.Agent();

  /** A connection to a host, handed to `done(error, socket)`. */
  function tunnel(host, port, done) {
    const place = `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
    const asking = ask({ method: 'CONNECT', host: proxy.hostname, port: proxy.port, path: place, agent: own });
    asking.once('connect', (answer, socket, head) => {
      if (answer.statusCode === 200) return done(null, socket);
      // The proxy says in words why.
      let text = String(head);
      socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      socket.once('close', () => done(new Error(`The proxy answered ${answer.statusCode}. ${text.trim()}`)));
      socket.end();
    });
    asking.once('error', done).end();
  }

  const plain = http.Agent.prototype.createConnection;
  const secure = https.Agent.prototype.createConnection;
  http.Agent.prototype.createConnection = function createConnection(options, done) {
    const { host = 'localhost', port, socketPath, path } = options;
    if (this === own || socketPath || (path && !port) || isNear(host)) return plain.call(this, options, done);
    tunnel(host, port, done);
  };
  https.Agent.prototype.createConnection = function createConnection(options, done) {
    const { host = 'localhost', port, socketPath } = options;
    if (socketPath || isNear(host)) return secure.call(this, options, done);
    tunnel(host, port, (error, socket) =>
      error ? done(error) : done(null, secure.call(this, { ...options, socket })),
    );
  };

  // undici, which is fetch, is loaded by the first use of it, and is reached by this symbol alone.
  const symbol = Symbol.for('undici.globalDispatcher.1');
  const { fetch } = globalThis;
  let ready = false;
  globalThis.fetch = function (input, init) {
    if (!ready) prepare();
    return fetch(input, init);
  };
  Object.defineProperty(globalThis.fetch, 'name', { value: 'fetch' });

  function prepare() {
    ready = true;
    void globalThis.Response;
    const Agent = globalThis[symbol]?.constructor;
    // What a program has set itself it keeps.
    if (Agent?.name !== 'Agent') return;
    globalThis[symbol] = new Agent({
      connect({ hostname, port, protocol, servername }, done) {
        const over = (error, socket) => {
          if (error) return done(error);
          if (protocol !== 'https:') return done(null, socket);
          const name = servername || hostname;
          const outside = tls.connect({
            socket,
            ...(require('node:net').isIP(name) ? {} : { servername: name }),
            host: hostname,
            ALPNProtocols: ['http/1.1'],
          });
          outside.once('secureConnect', () => done(null, outside)).once('error', done);
        };
        const number = port || (protocol === 'https:' ? 443 : 80);
        if (!isNear(hostname)) return tunnel(hostname, number, over);
        const socket = require('node:net').connect(number, hostname.replace(/^\[|\]$/g, ''));
        socket.once('connect', () => over(null, socket)).once('error', done);
      },
    });
  }
}
