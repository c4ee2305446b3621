import { Injectable } from '@nestjs/common';
import { refusal } from '../../access/auth/scope.guard.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Route } from '../../platform/http/endpoint-explorer.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { type Call, jsonOf, Refused } from './call.js';
import { readFile, uploadFile } from './files.js';
import type { InnerAnswer, InnerRequest } from './inner-request.js';
import { asked, isUnanswered } from './questions.js';
import { bytesOf, failed, fitting, itemsOf, MOST, shortened, succeeded, type ToolResult } from './results.js';
import { ToolDefinitions } from './tool-definitions.js';
import { argumentsOf, pathOf, requestOf, waitOf } from './tool-request.js';
import { type Tool, TOOLS } from './tools.js';
import { begun, knowsTasks } from './turns.js';
import { isWorking, waitFor } from './waits.js';

/** Carries out calls of tools: each is a request to the route of its operation. */
@Injectable()
export class ToolCalls {
  constructor(private readonly definitions: ToolDefinitions) {}

  /** Undefined for a name that no tool has. */
  find(name: unknown): Tool | undefined {
    return typeof name === 'string' && Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
  }

  routeOf(tool: Tool): Route {
    return this.definitions.routeOf(tool);
  }

  /** The result of a tool, also where its operation or its arguments are refused. */
  async run(call: Call, name: string, tool: Tool): Promise<object> {
    try {
      return await this.carriedOut(call, name, tool);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { contract, method, path } = this.routeOf(tool);
      if (refusal(contract, call.auth) === undefined) return failed(error.body(call.requestId));
      // Who may not do it at all is told so first, and it goes on record.
      return failed(jsonOf(await call.send({ method, path })));
    }
  }

  private async carriedOut(call: Call, name: string, tool: Tool): Promise<object> {
    const definition = this.definitions.of(name);
    const given = argumentsOf(definition, call.message.params['arguments']);
    const route = this.routeOf(tool);
    const seconds = waitOf(given);
    if (name === 'read_file') return readFile(call, pathOf(route.path, given), given);
    if (name === 'upload_file') return uploadFile(call, route.path, given);
    let args = given;
    if (name === 'answer_task' && isUnanswered(given)) {
      const said = await asked(call, '/v1/tasks/:taskId', given);
      if ('result' in said) return said.result;
      // The user has seen the question alone, and no word of the caller's that would go with the answer.
      args = { ...given, reason: undefined, remember: undefined, ...said.answer };
    }
    const request = requestOf(tool, definition, route, args);
    const answer = await call.send(request);
    const json = jsonOf(answer);
    if (answer.status >= 400) return failed(json);
    if (name === 'create_task' && (given['waitSeconds'] ?? null) === null && knowsTasks(call)) return begun(json);
    if (seconds === 0 || !isWorking(json as never)) return this.result(call, request, json);
    const later = await this.later(call, route, json, seconds);
    return later.status >= 400 ? failed(jsonOf(later)) : this.result(call, request, { ...json, ...jsonOf(later) });
  }

  /** The task after a wait. What an operation has done stands, whatever becomes of the wait: it is told of. */
  private async later(call: Call, { method }: Route, first: JsonObject, seconds: number): Promise<InnerAnswer> {
    const { id } = first['task'] as { id: string };
    const stands = { status: 200, headers: {}, body: Buffer.from('{}') };
    try {
      const found = (await waitFor(call, id, seconds)) ?? stands;
      return found.status >= 400 && method !== 'GET' ? stands : found;
    } catch (error) {
      if (error instanceof Refused && method !== 'GET') return stands;
      throw error;
    }
  }

  /** What fits of an answer. */
  private async result(call: Call, request: InnerRequest, whole: JsonObject): Promise<ToolResult> {
    const linkOf = linksOf(call, request);
    const fit = fitting(whole, (item) => linkOf(item).reduce((sum, link) => sum + bytesOf(link), 0));
    const again = fit === null ? null : await call.send(withLimit(request, fit));
    if (again !== null && again.status >= 400) return failed(jsonOf(again));
    const json = again === null ? whole : jsonOf(again);
    const links = (itemsOf(json) ?? []).flatMap(linkOf);
    if (bytesOf(json) <= MOST) return succeeded(json, links);
    return succeeded(shortened(json, routeOfAll(request, json)), links);
  }
}

/** The route that answers all of what is shown in part: what an operation has changed is read again. */
function routeOfAll({ method, path }: InnerRequest, { task }: { task?: unknown }): string {
  return method === 'GET' ? `GET ${path}` : `GET /v1/tasks/${(task as { id: string }).id}`;
}

/** The same page with so many items, and a cursor behind them. */
function withLimit(request: InnerRequest, limit: number): InnerRequest {
  const { pathname, searchParams } = new URL(request.path, 'http://millwright');
  searchParams.set('limit', String(limit));
  return { ...request, path: `${pathname}?${searchParams.toString()}` };
}

/** Files are shown as links too, which clients read as resources. Before 2025-06-18 there were none. */
function linksOf({ message: { modern, revision } }: Call, { path }: InnerRequest): (item: JsonObject) => object[] {
  const known = modern || (revision !== undefined && revision !== '2025-03-26');
  if (!known || !/^\/v1\/tasks\/[^/]+\/files\?/.test(path)) return () => [];
  return ({ id, name, mediaType, size }) => [
    { type: 'resource_link', uri: `millwright://files/${String(id)}`, name, mimeType: mediaType, size },
  ];
}
