import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { newId } from '../../src/platform/database/ids.js';
import { useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import type { Document } from '../harness/contract.js';
import { automationOn, connect, github } from '../harness/hooks.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { longestSpan, watchedSpans } from '../harness/spans.js';
import { createTask, finished } from '../harness/tasks.js';

const MIB = 1024 * 1024;
/** Milliseconds of CPU time in which a machine of two quiet cores reads `FLOOR_TEXT`. */
const FLOOR_MS = 40;
const FLOOR_TEXT = JSON.stringify(Array.from({ length: 200_000 }, (_, n) => ({ n, text: 'x' })));
/**
 * Milliseconds of the main thread's own CPU time between two turns of the event loop (docs/operating.md, "Walls"). A loaded machine
 * counts more of them for the same work: so many more as for a text of the test's own.
 */
const LONGEST = 100 * Math.max(1, floor() / FLOOR_MS);

/** As often as a MiB holds it, beside what stands around. */
const fill = (piece: string, separator = '', most = Infinity) => {
  const times = Math.floor((MIB - 300) / Buffer.byteLength(piece + separator));
  return Array(Math.min(times, most)).fill(piece).join(separator);
};
const numbered = (count: number, value: string) => Array.from({ length: count }, (_, n) => `"${n}":${value}`).join(',');

/** Values of a field, as JSON: what makes checks, patterns, walks and answers long. */
const VALUES: Record<string, string> = {
  'a long text': `"${fill('a')}"`,
  'white space': `"${fill(' ')}x"`,
  'line ends': `"${fill('\\n')}"`,
  'pairs of surrogates': `"${fill('😀')}"`,
  'escaped pairs of surrogates': `"${fill('\\ud83d\\ude00')}"`,
  'escaped letters': `"${fill('\\u0061')}"`,
  'escaped quotes': `"${fill('\\"')}"`,
  'variation selectors': `"${fill('a\ufe0f')}"`,
  'control characters': `"${fill('\\u0007')}"`,
  digits: fill('1'),
  'a long list of objects': `[${fill('{}', ',')}]`,
  'a long list of numbers': `[${fill('1', ',')}]`,
  'a list of objects as long as a body may have': `[${fill('{}', ',', 9_900)}]`,
  'a list of attachments as long as a body may have': `[${fill('{"uploadId":"a"}', ',', 3_300)}]`,
  'a list of texts as long as a body may have': `[${fill('"a"', ',', 9_900)}]`,
  'lists in lists': `[${fill(`${'['.repeat(20)}1${']'.repeat(20)}`, ',', 470)}]`,
  'a wide object': `{${numbered(100_000, '1')}}`,
  'an object as wide as a body may have': `{${numbered(4_900, '1')}}`,
  'a deep list': '['.repeat(400_000) + ']'.repeat(400_000),
  'a long key': `{"${fill('k')}":1}`,
};
/** Whole bodies. */
const BODIES: Record<string, string> = {
  'a key given twice, again and again': `{${fill('"a":1', ',')}}`,
  'unknown fields as many as a body may have': `{${numbered(4_990, '1')}}`,
  'unknown fields': `{${numbered(100_000, '1')}}`,
  'an unknown field with a long name': `{"${fill('k')}":1}`,
  'broken JSON of quotes': `{${fill('"\\"', '')}`,
  'broken JSON of backslashes': `{"${fill('\\')}`,
  'broken JSON of commas': `{${fill('"a",')}`,
  'broken JSON of brackets': fill('{}[]'),
  'white space': `${fill(' ')}{}`,
};

describe('The main thread of a service (docs/operating.md, "Walls")', () => {
  const folder = temporaryFolder();
  const socket = join(folder.path, 'spans.sock');
  let client: Client;
  let member: Member;
  let service: ServiceProcess;
  let document: Document;

  const api = useService(undefined);
  beforeAll(async () => {
    member = await makeMember(api);
    service = await ServiceProcess.start({
      DATABASE_URL: api.db.url,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      DATA_DIR: join(folder.path, 'data'),
      SANDBOX: 'none',
      LOG_LEVEL: 'fatal',
      ...watchedSpans(socket),
    });
    client = new Client(service.url, member.key.secret);
    document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  });
  afterAll(async () => {
    await service.end();
    folder.remove();
  });

  /** Of the tries the shortest: a thread that is pushed off its processor finds its caches cold, which is no work of its own. */
  const measured = async (act: () => Promise<unknown>) => {
    let best = Infinity;
    for (let tries = 0; tries < 4 && best > LONGEST; tries++) {
      await longestSpan(socket);
      await act();
      best = Math.min(best, await longestSpan(socket));
    }
    return best;
  };
  const headers = () => ({ 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() });

  it('is kept by no body of at most 1 MiB for more than 100 ms of its own time, on any route', async () => {
    const { id: taskId } = await createTask(client, { content: 'Nothing to do.' });
    await finished(client, taskId);
    const over: string[] = [];
    let worst = { span: 0, name: '' };
    const routes = writing(document);
    expect(routes.length).toBeGreaterThanOrEqual(6);
    for (const { method, template, fields } of routes) {
      const path = template.replace('{taskId}', taskId).replace(/\{\w+\}/g, randomUUID());
      const bodies = { ...BODIES };
      for (const field of fields)
        for (const [name, value] of Object.entries(VALUES)) bodies[`${field}: ${name}`] = `{"${field}":${value}}`;
      for (const [name, raw] of Object.entries(bodies)) {
        expect(Buffer.byteLength(raw)).toBeLessThanOrEqual(MIB);
        const span = await measured(async () => {
          const { status } = await client.request(method, path, { raw, headers: headers() });
          expect([name, status]).not.toEqual([name, 500]);
        });
        if (span > worst.span) worst = { span, name: `${method} ${template}, ${name}` };
        if (span > LONGEST) over.push(`${Math.round(span)} ms: ${method} ${template}, ${name}`);
      }
    }
    process.stderr.write(`The longest span: ${Math.round(worst.span)} ms, ${worst.name}\n`);
    expect(over).toEqual([]);
  }, 300_000);

  /** Of 199,900 characters: what was hard for the reader of a runbook. */
  const long = (piece: string, end = '\n\n```sh\ntrue\n```\n') =>
    piece.repeat(Math.floor((199_900 - end.length) / piece.length)) + end;
  const RUNBOOKS: Record<string, string> = {
    'nested lists': long('- - - - a\n'),
    quotes: long('> ```\na\n', '\n\n~~~sh\ntrue\n~~~\n'),
    'empty lines in lists': `${'- '.repeat(32)}a${long('\n')}`,
    'the word of a fence': `\`\`\`${long('}', 'x\n```\n\n```sh\ntrue\n```\n')}`,
    'many fences': long('~~~zsh\n~~~\n'),
    rules: long('* * * * * * * * * * * * * * a\n'),
  };

  it('nor by a runbook and what it is steered by', async () => {
    const over: string[] = [];
    for (const [name, content] of Object.entries(RUNBOOKS)) {
      const span = await measured(async () => {
        const { id } = await createTask(client, { content: '```sh\nsleep 1\n```' });
        const steer = { content, mode: 'steer' };
        const sent = [1, 2, 3, 4, 5].map(() => client.post(`/v1/tasks/${id}/messages`, steer));
        for (const { status } of await Promise.all(sent)) expect([202, 409]).toContain(status);
        // A text with more quotes in a row than are read is refused, in its words.
        const { status, statusReason } = await finished(client, id);
        if (status !== 'completed') expect([name, statusReason?.code]).toEqual(['quotes', 'runbook_block_failed']);
      });
      process.stderr.write(`${name}: ${Math.round(span)} ms\n`);
      if (span > LONGEST) over.push(`${Math.round(span)} ms: ${name}`);
    }
    expect(over).toEqual([]);
  }, 300_000);

  it('is kept by no delivery of 25 MiB for longer either, verified or not, kept or not', async () => {
    const over: string[] = [];
    for (const kept of [false, true]) {
      const owner = await makeMember(api);
      const { id, path, secret } = await connect(api, owner);
      if (kept) await automationOn(api, owner, id);
      for (const [name, body] of Object.entries(deliveries())) {
        const span = await measured(async () => {
          for (const signer of [secret, 'of somebody else']) {
            const { status } = await client.as(null).request('POST', path, github(signer, { body }));
            expect([name, [200, 400, 401].includes(status)]).toEqual([name, true]);
          }
        });
        process.stderr.write(`${name}${kept ? ', kept' : ''}: ${Math.round(span)} ms\n`);
        if (span > LONGEST) over.push(`${Math.round(span)} ms: ${name}`);
      }
    }
    expect(over).toEqual([]);
  }, 300_000);

  /** A finished task with 100 messages of 200,000 characters, which its next run reads. */
  const longTask = async (piece: string) => {
    const { id } = await createTask(client, { content: 'Nothing to do.' });
    await finished(client, id);
    const [row] = await api.db.query<{ last: number }>(
      `WITH message AS (
         INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, created_by, parts)
         SELECT id, $1, 100 + n, 100 + n, 1, 'user', 'complete', $2,
           jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat($3, 200000 / char_length($3))))
         FROM unnest($4::uuid[]) WITH ORDINALITY one (id, n))
       UPDATE tasks SET last_seq = 300 WHERE id = $1 RETURNING last_seq AS last`,
      [id, member.user.id, piece, Array.from({ length: 100 }, () => newId())],
    );
    expect(row?.last).toBe(300);
    return id;
  };
  const HISTORIES: Record<string, string> = { letters: 'abcd', 'line ends': '\n', 'pairs of surrogates': '😀' };

  it('nor by a history of 100 messages of 200,000 characters, whether it is listed or gone on with', async () => {
    const over: string[] = [];
    const hold = async (name: string, act: () => Promise<unknown>) => {
      const span = await measured(act);
      process.stderr.write(`${name}: ${Math.round(span)} ms\n`);
      if (span > LONGEST) over.push(`${Math.round(span)} ms: ${name}`);
    };
    for (const [name, piece] of Object.entries(HISTORIES)) {
      const id = await longTask(piece);
      for (const order of ['asc', 'desc']) {
        await hold(`${name}, listed ${order}`, async () => {
          const { status } = await client.get(`/v1/tasks/${id}/messages?limit=100&order=${order}`);
          expect(status).toBe(200);
        });
      }
      await hold(`${name}, gone on with`, async () => {
        expect((await client.post(`/v1/tasks/${id}/messages`, { content: 'Go on.' })).status).toBe(202);
        expect((await finished(client, id)).status).toBe('completed');
      });
      // No event tells of the messages that were put there: it must be gone at the end (told-at-the-end.ts).
      expect((await client.delete(`/v1/tasks/${id}`)).status).toBe(200);
    }
    expect(over).toEqual([]);
  }, 300_000);
});

/** Milliseconds, the shortest of five tries. */
function floor(): number {
  const tries = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    JSON.parse(FLOOR_TEXT);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...tries);
}

/** Bodies of 25 MiB. */
function deliveries(): Record<string, string> {
  const most = 25 * MIB;
  const repeated = (piece: string, [begin, end]: [string, string]) =>
    begin + Array(Math.floor((most - 100) / (piece.length + 1))).fill(piece).join(',') + end; // prettier-ignore
  return {
    'a long text': JSON.stringify({ text: 'x'.repeat(most - 100) }),
    'a long list of lists': repeated('[]', ['[', ']']),
    'a long list of objects': repeated('{"a":{"b":1}}', ['[', ']']),
    'a deep list': '['.repeat(most / 2) + ']'.repeat(most / 2),
    'no JSON': 'x'.repeat(most),
  };
}

interface Writing {
  method: string;
  template: string;
  fields: string[];
}

/** The routes that take JSON, with the names of their fields. */
function writing({ paths, components }: Document): Writing[] {
  interface Operation {
    requestBody?: { content: Record<string, { schema: { $ref?: string; properties?: object } } | undefined> };
  }
  return Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([template, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const schema = operation.requestBody?.content['application/json']?.schema;
      if (schema === undefined) return [];
      const named = (components as { schemas: Record<string, { properties?: object }> }).schemas[
        schema.$ref?.split('/').at(-1) ?? ''
      ];
      return [{ method: method.toUpperCase(), template, fields: Object.keys((named ?? schema).properties ?? {}) }];
    }),
  );
}
