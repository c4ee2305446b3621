// Requests of a sandbox to the service itself: those that name no host (reference §30).
import { request } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { answer, withoutHops } from './http-messages.mjs';
import { Refusal } from './refusal.mjs';

/** Milliseconds between two requests of one sandbox: each costs the event loop of the service some time, and a sandbox asks for any number. */
const PAUSE_MS = 5;
/** Bytes of one request. */
const MOST_BYTES = 32 * 1024 ** 2;

/** The door of one sandbox. */
export class Door {
  #path;
  #next = 0;

  /** @param {string} path of the socket at which the service listens. */
  constructor(path) {
    this.#path = path;
  }

  /**
   * Hands a request on, and its answer back, both as they come. The service may think about it for as long as it likes.
   * @param {import('node:http').IncomingMessage} from @param {import('node:http').ServerResponse} to
   */
  async hand(from, to) {
    if (Number(from.headers['content-length'] ?? 0) > MOST_BYTES) return refuseLong(from, to);
    const now = performance.now();
    const at = Math.max(now, this.#next);
    this.#next = at + PAUSE_MS;
    if (at > now) await after(at - now);
    const { socket } = from;
    if (socket.destroyed) return;
    const patience = socket.timeout ?? 0;
    socket.setTimeout(0);
    const asking = request({
      socketPath: this.#path,
      method: from.method,
      path: from.url,
      // The service may answer before all is said. It would end a connection that it is not told to keep, and the answer would be lost with it.
      headers: ['Host', from.headers.host ?? 'localhost', 'Connection', 'keep-alive', ...withoutHops(from, ['host'])],
      agent: false,
    });
    to.once('close', () => {
      asking.destroy();
      socket.setTimeout(patience);
    });
    const failed = () => to.destroyed || answer(to, new Refusal(502, 'The service does not answer.'));
    asking.on('error', failed);
    asking.once('response', (said) => {
      to.writeHead(said.statusCode, said.statusMessage, withoutHops(said, []));
      // The beginning of a stream is something to wait for too.
      to.flushHeaders();
      said.once('error', () => to.destroy());
      said.pipe(to);
    });
    let bytes = 0;
    from.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) return;
      from.unpipe(asking);
      asking.removeListener('error', failed).on('error', () => undefined);
      asking.destroy();
      from.removeAllListeners('data');
      refuseLong(from, to);
    });
    from.pipe(asking);
  }
}

/** Many do not look for an answer before they have said all: they would find the connection closed, and none. */
function refuseLong(from, to) {
  from.once('end', () => answer(to, new Refusal(413, `A request may have ${MOST_BYTES} bytes here.`)));
  from.resume();
}
