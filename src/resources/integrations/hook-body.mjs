// What the body of a delivery holds. Plain JavaScript, because the service and the thread beside it (hook.worker.mjs) both use it.
import { createHash } from 'node:crypto';

/** Keys and values of a body: 9 bytes for each, as dense as payloads are. 25 MiB of empty lists have 13,000,000, took 8 s to parse, and 600 MB. */
const MOST_VALUES = 3_000_000;
const MOST_LEVELS = 100;

/** Of an outline, together. */
const VALUES = 10_000;
const LEVELS = 5;
/** Characters of a text. */
const TEXT = 1_000;

/** Characters of a text that a filter sees. A search in one of 65,536 takes up to 0.8 s and cannot be ended, in one of 262,144 13 s. */
const FILTER_TEXT = 65_536;

const OPENING = new Set(['{', '[']);
const CLOSING = new Set(['}', ']']);
const BETWEEN = new Set([',', ':']);

/** The JSON object or list of a body, or what is wrong with it in one sentence. */
function parseBody(body) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { fault: 'The body is not valid UTF-8.' };
  }
  const fault = sizeFault(text);
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

/** Looked at before the parse, which can neither be stopped nor be given less memory. */
function sizeFault(text) {
  let values = 0;
  let levels = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfText(text, at);
      if (at === -1) return null;
    } else if (OPENING.has(character)) {
      values++;
      if (++levels > MOST_LEVELS) return `The body is nested deeper than ${MOST_LEVELS} levels.`;
    } else if (CLOSING.has(character)) levels--;
    // Each key ends with a colon, and each value but the first of its list or object stands behind a comma.
    else if (BETWEEN.has(character)) values++;
    if (values > MOST_VALUES) return `The body has more than ${MOST_VALUES.toLocaleString('en')} keys and values.`;
  }
  return null;
}

/** Where the text that begins at a quote ends: at the next one that is not escaped; -1 when there is none. */
function endOfText(text, start) {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first--;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
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
