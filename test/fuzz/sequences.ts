// Requests that follow each other, as those of somebody who uses a thing.
import fc from 'fast-check';
import { BODIES, given } from './bodies.js';
import type { Operation, Operations } from './operations.js';
import { ownRef, right, type Step, step, steps } from './steps.js';
import { BROWSER, CHOICE, COMMAND, QUESTION } from './values.js';

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
    evaluation(operations),
    protocol(operations),
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

/** Each read of what nobody has to make first. */
function tour(operations: Operations): fc.Arbitrary<Step[]> {
  const there = ['integrationSlug', 'asset'];
  const reads = operations.all.filter(({ method, pathNames }) => method === 'GET' && pathNames.every((name) => there.includes(name))); // prettier-ignore
  return steps(...reads.map((one) => step(operations, one, { distortions: [], who: 'owner', times: 1, query: [] })));
}

/** A task that asks, a question or for an approval, is answered in one way or another, and goes on; another one that asks is cancelled. */
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
  return fc.constantFrom(...dialogues).chain(([task, body]) =>
    steps(
      at('POST /v1/tasks', { body: task }),
      at('GET /v1/tasks/{taskId}', { settle: true }),
      fc.array(fc.oneof(...other), { maxLength: 2 }),
      at(answer, { body }),
      at('GET /v1/tasks/{taskId}/messages', { settle: true }),
      // By chance alone a cancel came to a task under way once in 14,000 requests, and in some runs never.
      at('POST /v1/tasks', { body: task }),
      at('GET /v1/tasks/{taskId}', { settle: true }),
      at('POST /v1/tasks/{taskId}/cancel'),
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

/** A version of an agent, read and tried on a case. */
function evaluation(operations: Operations): fc.Arbitrary<Step[]> {
  const at = (name: string) => right(operations, operations.named(name), given(operations.named(name)));
  const [agent, one] = ['POST /v1/agents', '/v1/agents/{slug}'];
  const made = fc.uuid().chain((id) => right(operations, operations.named(agent), { body: { name: 'Helper', slug: `e-${id}` } }));
  const reads = ['', '/stats', '/versions', '/versions/{version}'].map((what) => at(`GET ${one}${what}`));
  return steps(made, at(`PATCH ${one}`), at(`POST ${one}/evaluate`), at('GET /v1/evaluations/{evaluationId}'), ...reads);
} // prettier-ignore

/** Messages to `/mcp`: methods, and tools with arguments that fit and that do not. */
function protocol(operations: Operations): fc.Arbitrary<Step[]> {
  const taskId = ownRef('taskId');
  const args = fc.constantFrom<object>({}, { taskId }, { content: 'A task.' }, { taskId, content: 'Go on.' }, { taskId, waitSeconds: 1 }, { limit: 0 }, { taskId: [], x: null }); // prettier-ignore
  const tools = ['create_task', 'get_task', 'list_tasks', 'list_messages', 'send_message', 'answer_task', 'cancel_task', 'read_file', 'no_tool']; // prettier-ignore
  const calls = fc.record({ name: fc.constantFrom(...tools), arguments: args });
  const others = fc.constantFrom<[string, object]>(['tools/list', {}], ['resources/read', { uri: 'millwright://files/x' }], ['ping', {}], ['initialize', { protocolVersion: '2025-06-18' }], ['no/method', {}]); // prettier-ignore
  const messages = fc.oneof({ weight: 2, arbitrary: calls.map((params) => ['tools/call', params] as const) }, others);
  const sent = messages.chain(([method, params]) => right(operations, operations.named('POST /mcp'), { body: { jsonrpc: '2.0', id: 1, method, params } })); // prettier-ignore
  return steps(right(operations, operations.named('POST /v1/tasks')), fc.array(sent, { minLength: 1, maxLength: 6 }));
}
