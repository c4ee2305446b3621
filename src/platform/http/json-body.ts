import { ApiError } from './api-error.js';
import { MAX_DEPTH, MAX_VALUES, walkJson } from './json-walk.mjs';

export type JsonObject = Record<string, unknown>;

/** Parses a body into a JSON object that is safe to keep (reference §1). `further`: levels and values that it may have beside. Throws 400 `invalid_body`. */
export function parseJsonObject(bytes: Uint8Array, further = { levels: 0, values: 0 }): JsonObject {
  const text = decodeUtf8(bytes);
  // First, because the parse is what a body of 340,000 values makes long, and because it forgets a key that is given twice.
  const fault = walkJson(text, false, MAX_VALUES + further.values, MAX_DEPTH + further.levels);
  if (fault !== null) throw invalid(fault);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('The body must be a JSON object.');
  }
  return value as JsonObject;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}

export function invalid(message: string): ApiError {
  return new ApiError('invalid_body', message);
}
