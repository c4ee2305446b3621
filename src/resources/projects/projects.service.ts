import { Injectable } from '@nestjs/common';
import type { Actor, AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { asChecks } from '../tasks/checks/checks.dto.js';
import { holdEnvironment } from '../environments/hold-environment.js';
import type { ChangeProjectDto, CreateProjectDto } from './project.dto.js';
import { Project } from './project.entity.js';
import {
  GET,
  HOLD,
  LIST,
  LOCK_AUTOMATIONS,
  LOCK_TASKS,
  LOCK_TO_CHANGE,
  LOCK_TO_DELETE,
  type ProjectRow,
  READ,
  SEES,
  UNGROUP_AUTOMATIONS,
  UNGROUP_TASKS,
} from './projects.sql.js';

@Injectable()
export class ProjectsService {
  constructor(private readonly database: Database) {}

  async get(auth: AuthContext, id: string): Promise<ProjectRow> {
    const [row] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    return row ?? missing();
  }

  /** Whether the caller sees the project. */
  async sees(auth: AuthContext, id: string): Promise<boolean> {
    return isUuid(id) && (await this.database.read.run(SEES({ auth, id }))).length > 0;
  }

  /**
   * As {@link sees}, and keeps the project from being deleted until the transaction ends. Locks are taken in the order
   * project, task, run: so this comes before the lock of a task that exists.
   */
  async hold(auth: Actor, tx: UnitOfWork, id: string): Promise<boolean> {
    return isUuid(id) && (await tx.run(HOLD({ auth, id }))).length > 0;
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
  }

  /** Throws 404 for an environment that there is not, with its `param`. */
  async create(auth: AuthContext, tx: UnitOfWork, input: CreateProjectDto): Promise<ProjectRow> {
    const {
      name,
      description = null,
      visibility = 'private',
      tags = [],
      environment = null,
      maxRepairs = null,
    } = input;
    const environmentId = await environmentIdOf(auth, tx, environment);
    const { workspaceId, userId: ownerId } = auth;
    const projects = tx.manager.getRepository(Project);
    const checks = input.checks == null ? null : asChecks(input.checks);
    const plain = { name, description, visibility, tags, checks, maxRepairs };
    const fields = { id: newId(), workspaceId, ownerId, environmentId, ...plain };
    const project = projects.create(fields);
    await projects.insert(project);
    return { ...project, ownerName: auth.user.name, environment };
  }

  /** Changes what is given; nothing given changes nothing. Throws 404, for an environment with its `param`, and 403 unless the caller may change it. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, input: ChangeProjectDto): Promise<ProjectRow> {
    const { environment, checks, ...plain } = input;
    // Environment before project, as a request that deletes an environment locks them; the project's own 404 is told first all the same.
    if (environment != null && (!isUuid(id) || (await tx.run(SEES({ auth, id }))).length === 0)) return missing();
    const chosen = environment === undefined ? {} : { environmentId: await environmentIdOf(auth, tx, environment) };
    const checked = checks === undefined ? {} : { checks: checks === null ? null : asChecks(checks) };
    await this.lock(auth, tx, id, LOCK_TO_CHANGE);
    if (Object.values(input).some((value) => value !== undefined))
      await tx.manager
        .getRepository(Project)
        .update({ id }, { ...plain, ...chosen, ...checked, updatedAt: () => 'now()' });
    const [row] = await tx.run(READ({ id }));
    return row ?? missing();
  }

  /** Its tasks, files and automations stay, without a project. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    await this.lock(auth, tx, id, LOCK_TO_DELETE);
    await tx.run(LOCK_AUTOMATIONS({ id }));
    await tx.run(UNGROUP_AUTOMATIONS({ id }));
    await tx.run(LOCK_TASKS({ id }));
    await tx.run(UNGROUP_TASKS({ id }));
    // The foreign key of files sets their project to null.
    await tx.manager.getRepository(Project).delete({ id });
  }

  /** Throws 404 unless the caller sees the project, 403 unless it may change it. */
  private async lock(auth: AuthContext, tx: UnitOfWork, id: string, statement: typeof LOCK_TO_CHANGE): Promise<void> {
    const [project] = isUuid(id) ? await tx.run(statement({ auth, id })) : [];
    if (project === undefined) return missing();
    auth.requireOwnership(project.ownerId, 'project');
  }
}

/** Of the environment that tasks of a project are to work in. Throws 404 with its `param`. */
async function environmentIdOf(auth: AuthContext, tx: UnitOfWork, slug: string | null): Promise<string | null> {
  return slug === null ? null : (await holdEnvironment(auth, tx, { slug, version: null })).id;
}

function missing(): never {
  throw notFound('project');
}
