import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import type { RateLimitPolicy } from '../../platform/http/endpoint.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { originOf } from '../../platform/http/origin.js';
import { downloadUrl } from '../../resources/files/file.view.js';
import { type Call, jsonOf } from './call.js';
import { decoded, MOST_WHOLE, readBytes } from './files.js';
import { EARLIER, REVISION } from '../../engine/agent/mcp/revisions.js';
import { invalidParams, type Message, RpcError } from './message.js';
import { ToolCalls } from './tool-calls.js';
import { ToolDefinitions } from './tool-definitions.js';
import { cancelTurn, getTurn, TASKS, updateTurn } from './turns.js';

export const SERVER = { name: 'millwright', title: 'Millwright', version: '1' };
const INSTRUCTIONS =
  'An AI engineer works on tasks in sandboxes of their own; one may take minutes. create_task with waitSeconds, then get_task with waitSeconds until the task ends; answer_task what it asks.';
/** What is the same for every caller, for an hour. */
const FRESH = { ttlMs: 3_600_000, cacheScope: 'private' };
const FILE = /^millwright:\/\/files\/([\w-]{1,100})$/;

/** Those of the operations behind methods that are no tools. */
const POLICIES = new Map<string, RateLimitPolicy>([
  ['resources/read', 'resource_read'],
  ['tasks/get', 'resource_read'],
  ['tasks/update', 'task_execution'],
  ['tasks/cancel', 'resource_write'],
]);

/** The methods of the protocol. */
@Injectable()
export class Methods {
  constructor(
    private readonly calls: ToolCalls,
    private readonly definitions: ToolDefinitions,
    private readonly env: Env,
  ) {}

  /** From which bucket a message is taken. */
  policyOf({ id, method, params }: Message): RateLimitPolicy {
    if (id === undefined) return 'metadata_read';
    const tool = method === 'tools/call' ? this.calls.find(params['name']) : undefined;
    if (tool !== undefined) return this.calls.routeOf(tool).contract.policy ?? 'metadata_read';
    return POLICIES.get(method) ?? 'metadata_read';
  }

  /** The name of the tool that a message calls, where there is such a one. */
  toolOf({ method, params }: Message): string | undefined {
    const name = params['name'] as string;
    return method === 'tools/call' && this.calls.find(name) !== undefined ? name : undefined;
  }

  /** The result of a method. Throws {@link RpcError}. */
  async run(call: Call): Promise<object> {
    const { method, params, modern } = call.message;
    const capabilities = { tools: {}, resources: {}, ...(modern && { extensions: { [TASKS]: {} } }) };
    const fresh = modern ? FRESH : {};
    switch (method) {
      case 'server/discover':
        if (!modern) break;
        return { supportedVersions: [REVISION, ...EARLIER], capabilities, instructions: INSTRUCTIONS, ...FRESH };
      case 'initialize': {
        if (modern) break;
        const asked = params['protocolVersion'];
        const protocolVersion = EARLIER.find((one) => one === asked) ?? EARLIER[0];
        return { protocolVersion, capabilities, serverInfo: SERVER, instructions: INSTRUCTIONS };
      }
      case 'ping':
        if (modern) break;
        return {};
      case 'tools/list':
        return { tools: this.definitions.all, ...fresh };
      case 'tools/call':
        return this.callTool(call, params['name']);
      case 'resources/list':
        return { resources: [], ...fresh };
      case 'resources/templates/list':
        return { resourceTemplates: [TEMPLATE], ...fresh };
      case 'resources/read':
        return { ...(await this.readResource(call, params)), ...fresh };
      case 'tasks/get':
        return getTurn(call);
      case 'tasks/update':
        return updateTurn(call);
      case 'tasks/cancel':
        return cancelTurn(call);
    }
    throw new RpcError(-32601, `There is no method ${method.slice(0, 100)} here.`, 404);
  }

  private callTool(call: Call, name: unknown): Promise<object> {
    const tool = this.calls.find(name);
    if (typeof name !== 'string') throw invalidParams('The name of a tool is text.');
    if (tool === undefined) throw invalidParams(`There is no tool ${name.slice(0, 100)}.`);
    return this.calls.run(call, name, tool);
  }

  private async readResource(call: Call, { uri }: JsonObject): Promise<object> {
    const [, id] = (typeof uri === 'string' && FILE.exec(uri)) || [];
    if (id === undefined) throw invalidParams('There is no such resource; files are millwright://files/{fileId}.');
    const read = await readBytes(call, `/v1/files/${id}/content`, 0, MOST_WHOLE);
    if ('status' in read) {
      const body = jsonOf(read) as { error: { message: string } };
      throw invalidParams(body.error.message, body);
    }
    const { bytes, type: mimeType, size } = read;
    if (size > MOST_WHOLE) {
      const url = downloadUrl(id, originOf(call.req, this.env));
      throw invalidParams(
        `The file has ${size} bytes, and a resource 1 MiB at most: use read_file, or download ${url}.`,
      );
    }
    const text = decoded(bytes, false)?.text;
    const content = text === undefined ? { blob: bytes.toString('base64') } : { text };
    return { contents: [{ uri, mimeType, ...content }] };
  }
}

const TEMPLATE = {
  uriTemplate: 'millwright://files/{fileId}',
  name: 'file',
  title: 'A file',
  description: 'Of a task or project.',
};
