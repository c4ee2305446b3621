// What a client of MCP sends and is answered: JSON-RPC 2.0, in the revisions that are spoken (reference §29).
import type { Request } from 'express';
import { EARLIER, REVISION } from '../../engine/agent/mcp/revisions.js';
import { isJsonObject } from '../../engine/models/conversation.js';
import type { JsonObject } from '../../platform/http/json-body.js';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Methods whose header `Mcp-Name` says the same as a parameter: which one. */
const NAMED = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

export interface Message {
  /** Undefined for a notification. */
  id: string | number | undefined;
  method: string;
  params: JsonObject;
  /** Whether it is of {@link REVISION}. */
  modern: boolean;
  /** That of the header; earlier than 2025-06-18 there was none. */
  revision: string | undefined;
  /** What the client says that it can. Only {@link REVISION} says it with each request. */
  capabilities: JsonObject;
}

export class RpcError extends Error {
  /** @param status of HTTP; 404 is one of {@link REVISION} alone, and 200 before. */
  constructor(
    readonly code: number,
    message: string,
    readonly status = 200,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

export function invalidParams(message: string, data?: unknown): RpcError {
  return new RpcError(-32602, message, 200, data);
}

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The id of a body, also of one that is no message; null when it has none that can be one. */
export function idOf({ id }: JsonObject): string | number | null {
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : null;
}

/** The message of a request, or what is wrong with its form. */
export function messageOf(req: Request, body: JsonObject): Message | RpcError {
  const { jsonrpc, method, params } = body;
  const id = idOf(body) ?? undefined;
  const form =
    jsonrpc === '2.0' &&
    typeof method === 'string' &&
    (id !== undefined || !('id' in body)) &&
    (params === undefined || isJsonObject(params));
  if (!form) {
    const message =
      'A JSON-RPC request is expected: {"jsonrpc": "2.0", "id": text or whole number, "method": text, "params": object}.';
    return new RpcError(-32600, message, 400);
  }
  const meta = objectOf(params?.['_meta']);
  const header = req.headers['mcp-protocol-version'] as string | undefined;
  const modern = meta[VERSION] !== undefined || header === REVISION;
  const message = {
    id,
    method,
    params: params ?? {},
    modern,
    revision: header,
    capabilities: modern ? objectOf(meta[CAPABILITIES]) : {},
  };
  return disagreement(req, message, meta) ?? message;
}

function disagreement(
  req: Request,
  { method, params, modern, revision }: Message,
  meta: JsonObject,
): RpcError | undefined {
  const said = modern ? meta[VERSION] : revision;
  const known = modern ? [REVISION] : EARLIER;
  if (modern && said !== revision) return mismatch('MCP-Protocol-Version');
  if (said !== undefined && !known.includes(said as string)) {
    const supported = [REVISION, ...EARLIER];
    return new RpcError(-32022, 'This revision of the protocol is not spoken here.', 400, {
      supported,
      requested: said,
    });
  }
  if (!modern) return undefined;
  if (req.headers['mcp-method'] !== method) return mismatch('Mcp-Method');
  const field = NAMED.get(method);
  return field === undefined || decoded(req.headers['mcp-name']) === params[field] ? undefined : mismatch('Mcp-Name');
}

function mismatch(header: string): RpcError {
  return new RpcError(-32020, `The header ${header} does not say what the body says.`, 400);
}

/** A header's value; one that is no visible ASCII comes as `=?base64?…?=`. */
function decoded(value: string | string[] | undefined): string | undefined {
  const text = value === undefined ? undefined : String(value);
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(text ?? '') ?? [];
  return base64 === undefined ? text : Buffer.from(base64, 'base64').toString('utf8');
}
