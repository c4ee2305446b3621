import { chmodSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The service's own end of the door of one session (reference §30). */
export interface Door {
  /** Ends its connections. Idempotent. */
  close(): void;
}

/**
 * A socket over which the thread of the way out hands on the requests of a sandbox, one for each connection. No sandbox sees it: only the user of the
 * service may connect. @param path of the socket, @param listens the same for the kernel, whose names are short.
 */
export async function openDoor(path: string, listens: string, take: (connection: Duplex) => void): Promise<Door> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    take(socket);
  });
  await new Promise<void>((done, failed) => server.once('error', failed).listen(listens, done));
  chmodSync(path, 0o600);
  return {
    close: () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    },
  };
}
