import { bootWorker, type TestApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { createAutomation } from '../harness/automation-requests.js';
import { walk } from '../harness/pages.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { createTask, finished, type MessageBody, runTask } from '../harness/tasks.js';
import { LONG } from '../harness/numbers.js';
import { SLOW } from '../harness/slow.js';

/** Rows that exist throughout; as many again are deleted meanwhile where rows can be. */
const LASTING = SLOW ? 12 : 4;
const WRITERS = 3;
/** What each writer adds, and deletes half of. */
const ROUNDS = LONG ? 8 : SLOW ? 4 : 2;

interface Collection {
  path: string;
  order: 'newest first' | 'oldest first';
  /** Adds one more, and resolves with its id. */
  add: () => Promise<string>;
  /** Null where nothing can be deleted. */
  remove: ((id: string) => Promise<void>) | null;
}

type Make = (service: TestApp, member: Member) => Collection | Promise<Collection>;

const COLLECTIONS: Record<string, Make> = {
  projects: (_service, member) => ({
    ...newest('/v1/projects'),
    add: async () => (await createProject(member)).id,
    remove: remover(member, '/v1/projects'),
  }),
  tasks: (_service, member) => ({
    ...newest('/v1/tasks'),
    add: async () => (await createTask(member.client, { content: 'x' })).id,
    remove: remover(member, '/v1/tasks'),
  }),
  'tasks of a project': async (_service, member) => {
    const { id: projectId } = await createProject(member);
    const add = async () => (await createTask(member.client, { content: 'x', projectId })).id;
    return { ...newest(`/v1/tasks?projectId=${projectId}`), add, remove: remover(member, '/v1/tasks') };
  },
  'tasks of a status': (_service, member) => ({
    ...newest('/v1/tasks?status=completed'),
    add: async () => (await runTask(member.client, 'x')).id,
    remove: remover(member, '/v1/tasks'),
  }),
  'tasks, the last changed first': (_service, member) => ({
    ...newest('/v1/tasks?sort=updatedAt&archived=all'),
    add: async () => (await runTask(member.client, 'x')).id,
    remove: remover(member, '/v1/tasks'),
  }),
  automations: (_service, member) => ({
    ...newest('/v1/automations'),
    add: async () => (await createAutomation(member)).id,
    remove: remover(member, '/v1/automations'),
  }),
  'runs of an automation': async (_service, member) => {
    const path = `/v1/automations/${(await createAutomation(member)).id}/run`;
    const add = async () => (await member.client.post<{ run: { id: string } }>(path)).body.run.id;
    return { ...newest(`${path}s`), add, remove: null };
  },
  'task files': async (service, member) => {
    const { id } = await runTask(member.client, 'x');
    const attachments = [{ uploadId: (await upload(service, member, 'x')).id }];
    const files = `/v1/tasks/${id}/files`;
    return { ...newest(files), add: () => attachmentOf(service, member, id, attachments), remove: null };
  },
  'project files': async (service, member) => {
    const { id } = await createProject(member);
    const path = `/v1/projects/${id}/files`;
    const add = async () => (await addProjectFile(service, member, id, 'x')).id;
    return { ...newest(path), add, remove: remover(member, path) };
  },
  messages: async (_service, member) => messagesOf(member, 'asc'),
  'messages, newest first': async (_service, member) => messagesOf(member, 'desc'),
};

const ALL = Object.keys(COLLECTIONS);
/** A list for each order, and one of rows that are made in more than one place. */
const SOME = SLOW
  ? ALL
  : ['projects', 'tasks, the last changed first', 'task files', 'messages', 'messages, newest first'];
const SAME_TIME = 'all at the same time';

describe.each<[string, string[]]>([
  ['each at its own time', SOME],
  // Messages are numbered: no two have the same place.
  [SAME_TIME, ALL.filter((name) => !name.startsWith('messages'))],
])('Pages of things made %s (reference §11)', (when, names) => {
  const service = useService(bootWorker);
  beforeAll(async () => {
    if (when === SAME_TIME) await stopTheClock(service);
  });

  it.each(names)(
    '%s: none that existed throughout is skipped or repeated, however many are added or deleted meanwhile',
    async (name) => {
      const member = await makeMember(service);
      const collection = await (COLLECTIONS[name] as Make)(service, member);
      const { lasting, doomed } = await fill(collection);
      let writing = true;
      const walks: string[][] = [];
      const added: string[] = [];
      // Newest first, a walk sees only what was added before it began, and was not deleted by then. Oldest first, it runs after the writers.
      const enough = () => collection.order !== 'newest first' || walks.flat().some((id) => added.includes(id));
      const writers = Array.from({ length: WRITERS }, (_, n) => write(collection, doomed, n, { added, enough }));
      const written = Promise.all(writers).finally(() => (writing = false));
      while (writing) walks.push(await walk(member.client, collection.path, 1 + (walks.length % 3)));
      await written;
      expect(walks.length).toBeGreaterThan(0);
      for (const ids of walks) {
        expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
        expect(ids.filter((id) => lasting.includes(id))).toEqual(lasting);
      }
      // The writers were at work between the pages of a walk, not before or after all of them.
      const seen = new Set(walks.flat());
      expect(added.some((id) => seen.has(id))).toBe(true);
      const last = await walk(member.client, collection.path, 7);
      expect(last.filter((id) => lasting.includes(id))).toEqual(lasting);
      expect(last.filter((id) => doomed.includes(id))).toEqual(collection.remove === null ? doomed : []);
    },
    60_000,
  );
});

/** Things that stay and things that will be deleted, in turn; those that stay in the order of the list. */
async function fill({ add, remove, order }: Collection): Promise<{ lasting: string[]; doomed: string[] }> {
  const lasting: string[] = [];
  const doomed: string[] = [];
  for (let n = 0; n < LASTING; n++) {
    lasting.push(await add());
    if (remove !== null) doomed.push(await add());
  }
  return { lasting: order === 'newest first' ? lasting.reverse() : lasting, doomed };
}

/** Adds until it is enough, deletes every second of what it added, and its share of what is doomed. `added` gets the ids. */
async function write(
  { add, remove }: Collection,
  doomed: string[],
  writer: number,
  { added, enough }: { added: string[]; enough: () => boolean },
): Promise<void> {
  const mine = doomed.filter((_id, i) => i % WRITERS === writer);
  for (let round = 0; round < ROUNDS || !enough(); round++) {
    const id = await add();
    added.push(id);
    if (round % 2 === 0) await remove?.(id);
    const next = mine.pop();
    if (next !== undefined) await remove?.(next);
  }
}

function newest(path: string) {
  return { path, order: 'newest first' } as const;
}

function remover({ client }: Member, path: string): (id: string) => Promise<void> {
  return async (id) => {
    const { status, text } = await client.delete(`${path}/${id}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
  };
}

/** The agent answers each message meanwhile: it is a writer too. */
async function messagesOf({ client }: Member, order: 'asc' | 'desc'): Promise<Collection> {
  const { id } = await createTask(client, { content: 'x' });
  await finished(client, id);
  const path = `/v1/tasks/${id}/messages`;
  const add = async () => {
    const { status, body, text } = await client.post<{ message: MessageBody }>(path, { content: 'x' });
    if (status !== 202) throw new Error(`${status}: ${text}`);
    return body.message.id;
  };
  const listed = order === 'asc' ? ({ path, order: 'oldest first' } as const) : newest(`${path}?order=desc`);
  return { ...listed, add, remove: null };
}

/** Sends a message with a file, and resolves with the file's id. */
async function attachmentOf(
  service: TestApp,
  { client }: Member,
  task: string,
  attachments: object[],
): Promise<string> {
  type Sent = { message: { parts: { type: string; id?: string }[] } };
  const { body } = await client.post<Sent>(`/v1/tasks/${task}/messages`, { content: 'x', attachments });
  const part = body.message.parts.find(({ type }) => type === 'file');
  if (part?.id === undefined) throw new Error('The message has no file.');
  return part.id;
}

/** Everything that is made from now on has one and the same time. */
async function stopTheClock({ db }: TestApp): Promise<void> {
  await db.query(`CREATE FUNCTION stopped() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.created_at := '2026-01-01T00:00:00Z'; RETURN NEW; END $$`);
  for (const table of ['projects', 'tasks', 'files', 'messages', 'automations', 'automation_runs']) {
    await db.query(`CREATE TRIGGER stopped BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION stopped()`);
  }
}
