import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { TRACELESS } from '../../engine/agent/tools/traceless.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { changeModel, checkMaxCost } from '../../engine/models/model-choice.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { Billing } from '../billing/billing.service.js';
import { ProjectsService } from '../projects/projects.service.js';
import { limitsOf } from '../agents/find-agent.js';
import { budgetWithin, serversWithin, skillsWithin, stricter } from '../agents/with-agent.js';
import { FORK, HOLD_PROJECT_OF, HOLD_SOURCE, TURN_OF } from './task-fork.sql.js';
import { changedChecks } from './checks/checks.dto.js';
import type { ForkTaskDto } from './task-fork.dto.js';
import { readTask } from './task-lock.js';
import { TaskStarter } from './task-starter.js';
import type { StoredRepository } from './task.entity.js';
import type { TaskRow } from './task.sql.js';

/** The longest name of a branch that a fork's own ending still fits behind. */
const BRANCH = 240;

/** Makes a task of another one as that was at the end of a turn (reference §5). */
@Injectable()
export class TaskFork {
  constructor(
    private readonly models: ModelCatalog,
    private readonly projects: ProjectsService,
    private readonly billing: Billing,
    private readonly starter: TaskStarter,
    private readonly notices: Notices,
    private readonly mcp: McpServers,
  ) {}

  /**
   * Throws 404 for the task and the project, 400 for a turn that has not ended, a model or an effort that there is not, and a repository that
   * is no more allowed, 402 as a new task, and 409 `snapshot_gone` when nobody has the folder of that turn any more.
   */
  async fork(auth: AuthContext, tx: UnitOfWork, sourceId: string, input: ForkTaskDto): Promise<TaskRow> {
    const known = isUuid(sourceId);
    // Project before task, as a request that deletes a project locks them.
    const seen = input.projectId == null || (await this.projects.hold(auth, tx, input.projectId));
    if (known && input.projectId === undefined) await tx.run(HOLD_PROJECT_OF({ auth, sourceId }));
    const [source] = known ? await tx.run(HOLD_SOURCE({ auth, sourceId })) : [];
    if (source === undefined) throw notFound('task');
    if (!seen) throw notFound('project', 'projectId');
    if (input.mcpServers !== undefined) this.mcp.check(auth.workspace.slug, input.mcpServers);
    const { model, effort } = changeModel(this.models, source, input);
    const says = await limitsOf(auth, tx, source);
    const budget = budgetWithin(input.budget === undefined ? source.budget : input.budget, says?.budget ?? null);
    checkMaxCost(this.models, model, budget?.maxCost);
    const checks = changedChecks(source.checks, input);
    const { turn, snapshotId } = await this.turn(tx, source.id, input.turn);
    const taskId = newId();
    const repository = await this.repository(auth, tx, source.repository, taskId);
    const runId = input.content === undefined ? null : newId();
    const [forked] = await tx.run(
      FORK({
        auth,
        rules: this.billing.rules,
        sourceId: source.id,
        turn,
        snapshotId,
        taskId,
        messageId: newId(),
        runId,
        traceparent: tx.traceparent,
        title: input.title ?? null,
        model,
        effort,
        setsChecks: checks !== source.checks,
        checks,
        budget,
        approvals: stricter(source.approvals, says?.approvals ?? 'none'),
        web: source.web && says?.web !== false,
        metadata: input.metadata ?? null,
        tags: input.tags ?? null,
        setsProject: input.projectId !== undefined,
        projectId: input.projectId ?? null,
        whenBlocked: input.whenBlocked ?? null,
        skills: skillsWithin(source.skills, says),
        mcpServers: serversWithin(input.mcpServers ?? source.mcpServers, says),
        repository,
        parts: input.content === undefined ? [] : [{ type: 'text', text: input.content }],
      }),
    );
    if (forked === undefined) throw new Error('The task was not inserted.');
    if (runId !== null) {
      const { workspaceId, userId } = auth;
      await this.billing.authorize(tx, { workspaceId, userId, model, exhausted: forked.exhausted });
    }
    const work = runId === null ? {} : { work: { kind: RUNS, id: runId } };
    tx.afterCommit(() => this.notices.send({ ...work, workspace: auth.workspaceId }));
    return readTask(tx, taskId);
  }

  private async turn(tx: UnitOfWork, sourceId: string, wanted: number | undefined) {
    const [found] = await tx.run(TURN_OF({ sourceId, wanted: wanted ?? null, traceless: TRACELESS }));
    const { ended = 0, turn = 0, snapshotId = null, gone = false } = found ?? {};
    if (turn < 1 || turn > ended) {
      const which =
        ended === 0 ? 'No turn of the task has ended yet' : `turn must be one that has ended: 1 to ${ended}`;
      throw new ApiError('invalid_field', `${which}.`, { param: 'turn' });
    }
    if (!gone) return { turn, snapshotId };
    const message = `There is no snapshot of the end of turn ${turn}. GET /v1/tasks/${sourceId}/snapshots lists what there is.`;
    throw new ApiError('snapshot_gone', message, { param: 'turn' });
  }

  /** The same commit. Its branch is another one: both tasks may push. */
  private async repository(auth: AuthContext, tx: UnitOfWork, given: StoredRepository | null, taskId: string) {
    if (given === null) return null;
    const { url, ref, commit, push = null } = given;
    const wanted = { url, ...(ref === null ? {} : { ref }) };
    if (push === null) return { ...(await this.starter.repository(auth, tx, wanted)), url, ref, commit };
    const branch = `${push.branch.slice(0, BRANCH)}-fork-${taskId.slice(-8)}`;
    const { title, base, draft } = push.pullRequest ?? { title: null, base: null, draft: false };
    const pull = { ...(title === null ? {} : { title }), ...(base === null ? {} : { base }), draft };
    const pullRequest = push.pullRequest === null ? {} : { pullRequest: pull };
    const stored = await this.starter.repository(auth, tx, { ...wanted, push: { branch, ...pullRequest } });
    return { ...stored, url, ref, commit };
  }
}
