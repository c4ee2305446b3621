import { type Answer, Client } from './client.js';

export const REVISION = '2026-07-28';

export interface ToolResult<T = Record<string, unknown>> {
  content: { type: string; text?: string; data?: string; mimeType?: string; uri?: string }[];
  structuredContent: T;
  isError?: true;
  resultType?: string;
}
export interface RpcAnswer<R = Record<string, unknown>> {
  jsonrpc: '2.0';
  id: string | number | null;
  result: R;
  error: { code: number; message: string; data?: Record<string, unknown> };
}
type Json = Record<string, unknown>;

/** Speaks to `POST /mcp` by hand, in the older revisions unless it is told otherwise. */
export class McpClient {
  private readonly client: Client;

  constructor(url: string, key: string | null) {
    this.client = new Client(url, key);
  }

  /** Sends what may be no message at all. */
  send<R = Json>(body: unknown, headers: Record<string, string> = {}): Promise<Answer<RpcAnswer<R>>> {
    return this.client.request('POST', '/mcp', { json: body, headers });
  }

  ask<R = Json>(method: string, params?: Json, headers?: Record<string, string>): Promise<Answer<RpcAnswer<R>>> {
    return this.send({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }, headers);
  }

  /** In the revision that says all with each request. */
  askModern<R = Json>(method: string, params: Json = {}, capabilities: Json = {}): Promise<Answer<RpcAnswer<R>>> {
    const name = params['name'] ?? params['uri'] ?? params['taskId'];
    const headers = {
      'MCP-Protocol-Version': REVISION,
      'Mcp-Method': method,
      ...(typeof name === 'string' && { 'Mcp-Name': name }),
    };
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    };
    return this.ask<R>(method, { ...params, _meta }, headers);
  }

  call<T = Json>(name: string, args?: Json): Promise<Answer<RpcAnswer<ToolResult<T>>>> {
    return this.ask('tools/call', { name, ...(args && { arguments: args }) }, { 'MCP-Protocol-Version': '2025-11-25' });
  }

  /** The JSON of a call that must succeed. */
  async done<T = Json>(name: string, args?: Json): Promise<T> {
    const { status, text, body } = await this.call<T>(name, args);
    if (status !== 200 || body.result?.isError !== undefined) throw new Error(`${name}: ${status} ${text}`);
    return body.result.structuredContent;
  }
}
