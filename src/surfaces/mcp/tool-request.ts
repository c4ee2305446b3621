import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../../engine/models/conversation.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Route } from '../../platform/http/endpoint-explorer.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { InnerRequest } from './inner-request.js';
import { DEFAULT_LIMIT, type ToolDefinition } from './tool-definitions.js';
import { LONGEST_WAIT, type Tool } from './tools.js';

/**
 * The arguments of a call as the route's own request. What the route checks is left to it; here is checked what it never sees: names that
 * the tool does not take, and the fields that are the tool's own. Throws 400.
 */
export function requestOf(tool: Tool, { inputSchema }: ToolDefinition, route: Route, args: JsonObject): InnerRequest {
  const path = pathOf(route.path, args);
  const fields = Object.fromEntries(
    (tool.fields ?? []).flatMap((field) => (args[field] === undefined ? [] : [[field, args[field]]])),
  );
  if (route.method === 'GET') return { method: 'GET', path: path + queryOf(fields, 'limit' in inputSchema.properties) };
  const keyed = tool.own !== undefined && 'idempotencyKey' in tool.own;
  const key = textOf(args, 'idempotencyKey') ?? (route.contract.idempotency === 'required' ? randomUUID() : undefined);
  const headers = keyed && key !== undefined ? { 'idempotency-key': key } : {};
  if (tool.fields === undefined) return { method: route.method, path, headers };
  const bytes = Buffer.from(JSON.stringify({ ...fields, ...attachmentsOf(args) }));
  return { method: route.method, path, headers, body: { type: 'application/json', bytes } };
}

/** The arguments, with names that the tool takes. */
export function argumentsOf({ inputSchema }: ToolDefinition, given: unknown): JsonObject {
  if (given === undefined) return {};
  if (!isJsonObject(given)) throw invalidField('arguments', 'must be an object');
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(inputSchema.properties, name));
  if (unknown !== undefined) {
    throw new ApiError('unknown_field', `The field "${unknown.slice(0, 100)}" is not known here.`, {
      param: unknown.slice(0, 100),
    });
  }
  return given;
}

/** A whole number of the tool's own; undefined when it is not given. Throws 400. */
export function numberOf(args: JsonObject, name: string, least: number, most: number): number | undefined {
  const value = args[name] ?? undefined;
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value);
  throw invalidField(name, `must be a whole number from ${least} to ${most.toLocaleString('en')}`);
}

/** A text of the tool's own; undefined when it is not given. Throws 400. */
export function textOf(args: JsonObject, name: string): string | undefined {
  const value = args[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw invalidField(name, 'must be a string');
}

/** How long the answer may wait, in seconds. Throws 400. */
export const waitOf = (args: JsonObject): number => numberOf(args, 'waitSeconds', 0, LONGEST_WAIT) ?? 0;

export function invalidField(param: string, rule: string): ApiError {
  return new ApiError('invalid_field', `${param} ${rule}.`, { param });
}

/** The path of a route with the ids of a call. Throws 400. */
export function pathOf(path: string, args: JsonObject): string {
  return path.replace(/:(\w+)/g, (_whole, name: string) => {
    const id = textOf(args, name);
    // A path has no empty part, and a dot leads to another one.
    if (id === undefined || !/^[^./]{1,200}$/.test(id)) throw invalidField(name, 'must be an id');
    return encodeURIComponent(id);
  });
}

function queryOf(fields: JsonObject, limited: boolean): string {
  const query = new URLSearchParams(limited ? { limit: String(DEFAULT_LIMIT) } : {});
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) continue;
    if (typeof value !== 'string' && typeof value !== 'number') throw invalidField(name, 'must be text or a number');
    query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

function attachmentsOf({ uploadIds }: JsonObject): object {
  if (uploadIds === undefined || uploadIds === null) return {};
  const isList = Array.isArray(uploadIds) && uploadIds.every((one) => typeof one === 'string');
  if (!isList) throw invalidField('uploadIds', 'must be a list of ids');
  return { attachments: uploadIds.map((uploadId) => ({ uploadId })) };
}
