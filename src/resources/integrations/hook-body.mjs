// What the body of a delivery holds. Plain JavaScript, because the service and the thread beside it (hook.worker.mjs) both use it.
import { createHash } from 'node:crypto';
import { walkJson } from '../../platform/http/json-walk.mjs';

/** Keys and values of a body: 9 bytes for each, as dense as payloads are. 25 MiB of empty lists have 8,700,000, took 8 s to parse, and 600 MB. */
const MOST_VALUES = 3_000_000;
const MOST_LEVELS = 100;

/** Of an outline, together. */
const VALUES = 10_000;
const LEVELS = 5;
/** Characters of a text. */
const TEXT = 1_000;

/** Characters of a text that a filter sees. A search in one of 65,536 takes up to 0.8 s and cannot be ended, in one of 262,144 13 s. */
const FILTER_TEXT = 65_536;

/** The JSON object or list of a body, or what is wrong with it in one sentence. */
function parseBody(body) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { fault: 'The body is not valid UTF-8.' };
  }
  // Before the parse, which can neither be stopped nor be given less memory.
  const fault = walkJson(text, true, MOST_VALUES, MOST_LEVELS);
  if (fault !== null) return { fault };
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

/** Not by Object.entries: of 750,000 keys it takes a second, and 10,000 are wanted. */
function* entriesOf(value) {
  if (Array.isArray(value)) yield* value.slice(0, VALUES).entries();
  else for (const name in value) if (name.length <= TEXT) yield [name, value[name]];
}

/** What {@link HookThread.read} gives, or what is wrong with the body. */
export function readBody(body) {
  const parsed = parseBody(body);
  if ('fault' in parsed) return parsed;
  return { sha256: createHash('sha256').update(body).digest('hex'), payload: outline(parsed.value) };
}

/** The whole payload for a filter, in which the texts are cut to 65,536 characters, or what is wrong with the body. */
export function payloadOf(body) {
  const parsed = parseBody(body);
  if ('value' in parsed) cutTexts(parsed.value);
  return parsed;
}

function cutTexts(value) {
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const one = value[key];
    if (key.length > FILTER_TEXT) delete value[key];
    else if (typeof one === 'string' && one.length > FILTER_TEXT) value[key] = one.slice(0, FILTER_TEXT);
    else if (typeof one === 'object' && one !== null) cutTexts(one);
  }
}
