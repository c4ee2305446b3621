// Inside of a sandbox: takes connections to its own loopback over to the socket that leads out. $1: port, $2: path of the socket.
// Nothing waits for more to send: two short writes of an answer took 40 ms, until the other side acknowledged the first one.
import { closeSync, openSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

const [port, path] = process.argv.slice(2);
const server = createServer({ allowHalfOpen: true, noDelay: true }, (inside) => {
  const outside = connect({ path, allowHalfOpen: true });
  pipeline(inside, outside, () => undefined);
  pipeline(outside, inside, () => undefined);
});
server.listen(Number(port), '127.0.0.1', () => {
  // What starts it waits for the end of its output. Something else takes the number at once: a connection that had it would never be closed (libuv).
  closeSync(1);
  openSync('/dev/null', 'w');
});
