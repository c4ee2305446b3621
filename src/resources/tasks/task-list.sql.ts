// The list of tasks: one statement for each set of filters, so that PostgreSQL plans each with the index that serves it.
import { visible, WORKSPACE } from '../../access/auth/visibility.js';
import type { Actor } from '../../access/auth/auth-context.js';
import {
  type Fragment,
  int,
  jsonb,
  type None,
  type Query,
  raw,
  sql,
  type Statement,
  text,
  textOrNull,
  texts,
  time,
  uuid,
} from '../../platform/database/sql.js';
import { TASK_ROW, type TaskRow } from './task.sql.js';
import { TASK_STATUSES, type TaskStatus } from './task-status.js';

/** What a list is narrowed by; null: it is not. */
export interface TaskFilters {
  statuses: readonly TaskStatus[] | null;
  projectId: string | null;
  automationId: string | null;
  /** Of whom; `top`: of nobody. */
  parentTaskId: string | null;
  top: true | null;
  /** Words, or beginnings of words, of title and opening. */
  words: string | null;
  tag: string | null;
  metadata: Record<string, string> | null;
  createdAfter: Date | null;
  createdBefore: Date | null;
  archived: boolean | null;
}

/** A page: where it begins, how long it is, and by which time the newest is first. */
export interface TaskPage {
  sort: 'createdAt' | 'updatedAt';
  /** Time and id of the last task before it; null for the first page. */
  after: { at: string; id: string } | null;
  limit: number;
  /** Whether the caller may read what messages say. */
  showsText: boolean;
}

/** What all of the statements take together: each takes those that it names. */
interface Values {
  auth: Actor;
  statuses: readonly string[];
  projectId: string;
  automationId: string;
  parentTaskId: string;
  words: string | null;
  tag: string | null;
  metadata: Record<string, string> | null;
  createdAfter: Date | string;
  createdBefore: Date | string;
  at: Date | string;
  id: string;
  limit: number;
}
type Piece = Fragment<Values>;
/** A piece that takes some of the values. */
const piece = <P extends Partial<Values>>(fragment: Fragment<P>): Piece => fragment as unknown as Piece;

const [AT, ID] = [time('at'), uuid('id')];

/** Of `tasks t`, the newest first. */
const ORDERS: Record<TaskPage['sort'], { by: Fragment<None>; follows: Piece }> = {
  createdAt: { by: raw('t.created_at DESC, t.id DESC'), follows: piece(sql`(t.created_at, t.id) < (${AT}, ${ID})`) },
  updatedAt: { by: raw('t.updated_at DESC, t.id DESC'), follows: piece(sql`(t.updated_at, t.id) < (${AT}, ${ID})`) },
};
/** By the last change, of tasks that no worker has: there `rested_at` is `updated_at`, and it is indexed. */
const AT_REST = { by: raw('t.rested_at DESC, t.id DESC'), follows: piece(sql`(t.rested_at, t.id) < (${AT}, ${ID})`) };

/** What words, tag and metadata ask of the terms of a task: one question (task-terms.function.ts). */
const QUESTION = sql`task_query(${WORKSPACE}, ${textOrNull('words')}, ${textOrNull('tag')}, ${jsonb<Record<string, string> | null>()('metadata')})`;
/** The same where the caller may not read what messages say; it goes through what has been found. */
const IN_TITLE = piece(sql`task_terms(t.workspace_id, t.title, '', t.tags, t.metadata) @@ ${QUESTION}`);

/**
 * A search tries three ways, for the planner knows neither how often a word occurs nor what it costs to ask a row:
 * - the newest tasks: a frequent word fills the page with them;
 * - the index, for at most so many: they are looked up and sorted;
 * - else page by page, each task asked in turn: what so many of 200,000 tasks have, a few thousand of the newest have often enough.
 *
 * With 200,000 tasks no way takes much more than 10 ms.
 */
const NEWEST = raw('300');
const FEW = raw('2500');
/** Whether the newest ones filled the page; whether the index knows few. */
const [IS_FULL, IS_FEW] = [raw('(SELECT filled FROM counted)'), raw('(SELECT few FROM looked)')];
const FOUND = sql`
found AS MATERIALIZED (SELECT f.id FROM find_tasks(${QUESTION}, ${FEW} + 1) AS f(id) WHERE NOT ${IS_FULL}),
looked AS MATERIALIZED (SELECT count(*) <= ${FEW} AS few FROM found)`;
/** A scalar, which the database computes for a row when it comes to it: as EXISTS it would be a join with all that have the terms. */
const HAS_TERMS = piece(sql`(SELECT s.terms @@ ${QUESTION} FROM search_terms s WHERE s.task_id = t.id)`);

/** For each filter what it asks of `tasks t`. */
const FILTERS = {
  statuses: piece(sql`t.status = ANY(${texts('statuses')})`),
  projectId: piece(sql`t.project_id = ${uuid('projectId')}`),
  automationId: piece(sql`t.automation_id = ${uuid('automationId')}`),
  parentTaskId: piece(sql`t.parent_task_id = ${uuid('parentTaskId')}`),
  top: piece(raw('t.parent_task_id IS NULL')),
  // Beside the terms, for rows that the database looks at one by one: these cost next to nothing there.
  tag: piece(sql`t.tags @> ARRAY[${text('tag')}]`),
  metadata: piece(sql`t.metadata @> ${jsonb<Record<string, string> | null>()('metadata')}`),
  createdAfter: piece(sql`t.created_at > ${time('createdAfter')}`),
  createdBefore: piece(sql`t.created_at < ${time('createdBefore')}`),
};

/** The tasks of a status, for one under way: they have an open run or a pending interaction, and both are indexed. */
const UNDER_WAY: Partial<Record<TaskStatus, Piece>> = {
  queued: piece(sql`SELECT r.task_id FROM runs r WHERE r.workspace_id = ${WORKSPACE} AND r.status = 'queued'
    UNION ALL SELECT r.task_id FROM runs r WHERE r.workspace_id = ${WORKSPACE} AND r.status = 'paused'`),
  running: piece(sql`SELECT r.task_id FROM runs r WHERE r.workspace_id = ${WORKSPACE} AND r.status = 'running'`),
  awaiting_input: piece(sql`SELECT x.id FROM interactions i JOIN tasks x ON x.id = i.task_id
    WHERE i.status = 'pending' AND x.workspace_id = ${WORKSPACE}`),
};

/**
 * Where tasks of a status come from. An index on the status itself would make each change of it as dear as a new task: for those under
 * way it is an open run or interaction, for those that have ended `ended_as`, which changes only when a turn ends or is asked for.
 */
function ofStatus(status: TaskStatus): Piece {
  const ids = UNDER_WAY[status];
  if (ids === undefined) return piece(raw(`t.ended_as = '${status}'`));
  return piece(sql`t.id IN (${ids}) AND t.status = ${raw(`'${status}'`)}`);
}

/** One stream of rows, in the order of an index; no task is in two of them. */
interface Source {
  where: readonly Piece[];
  by: Fragment<None>;
  follows: Piece;
}

/** The sources of a page: together they have the tasks of these statuses, or all. */
function sourcesOf(sort: TaskPage['sort'], statuses: readonly TaskStatus[] | null): Source[] {
  if (sort === 'createdAt') {
    const order = ORDERS.createdAt;
    return statuses?.map((status) => ({ where: [ofStatus(status)], ...order })) ?? [{ where: [], ...order }];
  }
  const running = { where: [ofStatus('running')], ...ORDERS.updatedAt };
  if (statuses === null) return [running, { where: [piece(raw(`t.status <> 'running'`))], ...AT_REST }];
  return statuses.map((one) => (one === 'running' ? running : { where: [ofStatus(one)], ...AT_REST }));
}

const and = (conditions: readonly Piece[]): Piece => conditions.reduce((all, one) => piece(sql`${all} AND ${one}`));
const union = (rows: readonly Piece[]): Piece => rows.reduce((all, one) => piece(sql`${all} UNION ALL ${one}`));
const LIMIT = int('limit');

/** What of the values decides about the text of a statement. */
interface Shape {
  sort: TaskPage['sort'];
  /** In the order of `TASK_STATUSES`; null: all. */
  statuses: readonly TaskStatus[] | null;
  given: readonly (keyof typeof FILTERS)[];
  searched: boolean;
  inTitle: boolean;
  archived: boolean | null;
  follows: boolean;
}

const [ARCHIVED, NOT_ARCHIVED] = [piece(raw('t.archived')), piece(raw('NOT t.archived'))];
/** The states of `archived` that are asked for: the indexes are ordered by time within each. */
const statesOf = (archived: boolean | null): Piece[] =>
  archived === null ? [NOT_ARCHIVED, ARCHIVED] : [archived ? ARCHIVED : NOT_ARCHIVED];

/** What is asked of each task, whatever source it comes from. */
const conditionsOf = ({ given, inTitle }: Shape): Piece[] => [
  piece(visible('t')),
  ...given.map((name) => FILTERS[name]),
  ...(inTitle ? [IN_TITLE] : []),
];

const behind = ({ follows }: Shape, source: Source): Piece[] => (follows ? [source.follows] : []);

/** A page by a branch for each source and each state of `archived`; all together are as many rows again. */
const walk = (shape: Shape, more: readonly Piece[] = []): Piece =>
  union(
    sourcesOf(shape.sort, shape.statuses).flatMap((source) =>
      statesOf(shape.archived).map((state) => {
        const where = [state, ...conditionsOf(shape), ...source.where, ...behind(shape, source), ...more];
        return piece(sql`(SELECT t.* FROM tasks t WHERE ${and(where)} ORDER BY ${source.by} LIMIT ${LIMIT})`);
      }),
    ),
  );

/** The rows are chosen before their creators and interactions are looked up. */
const page = ({ sort }: Shape, chosen: Piece): Piece =>
  piece(sql`
SELECT ${TASK_ROW}
FROM (${chosen}) t JOIN users u ON u.id = t.created_by
ORDER BY ${ORDERS[sort].by} LIMIT ${LIMIT}`);

/** The newest tasks of the workspace. By the last change, and in both states of `archived`, they are several streams: there the index is asked at once. */
function newest(shape: Shape): Piece {
  const [state, other] = statesOf(shape.archived);
  if (shape.sort === 'updatedAt' || state === undefined || other !== undefined) return piece(raw('SELECT * FROM tasks LIMIT 0'));
  const order = { where: [], ...ORDERS.createdAt };
  const where = and([piece(sql`t.workspace_id = ${WORKSPACE}`), state, ...behind(shape, order)]);
  return piece(sql`SELECT t.* FROM tasks t WHERE ${where} ORDER BY ${order.by} LIMIT ${NEWEST}`);
} // prettier-ignore

/** The LATERAL looks each found task up by its id: as a join, it read the tasks of all workspaces where there are fewer than some 60,000. */
function search(shape: Shape): Piece {
  const { sort, archived } = shape;
  const { by } = ORDERS[sort];
  const asked = conditionsOf(shape);
  const found = and([...asked, ...behind(shape, { where: [], ...ORDERS[sort] }), ...(archived === null ? [] : statesOf(archived))]);
  const ways = piece(sql`SELECT * FROM near WHERE ${IS_FULL}
  UNION ALL (SELECT t.* FROM found f CROSS JOIN LATERAL (SELECT * FROM tasks WHERE id = f.id OFFSET 0) t WHERE NOT ${IS_FULL} AND ${IS_FEW} AND ${found} ORDER BY ${by} LIMIT ${LIMIT})
  UNION ALL ${walk(shape, [piece(sql`NOT ${IS_FULL} AND NOT ${IS_FEW}`), HAS_TERMS])}`);
  return piece(sql`
WITH near AS MATERIALIZED (
  SELECT t.* FROM (${newest(shape)}) t WHERE ${and([...asked, HAS_TERMS])} ORDER BY ${by} LIMIT ${LIMIT}),
counted AS MATERIALIZED (SELECT count(*) = ${LIMIT} AS filled FROM near),
${FOUND}
${page(shape, ways)}`);
} // prettier-ignore

const STATEMENTS = new Map<string, Statement<Values, TaskRow>>();

/**
 * A page of the tasks that the caller sees. The plain lists stay prepared. What depends on the values themselves, how often a word
 * occurs for instance, is planned anew each time.
 */
export function listTasks(
  auth: Actor,
  filters: TaskFilters,
  { sort, after, limit, showsText }: TaskPage,
): Query<TaskRow> {
  const given = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).filter((name) => filters[name] !== null);
  const shape: Shape = {
    sort,
    statuses: filters.statuses && TASK_STATUSES.filter((status) => filters.statuses?.includes(status)),
    given,
    searched: isSearch(filters),
    inTitle: filters.words !== null && !showsText,
    archived: filters.archived,
    follows: after !== null,
  };
  // Once for each shape: requests only look the statement up.
  const key = JSON.stringify(shape);
  const made = () => (shape.searched ? search(shape) : page(shape, walk(shape))).jsonRows<TaskRow>();
  const statement = STATEMENTS.get(key) ?? made();
  STATEMENTS.set(key, statement);
  const values = { ...filters, auth, at: after?.at, id: after?.id, limit } as Values;
  const query = statement(values);
  const plain =
    sort === 'createdAt' && !shape.searched && filters.createdAfter === null && filters.createdBefore === null;
  return plain ? query : query.unprepared();
}

/** Whether words, tags or metadata are asked for. */
export function isSearch({ words, tag, metadata }: TaskFilters): boolean {
  return words !== null || tag !== null || metadata !== null;
}
