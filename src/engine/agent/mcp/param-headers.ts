// Arguments that are sent as headers too, as a schema asks by `x-mcp-header` (reference §28).
import { isJsonObject } from '../../models/conversation.js';

const MARK = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ['string', 'integer', 'boolean'];
const PLAIN = /^[\x20-\x7e\t]+$/;

export interface ParamHeader {
  path: string[];
  name: string;
}

/** Null: the schema asks wrongly, and its tool is not to be used. */
export function paramHeaders(schema: unknown): ParamHeader[] | null {
  const found: ParamHeader[] = [];
  // What stands elsewhere than on a property that is always there is wrong.
  const right = visit(schema, [], found, true);
  const names = new Set(found.map(({ name }) => name.toLowerCase()));
  return right && names.size === found.length ? found : null;
}

function visit(node: unknown, path: string[], found: ParamHeader[], reachable: boolean): boolean {
  if (Array.isArray(node)) return node.every((one) => visit(one, path, found, false));
  if (!isJsonObject(node)) return true;
  if (Object.hasOwn(node, MARK)) {
    const { [MARK]: name, type } = node;
    const fits = typeof name === 'string' && TOKEN.test(name) && typeof type === 'string' && TYPES.includes(type);
    if (!fits || !reachable || path.length === 0) return false;
    found.push({ path, name });
  }
  return Object.entries(node).every(([key, value]) => {
    if (key !== 'properties' || !isJsonObject(value)) return visit(value, path, found, false);
    return Object.entries(value).every(([name, one]) => visit(one, [...path, name], found, reachable));
  });
}

/** The headers of a call. An argument that is absent, or of another kind, has none. */
export function headersOf(declared: readonly ParamHeader[], input: unknown): Record<string, string> {
  const headers = declared.flatMap(({ path, name }) => {
    const value = path.reduce<unknown>(
      (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      input,
    );
    const simple = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
    return simple ? [[`Mcp-Param-${name}`, encoded(String(value))]] : [];
  });
  return Object.fromEntries(headers) as Record<string, string>;
}

function encoded(text: string): string {
  const safe = PLAIN.test(text) && text === text.trim() && !(text.startsWith('=?base64?') && text.endsWith('?='));
  return safe ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
