import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, Pages } from '../../platform/http/pages.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { ChangeProjectDto, CreateProjectDto, ListProjectsQuery } from './project.dto.js';
import { PROJECT_COLUMNS, PROJECT_SELECT, type ProjectRow } from './project.row.js';
import { MEMBER, PROJECT_SEEN, scope } from '../../access/auth/visibility.js';

const VISIBLE = `p.workspace_id = $1 AND ${PROJECT_SEEN}`;

const LIST = `${PROJECT_SELECT}
WHERE ${VISIBLE} AND ($5::timestamptz IS NULL OR (p.created_at, p.id) < ($5::timestamptz, $6::uuid))
ORDER BY p.created_at DESC, p.id DESC LIMIT $4`;

const CREATE = `
WITH ${MEMBER}
INSERT INTO projects AS p (id, workspace_id, owner_id, name, description, visibility)
SELECT $3::uuid, $1::uuid, $2::uuid, $4, $5, $6 FROM member
RETURNING ${PROJECT_COLUMNS}`;

const CHANGE = `
UPDATE projects SET name = coalesce($2, name), visibility = coalesce($3, visibility),
  description = CASE WHEN $4::boolean THEN $5 ELSE description END, updated_at = now()
WHERE id = $1`;

// In the order in which everybody locks more than one task; then the tasks wait for nothing but each other.
const LOCK_TASKS = `SELECT 1 FROM tasks WHERE project_id = $1 ORDER BY id FOR UPDATE`;
const UNGROUP = `UPDATE tasks SET project_id = NULL, updated_at = now() WHERE project_id = $1`;

@Injectable()
export class ProjectsService {
  constructor(
    private readonly database: Database,
    private readonly pages: Pages,
  ) {}

  async get(auth: AuthContext, id: string): Promise<ProjectRow> {
    const text = `${PROJECT_SELECT} WHERE ${VISIBLE} AND p.id = $4`;
    const rows = isUuid(id) ? await this.read<ProjectRow>('project', text, [...scope(auth), id]) : [];
    return rows[0] ?? missing();
  }

  /** Whether the caller sees the project. */
  async sees(auth: AuthContext, id: string): Promise<boolean> {
    const text = `SELECT 1 FROM projects p WHERE ${VISIBLE} AND p.id = $4`;
    return isUuid(id) && (await this.read('project-visible', text, [...scope(auth), id])).length > 0;
  }

  /**
   * As {@link sees}, and keeps the project from being deleted until the transaction ends. Locks are taken in the order
   * project, task, run: so this comes before the lock of a task that exists.
   */
  async hold(auth: AuthContext, tx: UnitOfWork, id: string): Promise<boolean> {
    const text = `SELECT 1 FROM projects p WHERE ${VISIBLE} AND p.id = $4 FOR KEY SHARE`;
    return isUuid(id) && (await tx.query(text, [...scope(auth), id])).length > 0;
  }

  /** Newest first. */
  async list(auth: AuthContext, query: ListProjectsQuery) {
    const { workspaceId, userId } = auth;
    const page = this.pages.open(query, { route: 'GET /v1/projects', workspaceId, userId, filters: {} });
    const [createdAt = null, id = null] = page.after ?? [];
    const rows = await this.read<ProjectRow>('projects', LIST, [...scope(auth), page.limit + 1, createdAt, id]);
    return page.cut(rows, byCreation);
  }

  async create(auth: AuthContext, tx: UnitOfWork, input: CreateProjectDto): Promise<ProjectRow> {
    const { name, description = null, visibility = 'private' } = input;
    const values = [auth.workspaceId, auth.userId, newId(), name, description, visibility];
    const [row] = await tx.query<Omit<ProjectRow, 'ownerName'>>(CREATE, values);
    if (row === undefined) throw new ApiError('invalid_credential', 'The owner of this key is no member any more.');
    return { ...row, ownerName: auth.user.name };
  }

  /** Changes what is given; nothing given changes nothing. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, input: ChangeProjectDto): Promise<ProjectRow> {
    await this.lock(auth, tx, id, 'FOR NO KEY UPDATE');
    const { name, visibility, description } = input;
    if (Object.values(input).some((value) => value !== undefined)) {
      await tx.query(CHANGE, [id, name, visibility, description !== undefined, description]);
    }
    const [row] = await tx.query<ProjectRow>(`${PROJECT_SELECT} WHERE p.id = $1`, [id]);
    return row ?? missing();
  }

  /** Its tasks and files stay, without a project. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    await this.lock(auth, tx, id, 'FOR UPDATE');
    await tx.query(LOCK_TASKS, [id]);
    await tx.query(UNGROUP, [id]);
    await tx.query('DELETE FROM projects WHERE id = $1', [id]);
  }

  /** Throws 404 unless the caller sees the project, 403 unless it may change it. */
  private async lock(auth: AuthContext, tx: UnitOfWork, id: string, how: string): Promise<void> {
    const text = `WITH ${MEMBER} SELECT p.owner_id AS "ownerId" FROM member, projects p WHERE ${VISIBLE} AND p.id = $4 ${how} OF p`;
    const [project] = isUuid(id) ? await tx.query<{ ownerId: string }>(text, [...scope(auth), id]) : [];
    if (project === undefined) return missing();
    auth.requireOwnership(project.ownerId, 'project');
  }

  private async read<T extends object>(name: string, text: string, values: unknown[]): Promise<T[]> {
    return (await this.database.read.query<T>({ name, text, values })).rows;
  }
}

function missing(): never {
  throw notFound('project');
}
