// Preloaded into a service (`node --import`, by spans.ts): measures the longest span of its main thread's own CPU time between two
// turns of the event loop. CPU time and not the clock, because tests share the machine. A client of the socket SPAN_SOCKET gets
// the milliseconds of the longest one since the last client.
import { openSync, readSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { isMainThread } from 'node:worker_threads';

const path = process.env.SPAN_SOCKET;

if (path !== undefined && isMainThread) {
  // The kernel names the main thread by the process; its first figure is nanoseconds on a processor.
  const schedstat = openSync('/proc/self/schedstat', 'r');
  const bytes = Buffer.alloc(80);
  const used = () => Number(bytes.toString('latin1', 0, readSync(schedstat, bytes, 0, 80, 0)).split(' ', 1)[0]) / 1e6;
  let last = used();
  let longest = 0;
  const look = () => {
    const now = used();
    longest = Math.max(longest, now - last);
    last = now;
  };
  setInterval(look, 1).unref();
  // Left by a process before this one, if that was killed.
  rmSync(path, { force: true });
  createServer((socket) => {
    look();
    socket.end(String(longest));
    longest = 0;
  })
    .listen(path)
    .unref();
}
