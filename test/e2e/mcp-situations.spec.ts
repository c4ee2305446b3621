// Every tool in every situation that it may be called in: what it answers, charges and puts on record is what its route does.
import { v7 as uuidv7 } from 'uuid';
import { bootApp, useService } from '../harness/app.js';
import type { Member } from '../harness/client.js';
import { CALLERS, compare, type Ids, type Json, sameRecord, Side } from '../harness/mcp-twins.js';

const NONE = uuidv7();
const KEY = 'a-key-of-a-test-0001';
const long = (n: number, text = 'x') => text.repeat(n);

/** Arguments by the things of a workspace; a pair calls with the one and then with the other. */
type Situation = (ids: Ids) => Json | [Json, Json];
interface Subject {
  /** What goes well for who may do it. */
  good: (ids: Ids) => Json;
  /** As the member that has made the things. */
  situations: Situation[];
}

/** Ids that lead to no task, and tasks in all states. */
const tasks = (more: Json = {}): Situation[] => [
  ...(['task', 'ended', 'asking', 'deleted', 'hidden', 'foreign'] as const).map((name): Situation => (ids) => ({ taskId: ids[name], ...more })),
  ...[NONE, 'nonsense', long(200), 'a b', 'ü', '%2e%2e', long(36, '0')].map((taskId): Situation => () => ({ taskId, ...more })),
  ({ task }) => ({ taskId: task.toUpperCase(), ...more }),
  ({ file }) => ({ taskId: file, ...more }),
]; // prettier-ignore
const pages = (more: (ids: Ids) => Json = () => ({})): Situation[] =>
  [{ limit: 1 }, { limit: 10 }, { limit: 0 }, { limit: -1 }, { limit: 101 }, { limit: 1.5 }, { limit: 'x' }, { limit: '2' }, { cursor: 'nonsense' }, { cursor: '' }, { cursor: long(3000) }].map((page): Situation => (ids) => ({ ...more(ids), ...page })); // prettier-ignore
const contents = [{ content: '' }, { content: ' \n' }, { content: 5 }, { content: null }, { content: ['x'] }, { content: {} }, { content: true }, {}, { content: long(300_000) }]; // prettier-ignore
const keyed = (good: (ids: Ids) => Json, other: Json): Situation[] => [
  (ids) => [
    { ...good(ids), idempotencyKey: KEY },
    { ...good(ids), idempotencyKey: KEY },
  ],
  (ids) => [
    { ...good(ids), idempotencyKey: `${KEY}-2` },
    { ...good(ids), ...other, idempotencyKey: `${KEY}-2` },
  ],
  (ids) => ({ ...good(ids), idempotencyKey: '' }),
  (ids) => ({ ...good(ids), idempotencyKey: long(300) }),
  (ids) => ({ ...good(ids), idempotencyKey: 'a b' }),
];

const x = { content: 'x' };
const SUBJECTS: Record<string, Subject> = {
  create_task: {
    good: () => x,
    situations: [
      ...contents.map((one) => () => one),
      ...[{ title: 5 }, { title: '' }, { title: ' ' }, { title: long(201) }, { title: 'a\nb' }, { projectId: NONE }, { projectId: 'x' }, { projectId: 5 }, { projectId: null }].map((one) => () => ({ ...x, ...one })),
      ({ project }) => ({ ...x, projectId: project }),
      ({ hiddenProject }) => ({ ...x, projectId: hiddenProject }),
      ({ foreign }) => ({ ...x, projectId: foreign }),
      ...[{ repository: { url: 'ftp://x' } }, { repository: {} }, { repository: 'x' }, { repository: { url: 'https://a.example/b', colour: 1 } }, { model: 'no-such' }, { model: 5 }, { effort: 'mad' }, { approvals: 'all' }, { approvals: 1 }].map((one) => () => ({ ...x, ...one })),
      ...[{ budget: { maxSteps: 0 } }, { budget: { colour: 1 } }, { budget: 5 }, { budget: { maxSteps: '1' } }, { tags: ['a', 'a'] }, { tags: 'x' }, { tags: [''] }, { tags: Array.from({ length: 40 }, (_, n) => `t${n}`) }, { metadata: { a: 5 } }, { metadata: [] }, { metadata: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'v'])) }].map((one) => () => ({ ...x, ...one })),
      ...[{ outputSchema: [] }, { outputSchema: 'x' }, { outputSchema: { type: 'nonsense' } }, { mcpServers: ['no-such'] }, { mcpServers: 'x' }, { uploadIds: [NONE] }, { uploadIds: ['x'] }, { uploadIds: Array.from({ length: 60 }, () => NONE) }, { colour: 'red' }, { Content: 'x' }].map((one) => () => ({ ...x, ...one })),
      ({ upload }) => ({ ...x, uploadIds: [upload] }),
      ({ upload }) => ({ ...x, uploadIds: [upload] }),
      ({ used }) => ({ ...x, uploadIds: [used] }),
      ...keyed(() => x, { content: 'y' }),
    ],
  },
  send_message: {
    good: ({ task }) => ({ taskId: task, ...x }),
    situations: [
      ...tasks(x),
      ...contents.map((one): Situation => ({ task }) => ({ taskId: task, ...one })),
      ...[{ mode: 'shout' }, { mode: 5 }, { mode: null }, { mode: 'steer' }, { mode: 'queue' }, { uploadIds: [NONE] }, { uploadIds: ['x'] }, { colour: 1 }].map((one): Situation => ({ task }) => ({ taskId: task, ...x, ...one })),
      ...keyed(({ task }) => ({ taskId: task, ...x }), { content: 'y' }),
    ],
  },
  answer_task: {
    good: ({ asking, interaction }) => ({ taskId: asking, interactionId: interaction, ...x }),
    situations: [
      ...tasks({ interactionId: NONE, ...x }),
      ...[{ interactionId: NONE, ...x }, { interactionId: 5, ...x }, { interactionId: null, ...x }, { interactionId: 'x', ...x }, x, { interactionId: '', ...x }].map((one): Situation => ({ asking }) => ({ taskId: asking, ...one })),
      ...[{ content: '' }, { content: 5 }, { content: long(300_000) }, { optionIds: ['a'] }, { optionIds: 'a' }, { optionIds: [] }, { decision: 'approve' }, { decision: 'maybe' }, { decision: 'approve', ...x }, { ...x, reason: 'r' }, { ...x, reason: 5 }, { ...x, remember: 'task' }, { ...x, remember: 'ever' }, { ...x, colour: 1 }].map((one): Situation => ({ asking, interaction }) => ({ taskId: asking, interactionId: interaction, ...one })),
      ...keyed(({ asking, interaction }) => ({ taskId: asking, interactionId: interaction, ...x }), { content: 'y' }),
    ],
  },
  cancel_task: { good: ({ task }) => ({ taskId: task }), situations: [...tasks(), ...tasks()] },
  run_automation: {
    good: ({ automation }) => ({ automationId: automation }),
    situations: [
      ...[NONE, 'nonsense', long(200), 'ü', 'a b', long(36, '0'), '%2e%2e', 'x%00', '0', '-'].map((automationId): Situation => () => ({ automationId })),
      ...(['automation', 'task', 'project', 'file', 'hidden', 'foreign'] as const).map((name): Situation => (ids) => ({ automationId: ids[name] })),
      ({ automation }) => ({ automationId: automation.toUpperCase() }),
      ...keyed(({ automation }) => ({ automationId: automation }), {}),
    ],
  },
  upload_file: {
    good: () => ({ name: 'a.txt', text: 'größer' }),
    situations: [
      ...[' ', '.', '..', 'a/b.txt', '/etc/passwd', '..\\x', long(255), long(256), long(300, 'ü'), 'a\nb', 'ü 🎉.md', 'no extension', '.hidden', 'a.html', 'a.png', 'A.PDF', ' a ', 'a;b="c".txt'].map((name): Situation => () => ({ name, text: 'x' })),
      ...['', 'x', '<html>', '{"a":1}', long(100_000)].map((text): Situation => () => ({ name: 'a.json', text })),
      ...['', 'AA==', 'iVBORw0KGgo=', Buffer.alloc(100_000, 7).toString('base64')].map((base64): Situation => () => ({ name: 'a.bin', base64 })),
    ],
  },
  get_task: { good: ({ task }) => ({ taskId: task }), situations: tasks() },
  list_messages: {
    good: ({ task }) => ({ taskId: task }),
    situations: [
      ...tasks(),
      ...pages(({ task }) => ({ taskId: task })),
      ...[{ order: 'up' }, { order: 'desc' }, { after: NONE }, { after: 'x' }, { after: '' }].map((one): Situation => ({ task }) => ({ taskId: task, ...one })),
    ],
  },
  list_files: { good: ({ ended }) => ({ taskId: ended }), situations: [...tasks(), ...pages(({ ended }) => ({ taskId: ended }))] },
  list_tasks: {
    good: () => ({}),
    situations: [
      ...pages(),
      ...[{ status: 'late' }, { status: 'queued' }, { status: 'queued,running' }, { projectId: NONE }, { projectId: 'x' }, { tag: '' }, { tag: long(300) }, { q: '' }, { q: 'x' }, { q: long(2000) }, { q: '"' }].map((one) => () => one),
      ({ project }) => ({ projectId: project }),
      ({ hiddenProject }) => ({ projectId: hiddenProject }),
    ],
  },
  list_projects: { good: () => ({}), situations: pages() },
  list_automations: { good: () => ({}), situations: pages() },
  list_models: { good: () => ({}), situations: [] },
  read_file: {
    good: ({ file }) => ({ fileId: file }),
    situations: [
      ...[NONE, 'nonsense', long(200), 'ü', 'a b', long(36, '0')].map((fileId): Situation => () => ({ fileId })),
      ...(['file', 'hiddenFile', 'task', 'project', 'upload'] as const).map((name): Situation => (ids) => ({ fileId: ids[name] })),
      ...[0, 4, 7, 8, 1000].map((offset): Situation => ({ file }) => ({ fileId: file, offset })),
    ],
  },
}; // prettier-ignore
const WRITING = ['create_task', 'send_message', 'answer_task', 'cancel_task', 'run_automation', 'upload_file'];

const both = (made: Json | [Json, Json]): Json[] => (Array.isArray(made) ? made : [made]);

describe('Every tool, compared with its route (reference §29)', () => {
  const service = useService();
  let sides: [Side, Side];
  beforeAll(async () => {
    sides = [await Side.make(service), await Side.make(service)];
  });
  const callers = async (name: string): Promise<[Member, Member]> => [
    await sides[0].caller(name),
    await sides[1].caller(name),
  ];

  it('has all tools, and at least 30 situations for each that writes', () => {
    expect(Object.keys(SUBJECTS)).toHaveLength(14);
    const counts = WRITING.map((tool) => Object.keys(CALLERS).length + (SUBJECTS[tool]?.situations.length ?? 0));
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(30);
  });

  it.each(Object.entries(SUBJECTS))('%s', async (tool, { good, situations }) => {
    const things: [Ids, Ids] = [await sides[0].things(), await sides[1].things()];
    const codes = new Set<string | undefined>();
    const wrong: string[] = [];
    const tried = async (about: string, who: [Member, Member], args: [Json, Json]) => {
      try {
        codes.add(await compare(tool, sides, who, args));
      } catch (error) {
        wrong.push(`${about}: ${JSON.stringify(args[0]).slice(0, 200)}\n${String(error).slice(0, 1500)}`);
      }
    };
    // Those who may not come first: what was done once cannot be done again.
    for (const name of Object.keys(CALLERS).reverse()) {
      const who = await callers(name);
      await tried(name, who, [good(things[0]), good(things[1])]);
      for (const one of situations.slice(0, 1)) {
        const [left, right] = [both(one(things[0])), both(one(things[1]))];
        await tried(name, who, [left[0] ?? {}, right[0] ?? {}]);
      }
    }
    const makers: [Member, Member] = [sides[0].owner, sides[1].owner];
    for (const one of situations) {
      const [left, right] = [both(one(things[0])), both(one(things[1]))];
      for (const [n, args] of left.entries()) await tried('the owner', makers, [args, right[n] ?? {}]);
    }
    expect(wrong).toEqual([]);
    // Whoever asks and whatever is asked: more than one thing has gone wrong, and something well.
    expect(codes).toContain(undefined);
    expect(codes.size).toBeGreaterThan(2);
  });

  it('and all that was refused and done is on record as by the routes', async () => {
    let rows = 0;
    for (const name of Object.keys(CALLERS)) {
      const known = !/revoked|expired|removed/.test(name);
      rows += await sameRecord(sides, await callers(name), known);
    }
    expect(rows).toBeGreaterThan(100);
  });
});

describe('Every tool where nothing is left (reference §29)', () => {
  const one = { capacity: 1, windowSeconds: 3600 };
  const many = { capacity: 1000, windowSeconds: 3600 };
  const policies = {
    metadata_read: one,
    resource_read: one,
    resource_write: one,
    task_execution: one,
    file_upload: one,
  };
  const service = useService(() => bootApp({ config: { rateLimits: { free: { global: one, policies }, paid: { global: many, policies } } } })); // prettier-ignore

  it.each(Object.entries(SUBJECTS))('%s: of its own bucket, and of all', async (tool, { good }) => {
    const ids = new Proxy({} as Ids, { get: () => NONE });
    for (const plan of ['paid', 'free'] as const) {
      const sides: [Side, Side] = [await Side.make(service, plan), await Side.make(service, plan)];
      const who: [Member, Member] = [sides[0].owner, sides[1].owner];
      const codes = [];
      for (let n = 0; n < 2; n += 1) codes.push(await compare(tool, sides, who, [good(ids), good(ids)]));
      expect(codes[1]).toBe('rate_limit_exceeded');
      expect(codes[0]).not.toBe('rate_limit_exceeded');
    }
  });
});

describe('Every tool that stores, where the plan has no more room (reference §29)', () => {
  const service = useService(() => bootApp({ config: { plans: { paid: { storageBytes: 10 } } } }));

  it('upload_file is refused as its route is', async () => {
    const sides: [Side, Side] = [await Side.make(service), await Side.make(service)];
    const args = { name: 'a.txt', text: 'more than ten bytes' };
    const code = await compare('upload_file', sides, [sides[0].owner, sides[1].owner], [args, args]);
    expect(code).toBe('storage_exhausted');
  });
});
