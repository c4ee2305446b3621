import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { checkMaxCost } from '../../engine/models/model-choice.js';
import { notFound } from '../../platform/http/api-error.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
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
  ) {}

  /** Changes what is given; nothing given changes nothing. Throws 404, for a project with its `param`, 403, and 400 for `budget.maxCost` on a model without prices. */
  async change(auth: AuthContext, tx: UnitOfWork, taskId: string, input: ChangeTaskDto): Promise<TaskRow> {
    const { title = null, projectId = null, budget = null, metadata = null } = input;
    // Project before task, as a request that deletes a project locks them; the task's own 404 is told first all the same.
    const seen = projectId === null || (await this.projects.hold(auth, tx, projectId));
    const task = await lockTask(auth, tx, taskId);
    if (!seen) throw notFound('project', 'projectId');
    auth.requireOwnership(task.createdById, 'task');
    checkMaxCost(this.models, task.model, budget?.maxCost);
    if (Object.values(input).some((value) => value !== undefined)) {
      const given = { setsProject: input.projectId !== undefined, setsBudget: input.budget !== undefined };
      await tx.run(CHANGE({ taskId: task.id, title, projectId, budget, metadata, ...given }));
    }
    return readTask(tx, task.id);
  }
}
