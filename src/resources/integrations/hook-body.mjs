// What the body of a delivery holds. Plain JavaScript, because the service and the thread beside it (hook.worker.mjs) both use it.
import { createHash } from 'node:crypto';

/** Of an outline, together. */
const VALUES = 10_000;
const LEVELS = 5;
/** Characters of a text. */
const TEXT = 1_000;

/** The JSON object or list of a body, or what is wrong with it in one sentence. */
export function parseBody(body) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { fault: 'The body is not valid UTF-8.' };
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'The body is not valid JSON.' };
  }
  return typeof value === 'object' && value !== null
    ? { value }
    : { fault: 'The body must be a JSON object or a list.' };
}

/**
 * The upper levels of a value. A payload of 25 MiB takes seconds to hand over from one thread to another, so nobody gets the whole. Level
 * by level: what stands deep cannot take the place of what stands above it.
 */
function outline(value) {
  const top = shallow(value);
  let copied = 0;
  let level = [[value, top]];
  for (let depth = 1; level.length > 0; depth++) {
    const below = [];
    for (const [from, to] of level) {
      for (const [name, one] of entriesOf(from)) {
        if (++copied > VALUES) return top;
        const copy = depth === LEVELS && typeof one === 'object' ? null : shallow(one);
        // An own property also where the name is `__proto__`.
        Object.defineProperty(to, name, { value: copy, enumerable: true, writable: true, configurable: true });
        if (typeof copy === 'object' && copy !== null) below.push([one, copy]);
      }
    }
    level = below;
  }
  return top;
}

function shallow(value) {
  if (typeof value === 'string') return value.length <= TEXT ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

function entriesOf(value) {
  return Array.isArray(value)
    ? value.slice(0, VALUES).entries()
    : Object.entries(value).filter(([name]) => name.length <= TEXT);
}

/** What {@link HookThread.read} gives, or what is wrong with the body. */
export function readBody(body) {
  const parsed = parseBody(body);
  if ('fault' in parsed) return parsed;
  return { sha256: createHash('sha256').update(body).digest('hex'), payload: outline(parsed.value) };
}
