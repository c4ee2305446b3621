// Sends requests as they are, several at a time, over connections that are kept.
import { Agent, request } from 'node:http';
import { availableParallelism, loadavg } from 'node:os';
import type { Sent } from './request.js';

/**
 * A request that is not answered within this time hangs. Milliseconds. Where far more waits for the cores than they can
 * do, it is the machine that hangs.
 */
export const PATIENCE = Number(loadavg()[0]) > 4 * availableParallelism() ? 60_000 : 5_000;

export interface Got {
  status: number;
  headers: Headers;
  text: string;
  ms: number;
}

export class Transport {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(readonly url: string) {}

  close(): void {
    this.agent.destroy();
  }

  /** Rejects when there is no whole answer within {@link PATIENCE}, or the connection breaks before it. */
  send(sent: Sent): Promise<Got> {
    const began = performance.now();
    const { hostname, port, host } = new URL(this.url);
    const given = sent.headers.some(([name]) => name === 'Host') ? [] : [['Host', host]];
    const headers = [...given, ...sent.headers, ...length(sent)].flatMap(([name = '', value = '']) => [name, value]);
    return new Promise((resolve, reject) => {
      const options = { agent: this.agent, host: hostname, port, method: sent.method, path: sent.path };
      const asked = request({ ...options, headers: headers.map(asBytes) });
      const timer = setTimeout(() => asked.destroy(new Error(`No answer within ${PATIENCE} ms.`)), PATIENCE);
      asked.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('close', () => {
          clearTimeout(timer);
          if (!response.complete) reject(new Error('The answer broke off.'));
          const text = Buffer.concat(chunks).toString('utf8');
          const pairs = headersOf(response.rawHeaders);
          resolve({ status: response.statusCode ?? 0, headers: pairs, text, ms: performance.now() - began });
        });
      });
      asked.on('error', (error) => {
        clearTimeout(timer);
        reject(new Error(`No answer after ${Math.round(performance.now() - began)} ms: ${error.message}`));
      });
      asked.end(sent.body);
    });
  }
}

function length({ method, body }: Sent): [string, string][] {
  if (body !== null) return [['Content-Length', String(body.length)]];
  return ['POST', 'PUT', 'PATCH'].includes(method) ? [['Content-Length', '0']] : [];
}

/** Node sends header values as Latin 1; what is no Latin 1 goes as UTF-8, as browsers send it. */
function asBytes(text: string): string {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : Buffer.from(text).toString('latin1').replace(/[^\t\x20-\x7e\x80-\xff]/g, '?'); // prettier-ignore
}

function headersOf(raw: string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '');
  return headers;
}
