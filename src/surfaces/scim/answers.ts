// Errors in the form of SCIM (RFC 7644 §3.12).
import { ApiError } from '../../platform/http/api-error.js';
import { databaseError } from '../../platform/database/database-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';

export const SCIM_TYPE = 'application/scim+json; charset=utf-8';
const SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';
const TYPES: Record<string, string> = {
  member_exists: 'uniqueness',
  last_owner: 'mutability',
  invalid_field: 'invalidValue',
  invalid_body: 'invalidSyntax',
  invalid_query: 'invalidFilter',
};

interface ScimError extends Error {
  status: number;
  scimType?: string | null;
}

/** Throws what is no error of the client. */
export function answerOf(error: unknown): { status: number; body: JsonObject; headers: Record<string, string> } {
  if (isOfLibrary(error)) return { ...said(error.status, error.message, error.scimType), headers: {} };
  const known = error instanceof ApiError ? error : databaseError(error);
  if (known === null || known === undefined) throw error;
  const headers = known.status === 401 ? { 'WWW-Authenticate': 'Bearer', ...known.headers } : known.headers;
  return { ...said(known.status, known.message, TYPES[known.code]), headers };
}

function said(status: number, detail: string, scimType: string | null | undefined) {
  // The status is a text there.
  return { status, body: { schemas: [SCHEMA], status: String(status), ...(scimType != null && { scimType }), detail } };
}

const isOfLibrary = (error: unknown): error is ScimError => error instanceof Error && error.name === 'SCIMError';
