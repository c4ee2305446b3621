import { readFile } from 'node:fs/promises';
import { STATUS_REASON_CODES } from '../../src/resources/tasks/task-status.js';
import { bootApp, useService } from '../harness/app.js';
import { Client } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { NotesModule } from './notes.module.js';

/** Every schema of a document that is an object with named properties, with where it stands. */
function objects(node: unknown, at = ''): [string, Record<string, unknown>][] {
  if (typeof node !== 'object' || node === null) return [];
  const own = node as Record<string, unknown>;
  const found = Object.entries(own).flatMap(([key, value]) => objects(value, `${at}/${key}`));
  return own['type'] === 'object' && typeof own['properties'] === 'object' ? [[at, own], ...found] : found;
}

/** The named schemas that a part of the document refers to, directly or through others. */
function reachedFrom(document: Document, from: unknown): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const visit = (node: unknown) => {
    for (const [, kind = '', name = ''] of JSON.stringify(node).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)) {
      if (`${kind}/${name}` in found) continue;
      found[`${kind}/${name}`] = document.components[kind]?.[name];
      visit(found[`${kind}/${name}`]);
    }
  };
  visit(from);
  return found;
}

interface Described {
  $ref?: string;
  anyOf?: { $ref?: string }[];
  description?: string;
}

describe('The OpenAPI document and its page (reference §2)', () => {
  let client: Client;
  let document: Document & Record<string, unknown>;

  const service = useService(() =>
    bootApp({ env: { PUBLIC_URL: 'https://mill.example.org/' }, imports: [NotesModule] }),
  );
  beforeAll(async () => {
    client = new Client(service.url);
    document = (await client.get<typeof document>('/openapi.json')).body;
  });

  it('is OpenAPI 3.1, says that the service is in beta, and where it is', () => {
    expect(document['openapi']).toBe('3.1.0');
    expect(document['info']).toMatchObject({ title: 'Millwright', description: expect.stringContaining('**beta**') });
    expect(document['servers']).toEqual([{ url: 'https://mill.example.org' }]);
  });

  it('shows tasks first, and what foreign modules bring before the service itself', () => {
    const names = (document['tags'] as { name: string }[]).map(({ name }) => name);
    expect(names[0]).toBe('tasks');
    expect(names.slice(-2).sort()).toEqual(['notes', 'service']);
    expect(names.at(-1)).toBe('service');
  });

  it('has the routes of foreign modules too', () => {
    const { security, responses } = document.paths['/v1/notes']?.['post'] ?? {};
    expect(security).toEqual([{ personalApiKey: [] }, { serviceId: ['tasks:write'] }]);
    expect(Object.keys(responses ?? {})).toContain('201');
  });

  it('declares two kinds of credentials, both bearer', () => {
    const { personalApiKey, serviceId } = document.components['securitySchemes'] ?? {};
    expect([personalApiKey, serviceId]).toMatchObject([
      { type: 'http', scheme: 'bearer' },
      { type: 'http', scheme: 'bearer' },
    ]);
  });

  it('closes every object: nothing beyond what is written may come or be sent', () => {
    const open = objects(document.components['schemas']).filter(
      ([, schema]) => schema['additionalProperties'] !== false,
    );
    expect(open.map(([at]) => at)).toEqual([]);
  });

  /** What only a configuration brings: without it answers are what they were before there was such a thing. */
  const BROUGHT = ['/schemas/Readiness/properties/checks signIn', '/schemas/BillingSummary offers'];

  it('every documented key of an answer is always there, but for what a configuration brings: "nothing" is null, not absent', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const answers = objects(reachedFrom(document, operations.map(({ responses }) => responses))); // prettier-ignore
    expect(answers.length).toBeGreaterThan(30);
    for (const [at, { properties = {}, required = [] }] of answers) {
      const always = Object.keys(properties as object).filter((key) => !BROUGHT.includes(`${at} ${key}`));
      expect([at, [...(required as string[])].sort()]).toEqual([at, always.sort()]);
    }
  });

  it('keys and parameters are in camelCase, but for the names of the rate-limit policies', () => {
    const keys = objects(document.components['schemas']).flatMap(([, { properties = {} }]) =>
      Object.keys(properties as object),
    );
    const parameters = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap((operation) => operation.parameters ?? []);
    const names = [...keys, ...parameters.flatMap(({ name, in: place }) => (place === 'header' ? [] : [name]))];
    expect(names.length).toBeGreaterThan(100);
    const policies = ['metadata_read', 'resource_read', 'resource_write', 'task_execution', 'file_upload'];
    expect(names.filter((name) => !policies.includes(name) && !/^[a-z]+([A-Z0-9][a-z0-9]*)*$/.test(name))).toEqual([]);
  });

  it('refers to nothing that is not there, and holds nothing that is not referred to', () => {
    const text = JSON.stringify(document);
    const wanted = new Set([...text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, name]) => name));
    const there = Object.entries(document.components).filter(([kind]) => kind !== 'securitySchemes').flatMap(([kind, all]) => Object.keys(all).map((name) => `${kind}/${name}`)); // prettier-ignore
    expect([...wanted].sort()).toEqual(there.sort());
  });

  it('names every error that any operation may return, with its codes', () => {
    for (const [path, operations] of Object.entries(document.paths).filter(([path]) => path.startsWith('/v1/'))) {
      for (const { responses } of Object.values(operations)) {
        const statuses = ['400', '401', '402', '403', '404', '409', '429', '500'];
        expect([path, Object.keys(responses)]).toEqual([path, expect.arrayContaining(statuses)]);
      }
    }
    const conflict = JSON.stringify(document.components['responses']?.['Error409']);
    expect(conflict).toContain('idempotency_key_reused');
    expect(conflict).not.toContain('missing_scope');
  });

  it('describes bodies and queries as they are checked', () => {
    const { CreateTask } = document.components['schemas'] ?? {};
    expect(CreateTask).toMatchObject({
      properties: {
        content: { type: 'string', maxLength: 200_000 },
        attachments: { type: 'array', minItems: 1, maxItems: 20, items: { $ref: '#/components/schemas/Attachment' } },
        metadata: { maxProperties: 16, additionalProperties: { type: 'string', maxLength: 512 } },
      },
    });
    const limit = document.paths['/v1/tasks']?.['get']?.parameters?.find(({ name }) => name === 'limit');
    expect(limit).toMatchObject({ in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } });
  });

  it('enumerates the codes of statusReason, all of them in the reference, and leaves the list open', async () => {
    const { code } = (document.components['schemas']?.['StatusReason'] as { properties: { code: { anyOf: object[] } } })
      .properties;
    expect(code.anyOf).toEqual([{ type: 'string', enum: [...STATUS_REASON_CODES] }, { type: 'string' }]);
    const reference = await readFile(new URL('../../docs/reference.md', import.meta.url), 'utf8');
    const [, section = ''] =
      /`statusReason\.code` is one of these(.*?)An engine of an extension/s.exec(reference) ?? [];
    const named = [...section.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
    const others = ['queued', 'budget', 'retryable', 'runbook'];
    expect(named.filter((name) => !others.includes(name)).sort()).toEqual([...STATUS_REASON_CODES].sort());
  });

  it('describes every field that a task has, and all that a client may send', () => {
    const { schemas = {} } = document.components;
    const described = ({ $ref, anyOf = [], description }: Described): boolean =>
      description !== undefined || [$ref, ...anyOf.map((one) => one.$ref)].some((ref) => said(ref)); // prettier-ignore
    const said = (ref?: string) => ref !== undefined && (schemas[ref.split('/').at(-1) ?? ''] as Described).description !== undefined; // prettier-ignore
    const sent = ['CreateTask', 'ChangeTask', 'SendMessage', 'Answer', 'Budget', 'Attachment', 'CreateProject', 'ChangeProject']; // prettier-ignore
    for (const name of ['Task', 'TaskBudget', 'TaskUsage', 'StatusReason', ...sent]) {
      const { properties } = schemas[name] as { properties: Record<string, Described> };
      const bare = Object.entries(properties).filter(([, schema]) => !described(schema));
      expect([name, bare.map(([field]) => field)]).toEqual([name, []]);
    }
  });

  it('is shown by a page that loads nothing from elsewhere and has no place for a key', async () => {
    const page = await client.get('/docs');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    expect(loaded.length).toBeGreaterThanOrEqual(4);
    for (const url of loaded) {
      expect(url).toMatch(/^\/(docs\/|openapi)/);
      expect([url, (await client.get(url)).status]).toEqual([url, 200]);
    }
    const script = (await client.get('/docs/page.js')).text;
    expect(script).toContain('supportedSubmitMethods: []');
    expect(script).toContain('authorizeBtn: nothing');
    expect(script).not.toMatch(/https?:/);
    // The colours follow the reader's system; the style sheet has both.
    expect(script).toContain("classList.toggle('dark-mode'");
    expect((await client.get('/docs/swagger-ui.css')).text).toContain('html.dark-mode .swagger-ui');
  });

  it('has no other files', async () => {
    for (const name of ['index.html', 'package.json', '..%2fpackage.json', 'swagger-ui.js']) {
      expect([name, (await client.get(`/docs/${name}`)).status]).toEqual([name, 404]);
    }
  });
});
