// What a request for events asks for, beyond what its fields say by themselves.
import type { Request } from 'express';
import { ApiError } from '../../platform/http/api-error.js';
import { accepts, headerValues } from '../../platform/http/request.js';
import type { EventsQuery, TaskEventsQuery } from './events.dto.js';

export const asksForStream = (req: Request): boolean => accepts(req, 'text/event-stream');

const OF_JSON = ['limit', 'wait'] as const;
const OF_STREAMS = ['until', 'deltas', 'format'] as const;
/** A turn has its own beginning, types and end. */
const NOT_OF_TURNS = ['after', 'types', 'until'] as const;

/** Throws 400 for a parameter of the other form. */
export function checkForm(query: EventsQuery & Partial<TaskEventsQuery>, stream: boolean): void {
  const wrong = (stream ? OF_JSON : OF_STREAMS).find((name) => query[name] !== undefined);
  if (wrong === undefined) return;
  const form = stream ? 'an answer in JSON' : 'a stream (Accept: text/event-stream)';
  throw new ApiError('invalid_query', `${wrong} is for ${form} alone.`, { param: wrong });
}

/** Throws 400 for a parameter that says nothing of a turn. */
export function checkTurn(query: TaskEventsQuery): void {
  const wrong = NOT_OF_TURNS.find((name) => query[name] !== undefined);
  if (wrong === undefined) return;
  const message = `${wrong} does not go with format: the stream is of the turn under way, from its beginning to its end.`;
  throw new ApiError('invalid_query', message, { param: wrong });
}

/** The types that are wanted, in the order of `known`; null: all. Throws 400. */
export function typesOf(given: string | undefined, known: readonly string[]): string[] | null {
  if (given === undefined) return null;
  const patterns = given.split(',').map((pattern) => {
    const matches = (type: string) =>
      pattern.endsWith('*') ? `${type.slice(0, type.lastIndexOf('.') + 1)}*` === pattern || pattern === '*' : type === pattern;
    const found = known.filter(matches);
    if (found.length > 0) return found;
    const message = `types must be a comma-separated list of ${known.join(', ')}, with * for a last segment.`;
    throw new ApiError('invalid_query', message, { param: 'types' });
  });
  const wanted = new Set(patterns.flat());
  return known.filter((type) => wanted.has(type));
} // prettier-ignore

/** The position that is asked for: `Last-Event-ID`, else `after`; undefined without either. */
export function positionOf(req: Request, { after }: EventsQuery): string | undefined {
  const [last] = headerValues(req, 'last-event-id');
  return last ?? after;
}

/** Of either of the two above. */
export function invalidPosition(): ApiError {
  const message =
    'The position (after, or Last-Event-ID, which wins over it) is none that this route gave with these filters; 0 is the beginning, latest is now.';
  return new ApiError('invalid_cursor', message, { param: 'after' });
}
