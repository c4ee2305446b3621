import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  headers: string;
  body: string;
}

/**
 * Sends lines of HTTP as they are, for what fetch would not send, and reads until the service closes the connection
 * (`Connection: close` and `Host` are added).
 * @param end half-closes after the body, whatever length was announced.
 * @param as the `Host`, where it is another one than that of the address.
 */
export async function rawRequest(
  url: string,
  lines: string[],
  body = '',
  end = false,
  as = new URL(url).host,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.on('error', reject);
    socket.write([...lines, `Host: ${as}`, 'Connection: close', '', body].join('\r\n'));
    if (end) socket.end();
  });
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), headers: head, body: rest.join('\r\n\r\n') };
}
