// Values that a schema of the document allows.
import fc from 'fast-check';
import type { Operations, Schema } from './operations.js';

/** Stands in a body, a path or a query for an id that is known only when the request is sent. */
export interface Ref {
  /** `taskId` */
  $id: string;
  /** Made in this sequence; by the set-up; in another workspace; an id that nothing has; something that is no id. */
  from: 'own' | 'shared' | 'foreign' | 'unknown' | 'odd';
  /** Which one, the newest first. */
  nth: number;
}

export function isRef(value: unknown): value is Ref {
  return typeof value === 'object' && value !== null && '$id' in value;
}

/** Mostly what is there. */
export function ref(name: string): fc.Arbitrary<Ref> {
  const from = fc.oneof(
    { weight: 12, arbitrary: fc.constant('own' as const) },
    { weight: 5, arbitrary: fc.constant('shared' as const) },
    { weight: 1, arbitrary: fc.constantFrom('foreign' as const, 'unknown' as const, 'odd' as const) },
  );
  return fc.record({ $id: fc.constant(name), from, nth: fc.nat(3) });
}

const fence = (word: string, text: string) => `\`\`\`${word}\n${text}\n\`\`\``;
export const QUESTION = fence('ask', 'What is it called?');
export const CHOICE = fence('ask', 'Which one?\n\n- a: The first\n- b: The second');
/** With approvals it asks first. */
export const COMMAND = fence('bash', 'true');
const WORK = [fence('file path=a.txt', 'A'), fence('bash', 'cat a.txt'), fence('publish path=a.txt', '')].join('\n\n');
/** Of the code host that stands in for github.com. */
export const HOST_TOKEN = 'a-token-of-a-test';

/** Of a secret. */
export const NEW_VALUE = { value: 'a-value-of-a-test' };
const BINDINGS = [{ host: 'github.com', place: { header: 'Authorization' } }];

/** As a browser gives it. */
export const BROWSER = {
  endpoint: 'https://push.example/send/7f1c',
  keys: {
    p256dh: 'BOIzmrcNx7HmPNp6V4ea5VzuL31OEIdKpX6BfefSzYKFryNja4rR7bRbLL4bmB4GUpkM9EOWhdkv9tnHhUzEHJ4',
    auth: '0T_NOy8JXym0Ng3XdSmwww',
  },
};

/** What the document cannot say of a field: whose id it is, and which text makes the runbook model do something. */
const HINTS: Record<string, () => fc.Arbitrary<unknown>> = {
  projectId: () => ref('projectId'),
  uploadId: () => ref('uploadId'),
  interactionId: () => ref('interactionId'),
  after: () => ref('messageId'),
  cursor: () => ref('cursor'),
  model: () => fc.constant('runbook'),
  // The service under test knows none.
  mcpServers: () => fc.constant([]),
  // Of tasks that seldom have more.
  turn: () => fc.constantFrom(1, 2, 2_147_483_647),
  cron: () => fc.constantFrom('0 0 1 1 *', '30 9 * * MON-FRI'),
  timezone: () => fc.constantFrom('UTC', 'Europe/Berlin'),
  createdAfter: () => fc.constantFrom('2026-01-01', '2026-11-01T09:00:00Z'),
  createdBefore: () => fc.constantFrom('2027-01-01', '2099-11-01T09:00:00.000+02:00'),
  since: () => fc.constantFrom('2026-01-01', '2026-11-01T09:00:00Z'),
  resumeAt: () => fc.constantFrom('2099-11-01', '2099-11-01T09:00:00Z'),
  until: () => fc.constantFrom('2027-01-01', '2099-11-01T09:00:00.000+02:00'),
  // One that a text fits, and one that none does.
  outputSchema: () => fc.constantFrom({}, { type: 'object', properties: { n: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'integer' } } }), // prettier-ignore
  url: () => fc.uuid().map((id) => `https://hooks.example/${id}`),
  types: () => fc.subarray(['task.completed', 'task.*', 'automation.*'], { minLength: 1 }),
  type: () => fc.constantFrom('task.completed', 'task.deleted', 'webhook.test'),
  slug: () => fc.uuid().map((id) => `e-${id}`),
  // One that is there is seldom at hand, and without it nothing is made.
  agent: () => fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: ref('slug') }),
  environment: () => fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: ref('slug') }),
  // There are none, and without it nothing is made.
  skills: () =>
    fc.oneof({ weight: 8, arbitrary: fc.constantFrom(null, []) }, { weight: 1, arbitrary: fc.constant(['not-there']) }),
  allowHosts: () => fc.constantFrom([], ['github.com'], ['github.com:443']),
  tools: () => fc.constant({}),
  refresh: () => fc.constantFrom('never', 'daily', { onLockfile: ['package-lock.json'] }),
  resources: () => fc.constantFrom({}, { memoryBytes: 2 ** 27, diskBytes: null, wallClockSeconds: 60 }),
  integrationSlug: () => fc.constantFrom('github', 'webhook'),
  // Of a key that may have all of them.
  scopes: () => fc.subarray(['tasks:read', 'tasks:write', 'billing:read'], { minLength: 1 }),
  email: () => fc.uuid().map((id) => `${id}@acme.example`),
  transferTo: () => ref('memberId'),
  host: () => fc.constant('github.com'),
  endpoint: () => fc.uuid().map((id) => `https://push.example/${id}`),
  hookUrl: () => fc.uuid().map((id) => `https://chat.example/${id}`),
  keys: () => fc.constant(BROWSER.keys),
  value: () => fc.constant(NEW_VALUE.value),
  bindings: () => fc.constantFrom(BINDINGS, [{ host: 'github.com', methods: ['GET'], paths: ['/acme/**'], place: { query: 'key' } }]), // prettier-ignore
  optionIds: () => fc.subarray(['a', 'b'], { minLength: 1 }),
  content: () =>
    fc.oneof(
      { weight: 60, arbitrary: text({ pattern: '\\S', maxLength: 200_000 }) },
      { weight: 20, arbitrary: fc.constantFrom(QUESTION, CHOICE, `${QUESTION}\n${CHOICE}`) },
      // Runs in the sandbox: some hundred times dearer than a text.
      { weight: 1, arbitrary: fc.constant(WORK) },
    ),
};

/** Any value that the schema allows. */
export function allowed(operations: Operations, given: Schema, name = ''): fc.Arbitrary<unknown> {
  const schema = operations.resolve(given);
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const hint = HINTS[name];
  if (hint !== undefined) {
    const absent = types.includes('null') ? [{ weight: 1, arbitrary: fc.constant(null) }] : [];
    return fc.oneof({ weight: 3, arbitrary: hint() }, ...absent);
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.properties !== undefined) return record(operations, schema);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => allowed(operations, one)));
  // A schema without a type takes any value.
  if (types.length === 0) return fc.jsonValue({ maxDepth: 3 });
  return fc.oneof(...types.map((type) => ofType(operations, schema, type)));
}

function ofType(operations: Operations, schema: Schema, type: string): fc.Arbitrary<unknown> {
  const { minimum = -1e9, maximum = 1e9, minItems = 0, maxItems = 5, items = {}, additionalProperties } = schema;
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: Math.min(maximum, 1e9) }));
    case 'array':
      return fc.array(allowed(operations, items), { minLength: minItems, maxLength: Math.min(maxItems, 4) });
    case 'object': {
      const key = text(schema.propertyNames ?? {}).filter((one) => !['__proto__', 'constructor', 'prototype'].includes(one)); // prettier-ignore
      const value = typeof additionalProperties === 'object' ? text(additionalProperties) : fc.string();
      return fc.dictionary(key, value, { maxKeys: Math.min(schema.maxProperties ?? 4, 4) });
    }
    default:
      return text(schema);
  }
}

/** Each alternative of `anyOf` only adds to what is required. */
function record(operations: Operations, { properties = {}, required = [], anyOf = [{}] }: Schema) {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, allowed(operations, schema, name)]),
  );
  const alternatives = anyOf.map((one) => fc.record(fields, { requiredKeys: [...required, ...(one.required ?? [])] }));
  return fc.oneof(...alternatives);
}

/** Text of which PostgreSQL and JSON can take every character, in all lengths that are allowed. */
function text({ minLength = 0, maxLength = 300, pattern, format }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.date({ min: new Date('2100-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }).map((date) => date.toISOString()); // prettier-ignore
  if (format === 'uuid') return fc.uuid();
  if (pattern !== undefined && pattern !== '\\S') {
    return fc.stringMatching(new RegExp(pattern, 'u')).filter((made) => [...made].length <= maxLength);
  }
  const short = { minLength, maxLength: Math.min(maxLength, 40) };
  const full = fc.constantFrom('a', 'é', '😀', '"').map((letter) => letter.repeat(maxLength));
  return fc
    .oneof(
      { weight: 200, arbitrary: fc.string({ ...short, unit: 'grapheme-ascii' }) },
      { weight: 100, arbitrary: fc.string({ ...short, unit: 'binary' }) },
      { weight: 50, arbitrary: fc.string({ ...short, unit: 'grapheme' }) },
      { weight: maxLength > 10_000 ? 1 : 20, arbitrary: full },
    )
    .filter((one) => !one.includes('\0') && (pattern === undefined || /\S/.test(one)));
}
