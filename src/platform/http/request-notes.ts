// What is known of a request beside what it sent, for its line in the log and its span. The room that finds it out notes it.
import type { Request } from 'express';
import type { Span } from '../tracing/tracing.js';

interface Notes {
  workspaceId?: string;
  userId?: string;
  keyId?: string;
  span?: Span;
}

const NOTES = Symbol('millwright:notes');
type Noted = Request & { [NOTES]?: Notes };

/** The notes of a request; what is set on them stays. */
export function notesOf(req: Request): Notes {
  return ((req as Noted)[NOTES] ??= {});
}

/** The template of the route, `/v1/tasks/{taskId}`; null for a path that no route has: it comes from outside, and may hold anything. */
export function routeOf(req: Request): string | null {
  const { path } = (req.route as { path?: string } | undefined) ?? {};
  return path === undefined ? null : path.replace(/:(\w+)/g, '{$1}');
}
