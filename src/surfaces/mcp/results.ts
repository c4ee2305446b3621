// What a tool answers: the JSON of its route, and the same as text, neither longer than a client's window should take at once.
import type { JsonObject } from '../../platform/http/json-body.js';

/** Bytes of the JSON, and of the text. */
export const MOST = 48 * 1024;
/** Characters that stay of a text whose middle is left out, at least: more than an id, a cursor or an address has. */
const SHORTEST = 1_000;

export interface ToolResult {
  content: object[];
  structuredContent?: JsonObject;
  isError?: true;
}

export const bytesOf = (json: unknown): number => Buffer.byteLength(JSON.stringify(json));

/** @param links further items, which point to files. */
export function succeeded(json: JsonObject, links: object[] = []): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(json) }, ...links], structuredContent: json };
}

/** @param body of an error (reference §10). */
export function failed(body: JsonObject): ToolResult {
  const { message } = body['error'] as { message: string };
  return { content: [{ type: 'text', text: message }], structuredContent: body, isError: true };
}

/** How many items of a list fit, at least one; null when all do, or when it is no list. `each`: bytes of an item beside its own. */
export function fitting(json: JsonObject, each: (item: JsonObject) => number): number | null {
  const items = itemsOf(json);
  if (items === undefined) return null;
  const sizes = items.map((item) => bytesOf(item) + 1 + each(item));
  let room = MOST - (bytesOf(json) - items.reduce((sum, item) => sum + bytesOf(item) + 1, 0));
  const fit = sizes.findIndex((size) => (room -= size) < 0);
  return fit === -1 ? null : Math.max(1, fit);
}

/** The items of a page; undefined for what is none. */
export function itemsOf(json: JsonObject): JsonObject[] | undefined {
  if (!('nextCursor' in json)) return undefined;
  return Object.values(json).find((value) => Array.isArray(value)) as JsonObject[] | undefined;
}

/** The same with the middle of its longest texts left out, until it fits. @param route that has all. */
export function shortened(json: JsonObject, route: string): JsonObject {
  for (let most = MOST / 2; most >= SHORTEST; most = Math.floor(most * 0.7)) {
    const result = withTexts(json, most, route) as JsonObject;
    if (bytesOf(result) <= MOST) return result;
  }
  // What has no long texts is long by its number of parts: these become a text. A page keeps its form, for it goes on behind its only item.
  const asText = (one: JsonObject) => ({ text: cut(JSON.stringify(one), MOST / 4, route) });
  const [item] = itemsOf(json) ?? [];
  if (item === undefined) return asText(json);
  const page = Object.entries(json).map(([key, one]) => [key, Array.isArray(one) ? [asText(item)] : one]);
  return Object.fromEntries(page) as JsonObject;
}

function withTexts(value: unknown, most: number, route: string): unknown {
  if (typeof value === 'string') return cut(value, most, route);
  if (Array.isArray(value)) return value.map((one) => withTexts(one, most, route));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTexts(one, most, route)]));
}

function cut(text: string, most: number, route: string): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(-half).toWellFormed()];
  return `${head}\n[… ${text.length - 2 * half} characters are left out here; ${route} has all …]\n${tail}`;
}
