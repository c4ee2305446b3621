// Preloaded into a service (`node --import`): measures the longest span of its main thread's own CPU time between two turns of the
// event loop. CPU time and not the clock, because tests share the machine. Whoever connects to the socket SPAN_SOCKET gets the
// milliseconds of the longest one since the last connection.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const path = process.env.SPAN_SOCKET;
// The kernel names the main thread by the process; its first figure is nanoseconds on a processor.
const used = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6;

if (path !== undefined && isMainThread) {
  let last = used();
  let longest = 0;
  const look = () => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(look, 1).unref();
  createServer((socket) => {
    look();
    socket.end(String(longest));
    longest = 0;
  })
    .listen(path)
    .unref();
}
