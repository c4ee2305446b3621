// How a stream is written (reference §17, and the WHATWG standard of server-sent events).
import type { Batch } from './feed.js';

/** A frame of the service's own: without an id for what is not recorded. */
export function frame(data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** All of a batch in one text. */
export function framesOf({ shown }: Batch): string {
  return shown.map(({ position, event }) => frame(event, position)).join('');
}

export const retry = (ms: number): string => `retry: ${ms}\n\n`;
/** Nothing for a program. */
export const comment = (words: string): string => `: ${words}\n\n`;

/** Milliseconds after which a client comes back; at a stop they come back spread over some seconds. */
export const RETRY_MS = 1_000;
const BACK_AFTER_STOP_MS = { least: 500, most: 3_000 };

export function backAfterStop(): number {
  const { least, most } = BACK_AFTER_STOP_MS;
  return Math.round(least + Math.random() * (most - least));
}

export const STREAM_HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};
