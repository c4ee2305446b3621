import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readdirSync } from 'node:fs';
import { CLIENT_VERBS } from '../../src/operator/verbs/client-verbs.js';
import { createClient } from '../fixtures/generated-clients/hey-api/client/index.js';
import { tasksList } from '../fixtures/generated-clients/hey-api/sdk.gen.js';
import { getTasksListUrl } from '../fixtures/generated-clients/orval.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createTask } from '../harness/tasks.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const service = useService(bootApp);

// Generated code has its types only where it was generated for.
const listTasks = tasksList as (options: object) => Promise<unknown>;
const newClient = createClient as (options: object) => object;

/** What a script makes of a document, in a process of its own: a compiler takes 100 MB. */
function madeOf(document: string, script: string) {
  const program = `
    const { schemaText } = await import('${new URL(`../../scripts/${script}`, import.meta.url).href}');
    const text = await new Response(process.stdin).text();
    process.stdout.write(await schemaText(JSON.parse(text)));`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: ROOT,
    input: document,
    encoding: 'utf8',
    maxBuffer: 16 * 1024 * 1024,
  });
}

interface Described {
  paths: Record<string, Record<string, { parameters?: { in: string; schema: { type?: string } }[] }>>;
}

describe('The packages for clients (reference §19)', () => {
  it('have the types that the document of this service gives: else run scripts/sdk-types.mjs', async () => {
    const document = await (await fetch(`${service.url}/openapi.json`)).text();
    const made = madeOf(document, 'sdk-types.mjs');
    expect(made.stderr).toBe('');
    // A record that takes anything is one that the script could not read.
    expect(made.stdout).not.toMatch(/^ {8}\w+: unknown;$/m);
    expect(made.stdout === readFileSync(`${ROOT}/packages/sdk/src/schema.ts`, 'utf8')).toBe(true);
  });

  it('have them in Python too: else run scripts/python-types.mjs', async () => {
    const made = madeOf(await (await fetch(`${service.url}/openapi.json`)).text(), 'python-types.mjs');
    expect(made.stderr).toBe('');
    expect(made.stdout === readFileSync(`${ROOT}/packages/python/src/millwright/_schema.py`, 'utf8')).toBe(true);
  });

  // test/fixtures/generated-clients/README.md tells how they were made.
  it('have company: clients that orval and @hey-api/openapi-ts make of the document send what the service takes', async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Described;
    const fixed = JSON.parse(readFileSync(`${ROOT}/test/fixtures/generated-clients/parameters.json`, 'utf8')) as object;
    expect(document.paths['/v1/tasks']?.['get']?.parameters).toEqual(fixed);
    const { client, key } = await makeMember(service);
    const { id } = await createTask(client, {
      content: 'x',
      tags: ['a b'],
      metadata: { ticket: 'MILL-7', 'a.b': 'x&y=z' },
    });
    await createTask(client, { content: 'x', tags: ['a b'], metadata: { ticket: 'MILL-7' } });
    const query = {
      metadata: JSON.stringify({ ticket: 'MILL-7', 'a.b': 'x&y=z' }),
      tag: 'a b',
      status: 'queued',
      limit: 5,
    };
    const headers = { Authorization: `Bearer ${key.secret}` };
    const heyApi = (await listTasks({ client: newClient({ baseUrl: service.url }), query, headers })) as {
      data: unknown;
    };
    const orval = await (await fetch(service.url + getTasksListUrl(query), { headers })).json();
    for (const answer of [heyApi.data, orval]) expect(answer).toMatchObject({ tasks: [{ id }], nextCursor: null });
  });

  it('have it easy: a parameter of a query is a text, a number or a boolean, which all generators send as it is', async () => {
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Described;
    const all = Object.values(paths).flatMap((operations) => Object.values(operations));
    const queries = all.flatMap(({ parameters = [] }) => parameters.filter((one) => one.in === 'query'));
    expect(queries.length).toBeGreaterThan(20);
    const odd = queries.filter(
      (one) => !['string', 'integer', 'boolean'].includes(one.schema.type ?? '') || 'style' in one,
    );
    expect(odd).toEqual([]);
  });

  it('are of the version of the service', () => {
    const about = (folder: string) =>
      JSON.parse(readFileSync(`${ROOT}/${folder}/package.json`, 'utf8')) as {
        version: string;
        dependencies: Record<string, string>;
      };
    const { version } = about('.');
    expect([about('packages/sdk').version, about('packages/cli').version]).toEqual([version, version]);
    expect(about('packages/cli').dependencies).toEqual({ '@millwright/sdk': version });
    expect(Object.keys(about('packages/sdk').dependencies)).toEqual(['eventsource-parser']);
    expect(readdirSync(`${ROOT}/packages`).sort()).toEqual(['cli', 'python', 'sdk']);
    const python = readFileSync(`${ROOT}/packages/python/pyproject.toml`, 'utf8');
    expect(/^version = "(.*)"$/m.exec(python)?.[1]).toBe(version);
    expect(/^dependencies = \[(.*)\]$/m.exec(python)?.[1]).toMatch(/^"httpx[^",]*(,<[^",]*)?"$/);
  });

  it('have the verbs that `millwright` hands over, and no other', async () => {
    const { VERBS } = await import('../../packages/cli/src/verbs.js');
    expect([...CLIENT_VERBS].sort()).toEqual([...Object.keys(VERBS), 'webhooks', 'skill'].sort());
  });
});
