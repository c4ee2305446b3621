// Roles, visibility and ownership (reference §3) for every operation that names a thing: each caller, each place of the thing.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Answer, ErrorBody, RequestOptions } from '../harness/client.js';
import { walk } from '../harness/pages.js';
import { SLOW } from '../harness/slow.js';
import type { Row } from './endpoints.js';
import { type Case, makeCases } from './places.js';
import { World } from './world.js';

type Thing = 'project' | 'task' | 'automation' | 'taskFile' | 'projectFile';
/** What is needed of the thing: to see it, to own it, or to have put it there or own its project. */
type Needed = 'seen' | 'owned' | 'uploaded';

interface Rule {
  thing: Thing;
  needed: Needed;
  /** The request, where it is not the one of the endpoint table. */
  request?: (ids: Case['ids']) => { path?: string; json?: object };
  /** Where the thing is, nobody may. */
  inUse?: (place: Case['place']) => boolean;
  /** What who may is told, where the thing is not ready for it: its queued task. */
  told?: string;
  /** What else the operation names, in words. */
  by?: string;
}

/** Reference §3. The operation, the thing that decides, and what is needed of it. */
const RULES: [operation: string, rule: Rule][] = [
  ['GET /v1/projects/{projectId}', { thing: 'project', needed: 'seen' }],
  ['PATCH /v1/projects/{projectId}', { thing: 'project', needed: 'owned' }],
  ['DELETE /v1/projects/{projectId}', { thing: 'project', needed: 'owned' }],
  ['GET /v1/projects/{projectId}/files', { thing: 'project', needed: 'seen' }],
  ['POST /v1/projects/{projectId}/files', { thing: 'project', needed: 'seen' }],
  ['DELETE /v1/projects/{projectId}/files/{fileId}', { thing: 'projectFile', needed: 'uploaded' }],
  ['GET /v1/tasks/{taskId}', { thing: 'task', needed: 'seen' }],
  ['PATCH /v1/tasks/{taskId}', { thing: 'task', needed: 'owned' }],
  ['DELETE /v1/tasks/{taskId}', { thing: 'task', needed: 'owned' }],
  ['POST /v1/tasks/{taskId}/cancel', { thing: 'task', needed: 'seen' }],
  ['POST /v1/tasks/{taskId}/fork', { thing: 'task', needed: 'seen' }],
  ['POST /v1/tasks/{taskId}/checks', { thing: 'task', needed: 'seen', told: '409 task_not_final' }],
  ['POST /v1/tasks/{taskId}/pause', { thing: 'task', needed: 'seen' }],
  ['POST /v1/tasks/{taskId}/resume', { thing: 'task', needed: 'seen' }],
  ['POST /v1/tasks/{taskId}/interaction', { thing: 'task', needed: 'seen', request: ({ interaction }) => ({ json: { interactionId: interaction, content: 'x' } }) }],
  ['GET /v1/tasks/{taskId}/messages', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/events', { thing: 'task', needed: 'seen' }],
  ['POST /v1/tasks/{taskId}/messages', { thing: 'task', needed: 'seen' }],
  ['DELETE /v1/tasks/{taskId}/messages/{messageId}', { thing: 'task', needed: 'owned' }],
  ['GET /v1/tasks/{taskId}/files', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/files/archive', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/snapshots', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/workdir', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/secrets', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/network', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/checks', { thing: 'task', needed: 'seen' }],
  ['GET /v1/tasks/{taskId}/commands', { thing: 'task', needed: 'seen' }],
  ['POST /v1/tasks/{taskId}/commands/{commandId}/stop', { thing: 'task', needed: 'seen', told: '409 command_not_running', request: ({ task }) => ({ path: `/v1/tasks/${task}/commands/b1/stop` }) }],
  ['GET /v1/tasks/{taskId}/proof', { thing: 'task', needed: 'seen' }],
  ['DELETE /v1/files/{fileId}', { thing: 'taskFile', needed: 'seen', by: 'a file of a task', inUse: () => true }],
  ['DELETE /v1/files/{fileId}', { thing: 'projectFile', needed: 'seen', by: 'a file of a project', inUse: ({ project }) => project !== null }],
  ['GET /v1/files/{fileId}', { thing: 'taskFile', needed: 'seen', by: 'a file of a task' }],
  ['GET /v1/files/{fileId}', { thing: 'projectFile', needed: 'seen', by: 'a file of a project' }],
  ['GET /v1/files/{fileId}/content', { thing: 'taskFile', needed: 'seen', by: 'a file of a task' }],
  ['GET /v1/files/{fileId}/content', { thing: 'projectFile', needed: 'seen', by: 'a file of a project' }],
  ['GET /v1/automations/{automationId}', { thing: 'automation', needed: 'seen' }],
  ['PATCH /v1/automations/{automationId}', { thing: 'automation', needed: 'owned' }],
  ['DELETE /v1/automations/{automationId}', { thing: 'automation', needed: 'owned' }],
  ['POST /v1/automations/{automationId}/pause', { thing: 'automation', needed: 'owned' }],
  ['POST /v1/automations/{automationId}/resume', { thing: 'automation', needed: 'owned' }],
  ['GET /v1/automations/{automationId}/runs', { thing: 'automation', needed: 'seen' }],
  ['POST /v1/automations/{automationId}/run', { thing: 'automation', needed: 'owned' }],
  ['POST /v1/tasks', { thing: 'project', needed: 'seen', by: 'a project in its body', request: ({ project }) => ({ json: { content: 'x', projectId: project } }) }],
  ['PATCH /v1/tasks/{taskId}', { thing: 'project', needed: 'seen', by: 'a project in its body', request: ({ project, ownTask }) => ({ path: `/v1/tasks/${ownTask}`, json: { projectId: project } }) }],
  ['POST /v1/automations', { thing: 'project', needed: 'seen', by: 'a project in its body', request: ({ project }) => ({ json: { name: 'A', content: 'x', cron: '0 9 * * *', projectId: project } }) }],
  ['PATCH /v1/automations/{automationId}', { thing: 'project', needed: 'seen', by: 'a project in its body', request: ({ project, ownAutomation }) => ({ path: `/v1/automations/${ownAutomation}`, json: { projectId: project } }) }],
]; // prettier-ignore

/** What a collection or a filter holds: the things that are seen. */
const LISTS: { list: string; thing: Thing; filteredBy?: 'project'; without?: 'project' }[] = [
  { list: '/v1/projects', thing: 'project' },
  { list: '/v1/tasks', thing: 'task' },
  { list: '/v1/tasks', thing: 'task', filteredBy: 'project' },
  { list: '/v1/automations', thing: 'automation' },
  { list: '/v1/files', thing: 'projectFile', without: 'project' },
];

/**
 * Not of this rule: a key is its user's alone, a connection the workspace's or a user's; repositories and connections to them are seen by all members,
 * secrets, environments, agents and skills as test/e2e/secrets.spec.ts, environments.spec.ts, agents.spec.ts and skills.spec.ts have it;
 * members and service accounts, the log and webhooks are for owners and admins. A file of a folder is there when a worker was: test/e2e/workdir.spec.ts.
 */
const OUTSIDE =
  /\{(keyId|connectionId|memberId|serviceAccountId)\}|^\/v1\/(audit|webhooks|repositories|repository-connections|secrets|environments|agents|evaluations|skills)\b|\/workdir\/content$/;

const isAdmin = ({ role }: Case['caller']) => role === 'owner' || role === 'admin';

/** Owners and admins see everything; who sees the project sees what is in it; without a project the owner of a thing sees it. */
function sees({ caller, place }: Case, thing: Thing): boolean {
  if (isAdmin(caller)) return true;
  if (place.project === null) return ownerOf(thing, place) === 'own';
  return place.project === 'workspace' || place.projectIs === 'own';
}

const ownerOf = (thing: Thing, place: Case['place']) => (thing === 'project' ? place.projectIs : place.thingIs);

function owns({ caller, place }: Case, thing: Thing, needed: Needed): boolean {
  if (isAdmin(caller) || ownerOf(thing, place) === 'own') return true;
  return needed === 'uploaded' && place.projectIs === 'own';
}

function expected(one: Case, { thing, needed, inUse, told }: Rule, { method, status }: Row): string {
  if (one.caller.role === 'viewer' && method !== 'GET') return '403 role_not_allowed';
  if (!sees(one, thing)) return '404 not_found';
  if (inUse?.(one.place) === true) return '409 file_in_use';
  return needed === 'seen' || owns(one, thing, needed) ? (told ?? `${status}`) : '403 not_owner';
}

const name = ({ method, path }: Pick<Row, 'method' | 'path'>) => `${method} ${path}`;
const title = (operation: string, { by }: Rule) => (by === undefined ? operation : `${operation}, by ${by}`);
/** A project is no place to be in, and a file is removed from one. */
const needsProject = ([operation, { thing }]: (typeof RULES)[number]) =>
  thing === 'project' || operation.includes('{projectId}');

/** Of all cases of callers and places one in so many, other ones for each sentence. */
const ONE_IN = SLOW ? 1 : 4;
const some = <T>(all: Iterable<T>, from: number) => [...all].filter((_, i) => (i + from) % ONE_IN === 0);

/** One sentence asks for all callers and places. */
const ALL_CALLERS_MS = 120_000;

describe('Roles, visibility and ownership (reference §3)', () => {
  let world: World;
  let casesOf: Map<string, Case[]>;
  let listed: Case[];

  beforeAll(async () => {
    world = await World.make({ plans: { paid: { activeAutomations: 100_000 } } });
    casesOf = await makeCases(world.service, RULES.map(([operation, rule]) => title(operation, rule))); // prettier-ignore
    listed = [...(await makeCases(world.service, ['lists'])).values()].flat();
  });
  afterAll(() => world.service.close());

  it('every operation that names a thing has its rule, every collection its list', () => {
    const called = world.rows.filter(({ scopes }) => scopes !== 'public');
    const inside = called.filter(({ path }) => !OUTSIDE.test(path));
    const ruled = new Set(RULES.map(([operation]) => operation).filter((operation) => operation.includes('{')));
    const named = inside.filter(({ path }) => /\{\w+Id\}/.test(path));
    expect([...ruled].sort()).toEqual(named.map(name).sort());
    const collections = inside.filter(({ path, pages }) => pages !== undefined && !path.includes('{'));
    expect([...new Set(LISTS.map(({ list }) => list))].sort()).toEqual(collections.map(({ path }) => path).sort());
  });

  it.each(RULES.map(([operation, rule]) => [title(operation, rule), operation, rule] as const))(
    '%s',
    async (of, operation, rule) => {
      const row = world.rows.find((one) => name(one) === operation);
      const all = casesOf.get(of) ?? [];
      const cases = needsProject([operation, rule]) ? all.filter(({ place }) => place.project !== null) : all;
      const asked = some(cases, of.length);
      if (row === undefined || asked.length === 0) throw new Error(`${operation} is not in the endpoint table.`);
      const wrong: string[] = [];
      for (let from = 0; from < asked.length; from += 8) {
        const some = asked.slice(from, from + 8);
        const answers = await Promise.all(some.map((one) => ask(row, rule, one)));
        for (const [i, one] of some.entries()) {
          const [told, right] = [toldBy(answers[i]), expected(one, rule, row)];
          if (told !== right) wrong.push(`${inWords(one)}: ${told} in place of ${right}`);
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  it.each(LISTS.filter(({ filteredBy }) => filteredBy === undefined))(
    '$list holds the things that are seen, and no others',
    async ({ list, thing, without }) => {
      const there = listed.filter(({ place }) => without === undefined || place.project === null);
      for (const caller of some(callers(), list.length)) {
        const seen = there.filter((one) => sees(viewOf(one, caller), thing)).map(({ ids }) => ids[thing]);
        const beside = listed.filter((one) => isAdmin(caller) || one.caller === caller).map(({ ids }) => besideOf(ids, thing)); // prettier-ignore
        const right = [...seen, ...beside].filter((id) => id !== null);
        expect((await walk(caller.client, list, 50)).sort()).toEqual(right.sort());
      }
    },
    ALL_CALLERS_MS,
  );

  it.each(LISTS.filter(({ filteredBy }) => filteredBy !== undefined))(
    '$list of a $filteredBy is that of one that is seen, else empty',
    async ({ list, thing }) => {
      for (const caller of some(callers(), list.length)) {
        for (const one of some(listed, thing.length).filter(({ place }) => place.project !== null)) {
          const { ids } = one;
          const shown = await walk(caller.client, `${list}?projectId=${ids.project}`, 50);
          expect(shown).toEqual(sees(viewOf(one, caller), thing) ? [ids[thing]] : []);
        }
      }
    },
    ALL_CALLERS_MS,
  );

  it('is written once: no statement but that of visibility.ts compares the visibility of a project', () => {
    const src = fileURLToPath(new URL('../../src', import.meta.url));
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const compares = (file: string) => /\.visibility\s*(=|<>|!=|IN)\s*\(?'/.test(readFileSync(`${src}/${file}`, 'utf8'));
    expect(files.filter(compares)).toEqual(['access/auth/visibility.ts']);
  }); // prettier-ignore

  const callers = () => new Set(listed.map(({ caller }) => caller));

  function ask(row: Row, { thing, request }: Rule, { caller, ids }: Case): Promise<Answer<ErrorBody>> {
    const file = thing === 'taskFile' ? ids.taskFile : ids.projectFile;
    const by: Record<string, string | null> = { projectId: ids.project, taskId: ids.task, automationId: ids.automation, fileId: file, messageId: ids.message }; // prettier-ignore
    const { path = row.path.replace(/\{(\w+)\}/g, (_all, id: string) => String(by[id])), json } = request?.(ids) ?? {};
    const change: RequestOptions = json === undefined ? {} : { json };
    return world.send(row, caller.client, path, change);
  }
});

/** Each case has a task and an automation of its caller besides. */
function besideOf({ ownTask, ownAutomation }: Case['ids'], thing: Thing): string | null {
  if (thing === 'project' || thing === 'projectFile') return null;
  return thing === 'task' ? ownTask : ownAutomation;
}

function toldBy(answer: Answer<ErrorBody> | undefined): string {
  if (answer === undefined) return 'nothing';
  return answer.status < 400 ? `${answer.status}` : `${answer.status} ${answer.body.error.code}`;
}

/** A thing as another caller sees it: nothing of it is that caller's own. */
function viewOf(one: Case, caller: Case['caller']): Case {
  if (one.caller === caller) return one;
  return { ...one, caller, place: { ...one.place, projectIs: 'others', thingIs: 'others' } };
}

function inWords({ caller, place }: Case): string {
  const { project, projectIs, thingIs } = place;
  const where = project === null ? 'without a project' : `in a ${project} project (${projectIs})`;
  return `${caller.role} (${caller.kind}), ${thingIs} thing ${where}`;
}
