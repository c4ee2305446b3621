import type { Duplex } from 'node:stream';

/** What of the driver's client is used here and not in its types. */
export interface Connected {
  connection: { stream: Duplex };
}

/** Calls `send`, and lets what it sends on the connection go out in one write. */
export function corked<T>({ connection: { stream } }: Connected, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
