import { ApiError } from './api-error.js';

export type JsonObject = Record<string, unknown>;

const MAX_DEPTH = 32;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Parses a body into a JSON object that is safe to keep (reference §1). Throws 400 `invalid_body`. */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
  const text = decodeUtf8(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The body must be a JSON object.');
  }
  // Well-formed UTF-8 without escapes holds no NUL, which JSON does not allow bare, and no lone surrogate.
  inspect(value, 1, text.includes('\\u'));
  return value as JsonObject;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}

function inspect(value: unknown, depth: number, escaped: boolean): void {
  if (typeof value === 'string') {
    if (escaped) inspectText(value);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH) throw invalid(`The body is nested deeper than ${MAX_DEPTH} levels.`);
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth + 1, escaped);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key)) throw invalid(`The body contains the key "${key}", which is not accepted anywhere.`);
    if (escaped) inspectText(key);
    inspect(item, depth + 1, escaped);
  }
}

function inspectText(text: string): void {
  if (text.includes('\0')) throw invalid('The body contains a NUL character.');
  if (/\p{Surrogate}/u.test(text)) throw invalid('The body contains half of a surrogate pair.');
}

export function invalid(message: string): ApiError {
  return new ApiError('invalid_body', message);
}
