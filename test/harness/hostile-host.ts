// What a host that is broken, or means harm, answers with.
import type { ServerResponse } from 'node:http';

export type Serve = (response: ServerResponse) => void;

export const text =
  (body: string | Buffer, type = 'application/json', status = 200, headers: Record<string, string> = {}): Serve =>
  (response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(body);
export const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  text(JSON.stringify(value), 'application/json; charset=utf-8', status, headers);

export function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(`${' '.repeat(65_535)}[`));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

export function cut(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('[{"full_name"', () => response.socket?.destroy());
}
