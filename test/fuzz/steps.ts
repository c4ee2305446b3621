// What is sent, as plain data: it can be made again from a seed, made smaller, and printed.
import fc from 'fast-check';
import { BODIES, given } from './bodies.js';
import { DEFECTS, form, type Form } from './forms.js';
import type { Operation, Operations } from './operations.js';
import { BODY_TEXTS, CHANGES, type Change, oddText, type Spelling, spelling } from './mutations.js';
import { allowed, BROWSER, CHOICE, COMMAND, QUESTION, ref, type Ref } from './values.js';

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
const OF_OWNERS = /^\/v1\/(webhooks|audit|members|service-accounts|repository-connections|secrets|environments)(\/|$)/;

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
    form: operation.body === 'form' ? form : fc.constant(null),
    distortions: fc.oneof({ weight: 6, arbitrary: fc.constant<Distortion[]>([]) }, { weight: 4, arbitrary: fc.array(distortion, { minLength: 1, maxLength: 2 }) }),
    times: rare,
    settle: fc.constant(false),
  }); // prettier-ignore
  return made.map((one) => ({ ...one, ...fixed }));
}

/** Requests that follow each other: the ids that the first ones make are used by the later ones. */
export function sequence(operations: Operations): fc.Arbitrary<Step[]> {
  const any = fc.oneof(...operations.all.map((operation) => step(operations, operation)));
  const stray = fc.array(any, { minLength: 1, maxLength: 10 });
  const lives = operations.all.flatMap((operation) => lifeOf(operations, operation));
  return fc.oneof(
    { weight: 2, arbitrary: stray },
    ...lives,
    tour(operations),
    dialogue(operations),
    attachment(operations),
    withdrawal(operations),
    fork(operations),
    folder(operations),
    leftOver(operations),
    checked(operations),
    delivery(operations),
    notices(operations),
  );
}

/** Made, used, deleted, used after that: for everything whose creation has a path below it. */
function lifeOf(operations: Operations, creation: Operation): fc.Arbitrary<Step[]>[] {
  if (creation.method !== 'POST' || !creation.creates) return [];
  const id = operations.all.find(({ template }) => new RegExp(`^${creation.template}/\\{\\w+\\}$`).test(template));
  const [name] = id?.pathNames.slice(-1) ?? [];
  if (name === undefined) return [];
  const using = operations.all.filter(({ pathNames }) => pathNames.includes(name));
  const isEnd = ({ method, template }: Operation) => method === 'DELETE' && template.endsWith(`{${name}}`);
  const uses = using.filter((operation) => !isEnd(operation)).flatMap((operation) => usesOf(operations, operation));
  const ends = using.filter(isEnd).map((operation) => right(operations, operation));
  const begin = right(operations, creation, given(creation));
  // By chance alone some reads are answered well once in 14,000 requests, and in a third of all runs never.
  const visits = using
    .filter((operation) => operation.method === 'GET' || BODIES[operation.name] !== undefined)
    .map((operation) => right(operations, operation, given(operation)));
  if (uses.length === 0 || ends.length === 0) return [steps(begin, fc.array(fc.oneof(...uses, ...ends)))];
  return [
    steps(begin, fc.array(fc.oneof(...uses), { maxLength: 8 }), fc.oneof(...ends), fc.array(fc.oneof(...uses, ...ends), { maxLength: 3 })),
    steps(begin, ...visits, fc.oneof(...ends)),
  ];
} // prettier-ignore

function usesOf(operations: Operations, operation: Operation): fc.Arbitrary<Step>[] {
  const some = BODIES[operation.name] === undefined ? [] : [right(operations, operation, given(operation))];
  return [step(operations, operation), ...some];
}

/** A request with nothing wrong, about what the sequence made last. */
function right(operations: Operations, operation: Operation, fixed: Partial<Step> = {}): fc.Arbitrary<Step> {
  const path = operation.pathNames.map(ownRef);
  const who = OF_OWNERS.test(operation.template) ? 'owner' : 'member';
  return step(operations, operation, { distortions: [], who, times: 1, query: [], path, ...fixed });
}

/** Each read of what nobody has to make first. */
function tour(operations: Operations): fc.Arbitrary<Step[]> {
  const there = ['integrationSlug', 'asset'];
  const reads = operations.all.filter(({ method, pathNames }) => method === 'GET' && pathNames.every((name) => there.includes(name))); // prettier-ignore
  return steps(...reads.map((one) => step(operations, one, { distortions: [], who: 'owner', times: 1, query: [] })));
}

/** A task that asks, a question or for an approval, is answered in one way or another, and goes on. */
function dialogue(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  const interactionId = ownRef('interactionId');
  const approval = { content: COMMAND, approvals: 'writes' };
  const dialogues = [
    [{ content: QUESTION }, { interactionId, content: 'Ada' }],
    [{ content: CHOICE }, { interactionId, optionIds: ['a'] }],
    [approval, { interactionId, decision: 'approve', remember: 'task' }],
    [approval, { interactionId, decision: 'deny', reason: 'No.' }],
  ];
  const answer = 'POST /v1/tasks/{taskId}/interaction';
  const other = [answer, 'POST /v1/tasks/{taskId}/messages', 'POST /v1/tasks/{taskId}/pause', 'POST /v1/tasks/{taskId}/resume', 'POST /v1/tasks/{taskId}/cancel'].map((name) => step(operations, operations.named(name))); // prettier-ignore
  return fc
    .constantFrom(...dialogues)
    .chain(([task, body]) =>
      steps(
        at('POST /v1/tasks', { body: task }),
        at('GET /v1/tasks/{taskId}', { settle: true }),
        fc.array(fc.oneof(...other), { maxLength: 2 }),
        at(answer, { body }),
        at('GET /v1/tasks/{taskId}/messages', { settle: true }),
      ),
    );
}

/** A task whose checks have run, and one that is paused and goes on. */
function checked(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  const made = at('POST /v1/tasks', { body: { content: 'Begin.', checks: [{ name: 'one', command: 'cat nothing' }], maxRepairs: 0 } }); // prettier-ignore
  const ended = at('GET /v1/tasks/{taskId}', { settle: true });
  const reads = ['checks', 'proof'].map((what) => at(`GET /v1/tasks/{taskId}/${what}`));
  return steps(made, ended, ...reads, at('POST /v1/tasks/{taskId}/checks'), ended, made, at('POST /v1/tasks/{taskId}/pause', { body: {} }), at('POST /v1/tasks/{taskId}/resume')); // prettier-ignore
}

/** An upload that becomes the file of a task, read in every way. */
function attachment(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  const file = { path: [ownRef('fileId')] };
  const read = ['GET /v1/files/{fileId}/content', 'GET /v1/files/{fileId}'].map((name) => step(operations, operations.named(name), file)); // prettier-ignore
  const attachments = [{ uploadId: ownRef('uploadId') }];
  return steps(
    at('POST /v1/uploads'),
    at('POST /v1/tasks', { body: { content: 'See the file.', attachments } }),
    at('GET /v1/tasks/{taskId}/files'),
    at('GET /v1/tasks/{taskId}/snapshots'),
    at('GET /v1/tasks/{taskId}/workdir'),
    fc.array(fc.oneof(...read), { maxLength: 4 }),
    at('POST /v1/tasks/{taskId}/messages', { body: { attachments } }),
  );
}

/** The last of several messages that were just sent: those before it have a turn each first. */
function withdrawal(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  const send = at('POST /v1/tasks/{taskId}/messages', { body: { content: 'Go on.' } });
  const end = at('DELETE /v1/tasks/{taskId}/messages/{messageId}');
  return steps(at('POST /v1/tasks', { body: { content: 'Begin.' } }), send, send, send, send, end, end);
}

/** A fork of a task with a file, and one of the fork, read and deleted beside what they are forks of. */
function fork(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  const ended = at('GET /v1/tasks/{taskId}', { settle: true });
  const attachments = [{ uploadId: ownRef('uploadId') }];
  const make = ['POST /v1/tasks/{taskId}/fork', 'DELETE /v1/tasks/{taskId}'].map((name) => step(operations, operations.named(name))); // prettier-ignore
  return steps(
    at('POST /v1/uploads'),
    at('POST /v1/tasks', { body: { content: 'See the file.', attachments } }),
    ended,
    at('POST /v1/tasks/{taskId}/fork', { body: {} }),
    at('POST /v1/tasks/{taskId}/fork', { body: { turn: 1, content: 'Another way.' } }),
    ended,
    fc.array(fc.oneof(...make), { maxLength: 3 }),
    at('GET /v1/tasks/{taskId}/files'),
    at('GET /v1/tasks/{taskId}/messages'),
    at('DELETE /v1/tasks/{taskId}'),
  );
}

/** A file that a task has made, and its events. */
function folder(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  return steps(
    at('POST /v1/tasks', { body: { content: '```sh\necho here > here\n```' } }),
    at('GET /v1/tasks/{taskId}', { settle: true }),
    at('GET /v1/tasks/{taskId}/workdir/content', { query: [['path', 'here']] }),
    at('GET /v1/tasks/{taskId}/events'),
  );
}

/** A file whose project is deleted. */
function leftOver(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string) => right(operations, operations.named(name));
  const file = '/v1/projects/{projectId}/files';
  return steps(at('POST /v1/projects'), at(`POST ${file}`), at('DELETE /v1/projects/{projectId}'), at('GET /v1/files'), at('DELETE /v1/files/{fileId}'));
} // prettier-ignore

/** A delivery of a webhook, looked at and made again. */
function delivery(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string) => right(operations, operations.named(name));
  const webhook = '/v1/webhooks/{webhookId}';
  const one = `${webhook}/deliveries/{deliveryId}`;
  return steps(at('POST /v1/webhooks'), at(`POST ${webhook}/test`), at(`GET ${one}`), at(`POST ${one}/redeliver`), at(`DELETE ${webhook}`));
} // prettier-ignore

/** What a person is told: a browser is added, tried and removed. */
function notices(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string, fixed: Partial<Step> = {}) => right(operations, operations.named(name), fixed);
  const query: Step['query'] = [['endpoint', BROWSER.endpoint]];
  return steps(
    at('PUT /v1/notices', { body: { needsYou: ['push'], quiet: null } }),
    at('POST /v1/notices/push', { body: BROWSER }),
    at('POST /v1/notices/test', { body: { channel: 'push' } }),
    at('GET /v1/notices'),
    at('DELETE /v1/notices/push', { query }),
  );
}

function ownRef(name: string): Ref {
  return { $id: name, from: 'own', nth: 0 };
}

function steps(...parts: fc.Arbitrary<Step | Step[]>[]): fc.Arbitrary<Step[]> {
  return fc.tuple(...parts).map((found) => found.flat());
}
