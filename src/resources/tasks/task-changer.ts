import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { notFound } from '../../platform/http/api-error.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ProjectsService } from '../projects/projects.service.js';
import type { ChangeTaskDto } from './task.dto.js';
import { lockTask, readTask } from './task-lock.js';
import type { TaskRow } from './task.row.js';

// $3 and $5: whether the value after it is given; it may be null.
const CHANGE = `
UPDATE tasks SET title = coalesce($2, title), project_id = CASE WHEN $3::boolean THEN $4::uuid ELSE project_id END,
  budget = CASE WHEN $5::boolean THEN $6::jsonb ELSE budget END, metadata = coalesce($7::jsonb, metadata), updated_at = now()
WHERE id = $1`;

/** What may be changed of a task afterwards (reference §4). */
@Injectable()
export class TaskChanger {
  constructor(private readonly projects: ProjectsService) {}

  /** Changes what is given; nothing given changes nothing. Throws 404, for a project with its `param`, and 403. */
  async change(auth: AuthContext, tx: UnitOfWork, taskId: string, input: ChangeTaskDto): Promise<TaskRow> {
    const { title, projectId, budget, metadata } = input;
    // Project before task, as whoever deletes a project locks them; the task's own 404 is told first all the same.
    const seen = projectId == null || (await this.projects.hold(auth, tx, projectId));
    const task = await lockTask(auth, tx, taskId);
    if (!seen) throw notFound('project', 'projectId');
    auth.requireOwnership(task.createdById, 'task');
    if (Object.values(input).some((value) => value !== undefined)) {
      const [newBudget, newMetadata] = [budget, metadata].map((value) =>
        value == null ? null : JSON.stringify(value),
      );
      const given = [projectId !== undefined, projectId, budget !== undefined, newBudget];
      await tx.query(CHANGE, [task.id, title, ...given, newMetadata]);
    }
    return readTask(tx, task.id);
  }
}
