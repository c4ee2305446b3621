// What is sent, as plain data: it can be made again from a seed, made smaller, and printed.
import fc from 'fast-check';
import { DEFECTS, type Form, formOf } from './forms.js';
import type { Operation, Operations } from './operations.js';
import { BODY_TEXTS, CHANGES, type Change, oddText, type Spelling, spelling } from './mutations.js';
import { allowed, ref, type Ref } from './values.js';

export type Distortion =
  | { aspect: 'path'; at: number; text: string }
  | { aspect: 'query'; name: string; value: string }
  | { aspect: 'header'; name: string; value: string | null }
  | { aspect: 'authorization'; value: string }
  | { aspect: 'method'; value: string }
  | { aspect: 'field'; at: number; change: Change }
  | { aspect: 'spelling'; value: Spelling }
  | { aspect: 'form'; value: string }
  | { aspect: 'body'; text: string };

export interface Step {
  operation: Operation;
  /** Name of somebody in the world. */
  who: string;
  path: Ref[];
  query: [string, unknown][];
  headers: [string, string][];
  /** Which Idempotency-Key of this sequence; equal numbers are equal keys. */
  key: number;
  body: unknown;
  form: Form | null;
  distortions: Distortion[];
  /** Sends it so often at the same time. */
  times: number;
  /** Before it: until the newest task of this sequence is at rest. */
  settle: boolean;
}

const WHO = fc.oneof(
  { weight: 30, arbitrary: fc.constant('member') },
  { weight: 6, arbitrary: fc.constantFrom('owner', 'service') },
  { weight: 3, arbitrary: fc.constantFrom('viewer', 'narrow', 'outsider', 'tight') },
  { weight: 1, arbitrary: fc.constantFrom('revoked', 'expired', 'removed', 'nobody') },
);

/** What owners and admins alone may do. */
const OF_OWNERS =
  /^\/v1\/(webhooks|audit|billing\/(?:checkout|portal)|members|service-accounts|repository-connections|secrets|environments|skills)(\/|$)/;

/** Mostly somebody who may do it. */
const whoDoes = ({ template }: Operation) =>
  OF_OWNERS.test(template)
    ? fc.oneof({ weight: 3, arbitrary: fc.constant('owner') }, { weight: 1, arbitrary: WHO })
    : WHO;

const ETAGS = ['*', '""', 'W/"x"', '"nothing", "more"', 'x', `"${'0'.repeat(64)}"`];
const RANGES = ['bytes=0-0', 'bytes=0-', 'bytes=-1', 'bytes=5-2', 'bytes=0-1,3-4', 'bytes=-', 'bytes=99999999999999999999-', 'lines=1-2', 'bytes=-0', 'bytes=1e3-']; // prettier-ignore

/** What changes no more than the form of the answer. */
const HARMLESS: fc.Arbitrary<[string, string]> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant('Range'), fc.constantFrom(...RANGES)) },
  fc.tuple(fc.constant('If-None-Match'), fc.constantFrom(...ETAGS)),
  fc.tuple(fc.constantFrom('If-Range', 'If-Match'), fc.constantFrom(...ETAGS)),
  fc.tuple(fc.constantFrom('If-Modified-Since', 'If-Unmodified-Since'), fc.constantFrom('Sat, 01 Jan 2000 00:00:00 GMT', 'x')),
  fc.tuple(fc.constant('Accept'), fc.constantFrom('*/*', 'application/json', 'text/html', 'nonsense', '')),
  fc.tuple(fc.constant('Accept-Encoding'), fc.constantFrom('gzip, br', 'identity;q=0', '*')),
  fc.tuple(fc.constantFrom('X-Request-Id', 'X-Forwarded-Host', 'X-HTTP-Method-Override'), fc.constantFrom('x', 'DELETE', 'é')),
  fc.tuple(fc.constant('Expect'), fc.constantFrom('100-continue', 'nonsense')),
); // prettier-ignore

const METHODS = ['HEAD', 'OPTIONS', 'PUT', 'TRACE', 'PROPFIND', 'POST', 'GET', 'DELETE', 'PATCH'];
const HEADERS = ['Content-Type', 'Content-Encoding', 'Idempotency-Key', 'Cookie', 'Host'];

const distortion: fc.Arbitrary<Distortion> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ aspect: fc.constant('field' as const), at: fc.nat(12), change: CHANGES }) },
  { weight: 3, arbitrary: fc.record({ aspect: fc.constant('spelling' as const), value: spelling }) },
  { weight: 3, arbitrary: fc.record({ aspect: fc.constant('form' as const), value: fc.constantFrom(...Object.keys(DEFECTS)) }) },
  { weight: 2, arbitrary: fc.record({ aspect: fc.constant('path' as const), at: fc.nat(2), text: oddText }) },
  { weight: 2, arbitrary: fc.record({ aspect: fc.constant('query' as const), name: fc.constantFrom('limit', 'cursor', 'status', 'projectId', 'order', 'after', 'x', '__proto__', 'limit[]', ''), value: oddText }) },
  { weight: 2, arbitrary: fc.record({ aspect: fc.constant('header' as const), name: fc.constantFrom(...HEADERS), value: fc.option(headerText()) }) },
  { weight: 1, arbitrary: fc.record({ aspect: fc.constant('authorization' as const), value: fc.constantFrom('', 'Bearer', 'Bearer ', 'Basic eDp4', 'Bearer a b', 'Bearer é', 'Bearer mw_pk_x', `Bearer ${'x'.repeat(4000)}`) }) },
  { weight: 1, arbitrary: fc.record({ aspect: fc.constant('method' as const), value: fc.constantFrom(...METHODS) }) },
  { weight: 1, arbitrary: fc.record({ aspect: fc.constant('body' as const), text: fc.constantFrom(...BODY_TEXTS) }) },
); // prettier-ignore

function headerText(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom('', 'gzip', 'identity', 'chunked', 'text/plain', 'application/json; charset=utf-16', 'APPLICATION/JSON;CHARSET="utf-8"', '"', '"x"', 'k'.repeat(256), '7', '99999999', '-1'),
    fc.string({ maxLength: 30 }).map((text) => text.trim()),
  ); // prettier-ignore
}

/** A request to an operation, right in itself in a good half of all cases. */
export function step(operations: Operations, operation: Operation, fixed: Partial<Step> = {}): fc.Arbitrary<Step> {
  const query = Object.entries(operation.query).map(([name, schema]) =>
    fc.option(fc.tuple(fc.constant(name), allowed(operations, schema, name)), { freq: 1 }),
  );
  const rare = fc.constantFrom(...Array<number>(24).fill(1), 2, 3);
  const made: fc.Arbitrary<Step> = fc.record({
    operation: fc.constant(operation),
    who: whoDoes(operation),
    path: fc.tuple(...operation.pathNames.map(ref)),
    query: fc.tuple(...query).map((pairs) => pairs.filter((pair) => pair !== null)),
    headers: fc.oneof({ weight: 3, arbitrary: fc.constant<[string, string][]>([]) }, fc.array(HARMLESS, { maxLength: 2 })),
    key: fc.nat(60),
    body: operation.body === 'json' ? allowed(operations, operation.bodySchema) : fc.constant(undefined),
    form: operation.body === 'form' ? formOf(operation) : fc.constant(null),
    distortions: fc.oneof({ weight: 6, arbitrary: fc.constant<Distortion[]>([]) }, { weight: 4, arbitrary: fc.array(distortion, { minLength: 1, maxLength: 2 }) }),
    times: rare,
    settle: fc.constant(false),
  }); // prettier-ignore
  return made.map((one) => ({ ...one, ...fixed }));
}

/** A request with nothing wrong, about what the sequence made last. */
export function right(operations: Operations, operation: Operation, fixed: Partial<Step> = {}): fc.Arbitrary<Step> {
  const path = operation.pathNames.map(ownRef);
  const who = OF_OWNERS.test(operation.template) ? 'owner' : 'member';
  return step(operations, operation, { distortions: [], who, times: 1, query: [], path, ...fixed });
}

export function ownRef(name: string): Ref {
  return { $id: name, from: 'own', nth: 0 };
}

export function steps(...parts: fc.Arbitrary<Step | Step[]>[]): fc.Arbitrary<Step[]> {
  return fc.tuple(...parts).map((found) => found.flat());
}
