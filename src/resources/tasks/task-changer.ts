import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { changeModel, checkMaxCost } from '../../engine/models/model-choice.js';
import { notFound } from '../../platform/http/api-error.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Notices } from '../../platform/notices/notices.js';
import { ProjectsService } from '../projects/projects.service.js';
import type { ChangeTaskDto } from './task.dto.js';
import { lockTask, readTask } from './task-lock.js';
import { CHANGE, type TaskRow } from './task.sql.js';

/** What may be changed of a task afterwards (reference §4). */
@Injectable()
export class TaskChanger {
  constructor(
    private readonly projects: ProjectsService,
    private readonly models: ModelCatalog,
    private readonly notices: Notices,
  ) {}

  /**
   * Changes what is given; nothing given changes nothing. Throws 404, for a project with its `param`, 403, and 400 for a model or an
   * effort that there is not, and for `budget.maxCost` on a model without prices. The model of a turn under way stays.
   */
  async change(auth: AuthContext, tx: UnitOfWork, taskId: string, input: ChangeTaskDto): Promise<TaskRow> {
    const { title = null, projectId = null, budget = null, metadata = null, tags = null, archived = null } = input;
    // Project before task, as a request that deletes a project locks them; the task's own 404 is told first all the same.
    const seen = projectId === null || (await this.projects.hold(auth, tx, projectId));
    const task = await lockTask(auth, tx, taskId);
    if (!seen) throw notFound('project', 'projectId');
    auth.requireOwnership(task.createdById, 'task');
    const { model, effort } = changeModel(this.models, task, input);
    const kept = model === task.model ? undefined : task.budget?.maxCost;
    checkMaxCost(this.models, model, input.budget === undefined ? kept : budget?.maxCost);
    if (Object.values(input).some((value) => value !== undefined)) {
      const given = { setsProject: input.projectId !== undefined, setsBudget: input.budget !== undefined };
      const values = { title, projectId, budget, metadata, tags, archived, model, effort };
      await tx.run(CHANGE({ taskId: task.id, ...values, ...given }));
      tx.afterCommit(() => this.notices.send({ tasks: [task.id], workspace: auth.workspaceId }));
    }
    return readTask(tx, task.id);
  }
}
