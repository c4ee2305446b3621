// The names by which the audit log calls what a route does, and what it does it to: both follow from the route (reference §14).
import type { EndpointContract } from '../../platform/http/endpoint.js';
import type { Target } from './record.js';

interface Named {
  method: string;
  /** `/v1/tasks/:taskId`. */
  path: string;
  contract?: Pick<EndpointContract, 'action' | 'location'>;
}

const OF_ONE: Record<string, string> = { PATCH: 'update', PUT: 'update', DELETE: 'delete' };
/** What is no route of the API has no `@Endpoint`. */
const OF_CONSOLE: Record<string, string> = { POST: 'console.login', DELETE: 'console.logout' };

/**
 * The stable name of what a route does, unless its `@Endpoint` has another `action`:
 * - `POST /v1/tasks` is `task.create`, `GET /v1/tasks` is `task.list`;
 * - `GET`, `PATCH`, `DELETE /v1/tasks/:taskId` are `task.read`, `task.update`, `task.delete`;
 * - `POST /v1/tasks/:taskId/cancel` is `task.cancel`: a last word in the singular is an act of what stands before it.
 */
export function actionOf({ method, path, contract }: Named): string {
  if (contract?.action !== undefined) return contract.action;
  if (path === '/console/session') return OF_CONSOLE[method] ?? 'console.read';
  if (path.startsWith('/console/sign-in')) return 'console.login';
  const [last = '', before = ''] = wordsOf(path).reverse();
  if (path.split('/').at(-1)?.startsWith(':') === true) return `${one(last)}.${OF_ONE[method] ?? 'read'}`;
  if (!last.endsWith('s')) return before === '' ? `${last}.read` : `${one(before)}.${last}`;
  return `${one(last)}.${method === 'POST' ? 'create' : 'list'}`;
}

/**
 * What a request is about: what it has made, by its `Location`, else what the last id of its path names. Null where that is no id or
 * name of ours.
 * @param params those of the path. @param location the header of the answer.
 */
export function targetOf(
  { path, contract }: Named,
  params: Record<string, unknown>,
  location: string | null = null,
): Target | null {
  const [, made] = /([\w-]+)\/\{\w+\.(?:id|slug)\}/.exec(contract?.location ?? '') ?? [];
  if (made !== undefined && location !== null) return { type: one(made), id: location.split('/').at(-1) ?? '' };
  const segments = path.split('/');
  const at = segments.findLastIndex((segment) => segment.startsWith(':'));
  const id = params[segments[at]?.slice(1) ?? ''];
  if (at < 0 || typeof id !== 'string' || !/^[\w.-]{1,100}$/.test(id)) return null;
  return { type: one(segments[at - 1] ?? ''), id: id.toLowerCase() };
}

/** The parts of a path below its version, without parameters. */
const wordsOf = (path: string): string[] =>
  path.split('/').filter((part) => part !== '' && !part.startsWith(':') && !/^v\d+$/.test(part));

/** The singular: `delivery` of `deliveries`, `task` of `tasks`. */
const one = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '');
