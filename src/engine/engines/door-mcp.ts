// The MCP server that a program finds at the door (reference §30): streamable HTTP without sessions, revisions 2026-07-28 and 2025-11-25 to
// 2025-03-26. One message in, one answer out; a program that asks has come through the sandbox's own socket and needs no key.
import { EARLIER, REVISION } from '../agent/mcp/revisions.js';
import type { ToolDefinition } from '../models/model-provider.js';
import { type Fields, fields, isFields, text } from './wires/fields.js';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const SERVER = { name: 'millwright', title: 'Millwright', version: '1' };
/** Definitions are the same for as long as the program runs. */
const FRESH = { ttlMs: 3_600_000, cacheScope: 'private' };

export interface DoorTool extends ToolDefinition {
  /** It changes nothing. */
  readOnly: boolean;
}

export interface DoorResult {
  text: string;
  isError: boolean;
  /** `data` is base64. */
  images?: readonly { data: string; mediaType: string }[];
}

/** What is offered to one program. */
export interface DoorTools {
  readonly tools: readonly DoorTool[];
  /**
   * Called for a tool of the list. `args` are not checked. `meta`: what the client says beside them; Claude Code names the model's call
   * there. What it throws ends the request without an answer: whatever the program must know is a result.
   */
  call(name: string, args: Fields, about: { meta: Fields; signal: AbortSignal }): Promise<DoorResult>;
}

export interface McpAnswer {
  status: number;
  /** JSON; null: there is no body. */
  body: Fields | null;
}

class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status = 200,
    readonly data?: Fields,
  ) {
    super(message);
  }
}

/** The answer to one POST. `body`: as parsed from JSON; `revision`: the header `MCP-Protocol-Version`. */
export async function answerMcp(
  offered: DoorTools,
  { body, revision }: { body: unknown; revision: string | undefined },
  signal: AbortSignal,
): Promise<McpAnswer> {
  const { id: given, method, params } = fields(body);
  const id = typeof given === 'string' || Number.isSafeInteger(given) ? given : null;
  try {
    checkForm(body, id);
    // A notification, or an answer to a question that is not asked here.
    if (!('id' in fields(body)) || method === undefined) return { status: 202, body: null };
    const meta = fields(fields(params)['_meta']);
    const isModern = meta[VERSION] !== undefined || revision === REVISION;
    checkRevision(isModern ? (meta[VERSION] ?? revision) : revision, isModern);
    const result = await resultOf(offered, { method: text(method), params: fields(params), meta, isModern }, signal);
    const about = { resultType: 'complete', ...result, _meta: { 'io.modelcontextprotocol/serverInfo': SERVER } };
    return { status: 200, body: { jsonrpc: '2.0', id, result: isModern ? about : result } };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, status, data } = error;
    const told = data === undefined ? {} : { data };
    return { status, body: { jsonrpc: '2.0', id, error: { code, message, ...told } } };
  }
}

function checkForm(body: unknown, id: unknown): void {
  const { jsonrpc, method, params, result, error } = fields(body);
  const isAnswer = result !== undefined || error !== undefined;
  const isRequest = typeof method === 'string' && (params === undefined || isFields(params));
  const hasId = id !== null || !('id' in fields(body));
  if (jsonrpc === '2.0' && hasId && (isRequest || isAnswer)) return;
  throw new RpcError(-32600, 'One request of JSON-RPC 2.0 is expected.', 400);
}

function checkRevision(said: unknown, isModern: boolean): void {
  const known = isModern ? [REVISION] : EARLIER;
  if (said === undefined || known.includes(said as string)) return;
  const data = { supported: [REVISION, ...EARLIER], requested: said };
  throw new RpcError(-32022, 'This revision of the protocol is not spoken here.', 400, data);
}

interface Asked {
  method: string;
  params: Fields;
  meta: Fields;
  isModern: boolean;
}

async function resultOf(offered: DoorTools, asked: Asked, signal: AbortSignal): Promise<Fields> {
  const { method, params, isModern } = asked;
  const capabilities = { tools: {} };
  switch (method) {
    case 'server/discover':
      if (isModern) return { supportedVersions: [REVISION, ...EARLIER], capabilities, ...FRESH };
      break;
    case 'initialize':
      if (isModern) break;
      return {
        protocolVersion: EARLIER.find((one) => one === params['protocolVersion']) ?? EARLIER[0],
        capabilities,
        serverInfo: SERVER,
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: offered.tools.map(definitionOf), ...(isModern ? FRESH : {}) };
    case 'tools/call':
      return call(offered, asked, signal);
  }
  throw new RpcError(-32601, `There is no method ${method.slice(0, 100)} here.`, isModern ? 404 : 200);
}

function definitionOf({ name, description, inputSchema, readOnly }: DoorTool): Fields {
  return { name, description, inputSchema, annotations: { readOnlyHint: readOnly } };
}

async function call(offered: DoorTools, { params, meta }: Asked, signal: AbortSignal): Promise<Fields> {
  const name = text(params['name']);
  if (!offered.tools.some((tool) => tool.name === name))
    throw new RpcError(-32602, `There is no tool ${name.slice(0, 100)}.`);
  const { arguments: args = {} } = params;
  if (!isFields(args)) throw new RpcError(-32602, 'The arguments of a tool are an object.');
  const { text: words, isError, images = [] } = await offered.call(name, args, { meta, signal });
  const shown = images.map(({ data, mediaType: mimeType }) => ({ type: 'image', data, mimeType }));
  const content = words === '' && shown.length > 0 ? shown : [{ type: 'text', text: words }, ...shown];
  return { content, ...(isError ? { isError: true } : {}) };
}
