import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands before a Redis and loses a share of the signals, while their sender is told that all is well. */
export interface LossyRelay {
  url: string;
  passed: number;
  dropped: number;
  close(): Promise<void>;
}

/**
 * @param share of the signals that are lost, 0 to 1.
 * @param random numbers from 0 to 1.
 */
export async function lossyRelay(target: string, share: number, random: () => number): Promise<LossyRelay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const relay: LossyRelay = { url: '', passed: 0, dropped: 0, close };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => (sockets.delete(socket), client.destroy(), upstream.destroy()));
    }
    upstream.pipe(client);
    let rest: Buffer = Buffer.alloc(0);
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = commandEnd(rest); end > 0; end = commandEnd(rest)) {
        upstream.write(thinned(rest.subarray(0, end)));
        rest = rest.subarray(end);
      }
    });
  });

  /** A signal that is to be lost becomes a command that does nothing: it is answered in its turn, like any other. */
  function thinned(command: Buffer): Buffer {
    if (!command.includes('{"kind":"')) return command;
    if (random() >= share) {
      relay.passed++;
      return command;
    }
    relay.dropped++;
    return Buffer.from('*2\r\n$4\r\nECHO\r\n$4\r\nlost\r\n');
  }

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  relay.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return relay;
}

/** Where the first command ends, in Redis' protocol: `*2`, then `$4`, 4 bytes, `$7`, 7 bytes. 0 while it is not whole. */
function commandEnd(buffer: Buffer): number {
  const line = (from: number): [count: number, next: number] => {
    const end = buffer.indexOf('\r\n', from);
    return end < 0 ? [0, 0] : [Number(buffer.subarray(from + 1, end).toString()), end + 2];
  };
  let [words, at] = line(0);
  for (; words > 0; words--) {
    const [length, next] = line(at);
    at = next + length + 2;
    if (next === 0 || at > buffer.length) return 0;
  }
  return at;
}
