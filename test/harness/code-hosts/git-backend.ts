import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** git-http-backend(1) as a CGI program, for somebody who may do what is asked. `after` is waited for before the answer goes. */
export async function serveGit(
  root: string,
  { pathname, search }: { pathname: string; search: string },
  request: IncomingMessage,
  response: ServerResponse,
  after: () => void | Promise<void>,
): Promise<void> {
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      REMOTE_USER: 'millwright',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  const printed = Buffer.concat(chunks);
  const end = printed.indexOf('\r\n\r\n');
  const headers = printed
    .subarray(0, end)
    .toString()
    .split('\r\n')
    .map((line) => line.split(': '));
  const status = headers.find(([name]) => name === 'Status')?.[1];
  await after();
  for (const [name, value] of headers) if (name && value && name !== 'Status') response.setHeader(name, value);
  response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10)).end(printed.subarray(end + 4));
}
