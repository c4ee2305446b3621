// What the parts on the way of a request note for those behind them, for its line in the log and for its span.
import type { Request } from 'express';
import type { Span } from '../tracing/tracing.js';

/** One object for all of them: a further property on a request costs 2 µs, because Express has changed its prototype. */
export class Notes {
  workspaceId: string | undefined = undefined;
  userId: string | undefined = undefined;
  keyId: string | undefined = undefined;
  span: Span | undefined = undefined;
  /** Who asks: access/auth knows its type. */
  auth: unknown = undefined;
  /** What access/rate-limit has charged. */
  charge: unknown = undefined;
  /** Ends the turn of its arrival. */
  arriving: (() => void) | undefined = undefined;
  /** Ends the turn of its read. */
  reading: (() => void) | undefined = undefined;
  /** Of a request that this process sends to itself for one of a client (reference §29): the id of that one, which has the line, the span and the figure, and is charged. */
  within: string | undefined = undefined;
  /** Of such a request: the one turn of its task that it means. */
  turn: number | undefined = undefined;
  /** What a client of MCP calls, where that is one of the tools. */
  tool: string | undefined = undefined;
}

const NOTES = Symbol('millwright:notes');
type Noted = Request & { [NOTES]?: Notes };

/** The notes of a request; what is set on them stays. */
export function notesOf(req: Request): Notes {
  return ((req as Noted)[NOTES] ??= new Notes());
}

/** The template of the route, `/v1/tasks/{taskId}`; null for a path that no route has: it comes from outside, and may hold anything. */
export function routeOf(req: Request): string | null {
  const { path } = (req.route as { path?: string } | undefined) ?? {};
  return path === undefined ? null : path.replace(/:(\w+)/g, '{$1}');
}
