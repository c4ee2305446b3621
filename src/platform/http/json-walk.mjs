// What a body may hold, looked at in its text before anything is made of it (reference §1, docs/decisions/0024). Plain JavaScript, because
// the thread of the hooks uses it too (src/resources/integrations/hook-body.mjs).

export const MAX_DEPTH = 32;
/** Keys and values (objects, lists, texts, numbers and literals) of one body, together. */
export const MAX_VALUES = 10_000;

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What is wrong with a JSON text, in one sentence, or null. */
export function walkJson(text, sizeAlone = false, mostValues = MAX_VALUES, mostLevels = MAX_DEPTH) {
  /** What is open here, from the outside: the keys of an object so far, null for a list and for what has its size alone looked at. */
  const open = [];
  let keys = null;
  let keyIsNext = false;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code <= 0x20 || code === COLON) continue;
    if (code === COMMA) {
      keyIsNext = keys !== null;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      open.pop();
      keys = open.at(-1) ?? null;
      keyIsNext = false;
    } else if (code === QUOTE) {
      const end = endOfText(text, at);
      if (end === -1) return null;
      if (!sizeAlone) {
        const written = text.slice(at, end + 1);
        const fault = keyIsNext && keys !== null ? keyFault(written, keys) : textFault(written);
        if (fault !== null) return fault;
      }
      at = end;
      values++;
      keyIsNext = false;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      keys = code === OPEN_OBJECT && !sizeAlone ? new Set() : null;
      if (open.push(keys) > mostLevels) return `The body is nested deeper than ${mostLevels} levels.`;
      values++;
      keyIsNext = keys !== null;
    } else {
      at = endOfLiteral(text, at);
      values++;
    }
    if (values > mostValues) return `The body has more than ${mostValues.toLocaleString('en')} keys and values.`;
  }
  return null;
}

/** Where the text that begins at a quote ends: at the next one that is not escaped; -1 when there is none. */
function endOfText(text, start) {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return -1;
}

/** The last place of a number, or of `true`, `false` or `null`. */
function endOfLiteral(text, start) {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at + 1);
    // NaN, at the end of the text, is no number that is greater.
    if (!(code > 0x20) || code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT) return at;
    at++;
  }
}

function keyFault(written, keys) {
  const key = written.includes('\\') ? unescaped(written) : written.slice(1, -1);
  if (key === null) return null;
  if (FORBIDDEN_KEYS.has(key)) return `The body contains the key "${key}", which is not accepted anywhere.`;
  if (keys.has(key)) return `The body has the key ${JSON.stringify(shortened(key))} twice in one object.`;
  keys.add(key);
  return textFault(written, key);
}

/** Well-formed UTF-8 without escapes holds no NUL, which JSON does not allow bare, and no lone surrogate. */
function textFault(written, known) {
  if (!written.includes('\\u')) return null;
  const text = known ?? unescaped(written);
  if (text === null) return null;
  if (text.includes('\0')) return 'The body contains a NUL character.';
  return text.isWellFormed() ? null : 'The body contains half of a surrogate pair.';
}

/** Null when it is no JSON: the parse of the whole says so. */
function unescaped(written) {
  try {
    return JSON.parse(written);
  } catch {
    return null;
  }
}

/** A name of the client's for a message. */
export function shortened(name) {
  return name.length > 100 ? `${name.slice(0, 100).toWellFormed()}…` : name;
}
