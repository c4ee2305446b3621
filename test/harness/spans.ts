import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';

const WATCH = new URL('./span-watch.mjs', import.meta.url).href;

/** The environment of a service whose longest spans are asked for at a socket. `socket`: a path that is free for it. */
export function watchedSpans(socket: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${WATCH}`, SPAN_SOCKET: socket };
}

/** Milliseconds of the longest span of the service's main thread since this was last asked. Rejects when it has ended. */
export async function longestSpan(socket: string): Promise<number> {
  return Number(await text(createConnection(socket)));
}
