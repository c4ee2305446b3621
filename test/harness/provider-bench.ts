// A real HTTP server in the place of a provider of models: keeps what it is sent, and answers what a test says, by default 400.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AiSdkProvider } from '../../src/engine/models/ai-sdk/ai-sdk-provider.js';
import type { ConversationMessage } from '../../src/engine/models/conversation.js';
import type { Effort, ModelRequest } from '../../src/engine/models/model-provider.js';
import { readEnv } from '../../src/platform/config/env.js';
import { user } from './agent.js';

export interface SentRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

const TOOLS = [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object', properties: {} } }];

export class ProviderBench {
  readonly requests: SentRequest[] = [];
  /** The status and the body of the next answers; bytes are an event stream of AWS. */
  readonly answers: [number, string | Buffer][] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'provider-'));

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ProviderBench> {
    const server = createServer();
    const bench = new ProviderBench(server);
    server.on('request', (request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>;
        bench.requests.push({ path: request.url ?? '', headers: request.headers, body });
        const [status, answer] = bench.answers.shift() ?? [400, '{}'];
        const type = typeof answer === 'string' ? 'application/json' : 'application/vnd.amazon.eventstream';
        response.writeHead(status, { 'content-type': type }).end(answer);
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return bench;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
    rmSync(this.folder, { recursive: true });
  }

  /** The provider of one model, `m`, at the server. With the variable `KEY` that is its key. */
  providerOf(provider: string, model: string, variables: Record<string, string> = { KEY: 'k' }): AiSdkProvider {
    const baseUrl = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    const path = join(this.folder, 'config.json');
    const key = 'KEY' in variables ? { apiKeyEnv: 'KEY' } : {};
    writeFileSync(path, JSON.stringify({ models: [{ id: 'm', provider, model, baseUrl, ...key }] }));
    return new AiSdkProvider(readEnv({ CONFIG_FILE: path, ...variables }));
  }

  /** What the provider is sent; the answer is an error. */
  async sent(
    provider: AiSdkProvider,
    effort: Effort | null,
    messages = [user('Go')],
    more: Partial<Pick<ModelRequest, 'files' | 'tools'>> = {},
  ): Promise<SentRequest> {
    const read = async () => {
      for await (const _ of provider.stream({ ...requestOf(effort, messages), ...more }));
    };
    await expect(read()).rejects.toThrow();
    const last = this.requests.at(-1);
    if (last === undefined) throw new Error('Nothing was sent.');
    return last;
  }
}

export function requestOf(effort: Effort | null, messages: ConversationMessage[]): ModelRequest {
  const { signal } = new AbortController();
  return { modelId: 'm', effort, system: 'System.', messages, tools: TOOLS, cacheKey: 'task-1', signal };
}

export const AWS = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' };
