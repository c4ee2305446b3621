// Text from models and commands holds things that PostgreSQL's jsonb refuses: NUL and halves of surrogate pairs.
import type { JsonValue } from '../models/conversation.js';

// JSON.stringify writes both as escapes. An escaped backslash before the `u` is a false alarm that costs one walk.
const SUSPICIOUS = /\\u(0000|d[89a-f])/i;

export function cleanText(text: string): string {
  return text.replace(/\0/g, '\uFFFD').toWellFormed();
}

/** The value without such characters; the value itself when there are none. `json` is a text that parses to it. */
export function cleanJson(value: JsonValue, json: string): JsonValue {
  return SUSPICIOUS.test(json) ? clean(value) : value;
}

function clean(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clean);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [cleanText(key), clean(one)]));
}
