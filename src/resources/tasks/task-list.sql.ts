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
import type { TaskStatus } from './task-status.js';

/** What a list is narrowed by; null: it is not. */
export interface TaskFilters {
  statuses: readonly TaskStatus[] | null;
  projectId: string | null;
  automationId: string | null;
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
const slotOf = (at: typeof AT) => sql`floor(extract(epoch FROM ${at}) / 600)::int`;

/** Of `tasks t`. The slot, which is indexed, follows from the time: within one the rows are sorted. */
const ORDERS: Record<TaskPage['sort'], { by: Fragment<None>; follows: Piece }> = {
  createdAt: { by: raw('t.created_at DESC, t.id DESC'), follows: piece(sql`(t.created_at, t.id) < (${AT}, ${ID})`) },
  updatedAt: {
    by: raw('t.updated_slot DESC, t.updated_at DESC, t.id DESC'),
    follows: piece(sql`t.updated_slot <= ${slotOf(AT)} AND (t.updated_at, t.id) < (${AT}, ${ID})`),
  },
};

/** What words, tag and metadata ask of the title and of this text: one question (task-terms.function.ts). */
const foundIn = (opening: Fragment<None>) =>
  piece(sql`task_terms(t.workspace_id, t.title, ${opening}, t.tags, t.metadata)
  @@ task_query(${WORKSPACE}, ${textOrNull('words')}, ${textOrNull('tag')}, ${jsonb<Record<string, string> | null>()('metadata')})`);
/** As the index `tasks_terms` has it. */
const TERMS = foundIn(raw('t.opening'));
/** The same where the caller may not read what messages say; it goes through what the index finds. */
const IN_TITLE = foundIn(raw("''"));

/** For each filter what it asks of `tasks t`. */
const FILTERS = {
  statuses: piece(sql`t.status = ANY(${texts('statuses')})`),
  projectId: piece(sql`t.project_id = ${uuid('projectId')}`),
  automationId: piece(sql`t.automation_id = ${uuid('automationId')}`),
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

/** Whether all statuses are of tasks under way. */
const areUnderWay = (statuses: readonly TaskStatus[]): boolean => statuses.every((status) => status in UNDER_WAY);

/**
 * Beside {@link FILTERS}, where all statuses are of tasks under way. An index on the status itself would make each change of it as dear as a
 * new task.
 */
function underWay(statuses: readonly TaskStatus[]): Piece {
  const branches = statuses.flatMap((status) => UNDER_WAY[status] ?? []);
  return piece(sql`t.id IN (${branches.reduce((all, one) => piece(sql`${all} UNION ALL ${one}`))})`);
}

const and = (conditions: readonly Piece[]): Piece => conditions.reduce((all, one) => piece(sql`${all} AND ${one}`));

/**
 * One branch for each state of `archived`, because the indexes are ordered by time within it; both together are as many rows again.
 * The rows are chosen before their creators and interactions are looked up.
 */
function statementOf(conditions: readonly Piece[], by: Fragment<None>, states: readonly boolean[]): Statement<Values, TaskRow> {
  const branches = states.map(
    (archived) => piece(sql`(
  SELECT t.* FROM tasks t WHERE ${and(conditions)} AND ${raw(archived ? 't.archived' : 'NOT t.archived')}
  ORDER BY ${by} LIMIT ${int('limit')})`),
  );
  const chosen = branches.reduce((all, one) => piece(sql`${all} UNION ALL ${one}`));
  return sql`
SELECT ${TASK_ROW}
FROM (${chosen}) t JOIN users u ON u.id = t.created_by
ORDER BY ${by} LIMIT ${int('limit')}`.jsonRows<TaskRow>();
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
  const { statuses, archived } = filters;
  const given = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).filter((name) => filters[name] !== null);
  const searched = isSearch(filters);
  const inTitle = filters.words !== null && !showsText;
  const open = statuses !== null && areUnderWay(statuses) ? [...statuses].sort() : null;
  const key = [sort, archived, searched, inTitle, open?.join('+'), after !== null, ...given].join();
  const { by, follows } = ORDERS[sort];
  // Once for each set of filters: requests only look the statement up.
  const made = (): Statement<Values, TaskRow> => {
    const conditions = [
      piece(visible('t')),
      ...given.map((name) => FILTERS[name]),
      ...(open === null ? [] : [underWay(open)]),
      ...(searched ? [TERMS] : []),
      ...(inTitle ? [IN_TITLE] : []),
      ...(after === null ? [] : [follows]),
    ];
    return statementOf(conditions, by, archived === null ? [false, true] : [archived]);
  };
  const statement = STATEMENTS.get(key) ?? made();
  STATEMENTS.set(key, statement);
  const values = { ...filters, auth, at: after?.at, id: after?.id, limit } as Values;
  const query = statement(values);
  const plain = sort === 'createdAt' && !searched && filters.createdAfter === null && filters.createdBefore === null;
  return plain ? query : query.unprepared();
}

/** Whether the index of words, tags and metadata is asked. */
export function isSearch({ words, tag, metadata }: TaskFilters): boolean {
  return words !== null || tag !== null || metadata !== null;
}
