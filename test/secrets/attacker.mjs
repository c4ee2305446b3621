// Runs inside of a sandbox: makes the attempts of a file, some at once, and keeps what came back, a file for each.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as secure } from 'node:tls';

const [, , file, folder] = process.argv;
const attempts = JSON.parse(readFileSync(file, 'utf8'));
/** At once: a sandbox may have 64 connections. */
const [LANES, SHELLS] = [24, 3];
/** Milliseconds: for what an attempt has to show, and without a byte behind it, or where it has to show nothing. */
const [PATIENCE, QUIET] = [60_000, 3_000];
mkdirSync(folder, { recursive: true });

const numbered = attempts.map((attempt, n) => ({ ...attempt, n }));
await inLanes(
  LANES,
  numbered.filter(({ shell }) => shell === undefined),
  speak,
);
// Some of them stop others, and take the processor for themselves.
await inLanes(
  SHELLS,
  numbered.filter(({ shell }) => shell !== undefined),
  run,
);

function inLanes(lanes, all, make) {
  let next = 0;
  const lane = async () => {
    while (next < all.length) {
      const attempt = all[next++];
      writeFileSync(`${folder}/${attempt.n}`, await make(attempt));
    }
  };
  return Promise.all(Array.from({ length: lanes }, lane));
}

function run({ shell }) {
  return new Promise((done) =>
    execFile('bash', ['-c', shell], { encoding: 'buffer', maxBuffer: 1 << 28, timeout: 90_000 }, (_error, out, err) =>
      done(Buffer.concat([out, err])),
    ),
  );
}

function speak({ to, head, tls, send, turns = false, shows }) {
  const got = [];
  const shown = new RegExp(shows ?? '^[^]', 'i');
  const patience = () => (shown.test(Buffer.concat(got).toString('latin1')) ? QUIET : PATIENCE);
  return new Promise((done) => {
    const socket = connect(Number(new URL(process.env.https_proxy).port), '127.0.0.1');
    let timer = setTimeout(end, patience());
    let channel = socket;
    function end() {
      clearTimeout(timer);
      channel.destroy();
      socket.destroy();
      done(Buffer.concat(got));
    }
    const heard = (data) => {
      got.push(data);
      clearTimeout(timer);
      timer = setTimeout(end, patience());
    };
    const failed = (error) => {
      got.push(Buffer.from(`\n${error.message}\n`));
      end();
    };
    const write = async () => {
      for (const text of send) {
        channel.write(Buffer.from(text, 'latin1'));
        await new Promise((later) =>
          turns ? channel.once('data', () => setTimeout(later, 300)) : setTimeout(later, 5),
        );
      }
    };
    // What TLS has not yet handed over comes before its own end.
    socket.on('error', failed).once('close', () => channel === socket && end());
    if (to === null) return void write(socket.on('data', heard));
    socket.write(Buffer.from(head ?? `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`, 'latin1'));
    socket.once('data', (answer) => {
      heard(answer);
      if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) return void socket.on('data', heard);
      if (tls === null) return void write(socket.on('data', heard));
      const servername = tls?.name ?? to.slice(0, to.lastIndexOf(':'));
      const ALPNProtocols = tls?.alpn ?? ['http/1.1'];
      channel = secure({ socket, servername, ALPNProtocols, rejectUnauthorized: false });
      clearTimeout(timer);
      timer = setTimeout(end, patience());
      channel.on('data', heard).on('error', failed).once('close', end).once('secureConnect', write);
    });
  });
}
