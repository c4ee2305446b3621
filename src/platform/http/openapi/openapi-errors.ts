// Errors and headers of the document.
import { readFileSync } from 'node:fs';
import { ApiError, type ErrorCode, ERRORS, type ErrorStatus, type ExtensionError } from '../api-error.js';
import type { JsonSchema } from '../documented.js';
import { COMPONENTS } from './openapi-requests.js';

const RATE_LIMIT_HEADERS = {
  'X-RateLimit-Policy': ['string', 'The selected operation policy.'],
  'X-RateLimit-Limit': ['integer', 'Capacity of the selected operation policy.'],
  'X-RateLimit-Remaining': ['integer', 'Whole requests currently available under that policy.'],
  'X-RateLimit-Reset': ['integer', 'Unix timestamp when that policy bucket will be full again.'],
  'X-RateLimit-Global-Limit': ['integer', 'Capacity shared by all operations using the key.'],
  'X-RateLimit-Global-Remaining': ['integer', 'Whole requests currently available globally.'],
  'X-RateLimit-Global-Reset': ['integer', 'Unix timestamp when the global bucket will be full again.'],
  RateLimit: ['string', 'Live state of the most constrained quota policy: `"resource_read";r=1199;t=1`.'],
  'RateLimit-Policy': ['string', 'The quota policies applied: `"global";q=1200;w=60, "resource_read";q=1200;w=60`.'],
} as const;

const OTHER_HEADERS = {
  'Idempotent-Replayed': ['string', 'Present, `true`, when this is the stored answer of an earlier request.'],
  Location: ['string', 'Path of what was made.'],
  'Retry-After': ['integer', 'Seconds until the same request may succeed.'],
  'WWW-Authenticate': ['string', 'Always `Bearer`.'],
  'X-Request-Id': ['string', 'The id of this request, for support; in an error equal to `error.requestId`.'],
} as const;

type Header = keyof typeof RATE_LIMIT_HEADERS | keyof typeof OTHER_HEADERS;

/** `components.headers`. Each header has two entries: one is required, the other is for answers that may lack it. */
export function headerComponents(): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = {};
  for (const [name, [type, description]] of Object.entries({ ...RATE_LIMIT_HEADERS, ...OTHER_HEADERS })) {
    found[name] = { description, required: true, schema: { type } };
    found[`${name}.optional`] = { description, schema: { type } };
  }
  return found;
}

export function header(name: Header, required = true): JsonSchema {
  return { $ref: `#/components/headers/${name}${required ? '' : '.optional'}` };
}

/** The headers of every answer to a request with a known credential; `required` where the credential is known for sure. */
export function rateLimitHeaders(required: boolean): Record<string, JsonSchema> {
  const names = Object.keys(RATE_LIMIT_HEADERS) as (keyof typeof RATE_LIMIT_HEADERS)[];
  return Object.fromEntries(names.map((name) => [name, header(name, required)]));
}

interface Meaning {
  description: string;
  example: { code: ErrorCode; message: string; param?: string };
}
/** What each status means, and an error of it in the words of the service. */
const MEANINGS = JSON.parse(readFileSync(new URL('./errors.json', import.meta.url), 'utf8')) as Record<
  ErrorStatus,
  Meaning
>;

type Code = Omit<ExtensionError, 'status'> & { status: number };

/** The codes of the service and of its extensions. */
const allCodes = (further: readonly ExtensionError[]): Code[] => [
  ...Object.entries(ERRORS).map(([code, [status, type]]) => ({ code, status, type })),
  ...further,
];

/** The schema of every error (reference §10). */
export function errorSchema(further: readonly ExtensionError[]): JsonSchema {
  const all = allCodes(further);
  const codes = all.map(({ code }) => code);
  const types = [...new Set(all.map(({ type }) => type))];
  return strict({
    error: strict({
      type: { type: 'string', enum: types },
      message: { type: 'string', description: 'What is wrong and what is accepted, for people.' },
      requestId: { type: 'string', description: 'Can be given to support.' },
      code: { type: 'string', enum: codes, description: 'What is wrong, for programs.' },
      param: { type: ['string', 'null'], description: 'The one field at fault: `attachments[0].uploadId`.' },
      retryable: { type: 'boolean', description: 'Whether the same request may succeed later.' },
    }),
  });
}

function strict(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** Name and content of the component for an error of this status; `known`: on routes that need a credential. */
export function errorResponse(
  status: ErrorStatus,
  known: boolean,
  further: readonly ExtensionError[],
): [string, JsonSchema] {
  const required = known && ![401, 429, 500, 503].includes(status);
  // Both are answered before the caller is known.
  const limited = known && ![401, 431].includes(status) ? rateLimitHeaders(required) : {};
  // A caller without a valid credential may be limited by its address, and then gets these two and `Retry-After` alone.
  const tooMany =
    status === 429 ? { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimit-Policy') } : {};
  const headers = {
    'X-Request-Id': header('X-Request-Id'),
    ...(status === 401 ? { 'WWW-Authenticate': header('WWW-Authenticate') } : {}),
    ...limited,
    ...tooMany,
    ...([429, 503].includes(status) ? { 'Retry-After': header('Retry-After') } : {}),
    ...(status === 409 ? { 'Retry-After': header('Retry-After', false) } : {}),
  };
  const { description, example } = MEANINGS[status];
  const { code, message } = example;
  const body = new ApiError(code, message, example).body('01a20453-1c29-72c2-bcc6-579d6bb421a5');
  const content = { 'application/json': { schema: narrowed(status, further), example: body } };
  return [`${known ? 'Error' : 'PublicError'}${status}`, { description, headers, content }];
}

/** Narrows the error schema to the types and codes that belong to the status. */
function narrowed(status: number, further: readonly ExtensionError[]): JsonSchema {
  const of = allCodes(further).filter((one) => one.status === status);
  const $ref = `${COMPONENTS}Error`;
  if (of.length === 0) return { $ref };
  const type = { enum: [...new Set(of.map((one) => one.type))] };
  const code = { enum: of.map((one) => one.code) };
  return { allOf: [{ $ref }, { properties: { error: { properties: { type, code } } } }] };
}
