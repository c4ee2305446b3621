import { Injectable } from '@nestjs/common';
import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import type { NewTask } from '../../engine/agent/delegation.js';
import type { StoredPart, ToolResult } from '../../engine/models/conversation.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { freeName } from '../../resources/files/file-name.js';
import { WAITING_FOR_TASKS, WAKE } from '../../resources/tasks/children/children.sql.js';
import { openingOf } from '../../resources/tasks/task-starter.js';
import type { ActiveRun } from './claimed-run.js';
import { FencedWrites } from './fenced-writes.js';
import { PublishedFiles } from './published-files.js';
import { type ChildFile, type ChildRow, IS_AHEAD, MAKE, WAIT } from './run-children.sql.js';
import type { Published, Written } from './run-recorder.sql.js';
import { RunSnapshots } from './run-snapshots.js';

const NO_COPY =
  'The folders could not be copied, because there is no snapshot of them as they are now. Use another `folder`.';

/** The tasks that a run makes (reference §27, docs/decisions/0103). */
@Injectable()
export class RunChildren {
  constructor(
    private readonly writes: FencedWrites,
    private readonly files: PublishedFiles,
    private readonly snapshots: RunSnapshots,
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  /** Makes them, all or none: with a `result` none was. */
  async make(
    held: ActiveRun,
    { messageId, toolCallId, tasks, base }: Extract<AgentEvent, { type: 'delegate' }>,
  ): Promise<Written & { result?: ToolResult }> {
    if (tasks.some(({ folder }) => folder === 'copy') && !(await this.hasSnapshot(held))) return refused(NO_COPY);
    const all = [...tasks.flatMap(({ files }) => files), ...(base === null ? [] : [base])];
    const given = { result: { status: 'success' as const, output: null }, files: all };
    return this.files.keeping(held, given, async ({ result, files, publishedBytes }) => {
      if (result.status === 'error') return { steer: null, result };
      const stored = new Map(files.map((file) => [file.id, file]));
      const made = tasks.map((task, idx) => childOf(task, idx, stored));
      const { run } = held;
      const { limits } = this.files.quota;
      const rows = { tasks: made.map(({ row }) => row), files: made.flatMap((one) => one.files) };
      const about = {
        run,
        messageId,
        toolCallId,
        ...rows,
        base: stored.get(base?.id ?? '') ?? null,
        limits,
        publishedBytes,
      };
      const written = await this.writes.tried(held, MAKE({ ...about, traceparent: run.traceparent }));
      if (written === undefined)
        return refused((await this.files.quota.refusal(run.workspaceId, publishedBytes)).message);
      for (const { runId } of rows.tasks) this.tell(held, runId);
      return { steer: null };
    });
  }

  /** Ends the run until they are over, which they may be by now. */
  async wait(held: ActiveRun, folder: { workdirBytes: number | null; hasFolder: boolean }): Promise<void> {
    await this.writes.fencedInLog(held, WAIT({ run: held.run, ...folder, reason: WAITING_FOR_TASKS }));
    const wake = WAKE({ parentId: held.run.taskId });
    const [woken] = await retryWhileUnavailable(() => this.database.polling.run(wake), held.signal);
    if (woken?.runId != null) this.tell(held, woken.runId);
  }

  private async hasSnapshot(held: ActiveRun): Promise<boolean> {
    if (!(await this.snapshots.take(held))) return true;
    const [found] = await this.database.work.run(IS_AHEAD({ taskId: held.run.taskId }));
    return found?.ahead === false;
  }

  private tell({ run }: ActiveRun, runId: string): void {
    this.notices.send({ work: { kind: RUNS, id: runId }, workspace: run.workspaceId });
  }
}

function childOf(
  task: NewTask,
  idx: number,
  stored: ReadonlyMap<string, Published>,
): { row: ChildRow; files: ChildFile[] } {
  const { title, content, named, agent, model, effort, budget, folder, reserved } = task;
  const id = newId();
  const taken = new Set<string>();
  const files = task.files.flatMap((file) => {
    const found = stored.get(file.id);
    if (found === undefined) return [];
    const name = freeName(found.name, taken);
    taken.add(name);
    return [{ ...found, taskId: id, name, path: `attachments/${name}` }];
  });
  const attached: StoredPart[] = files.map((file) => ({ type: 'file', fileId: file.id, name: file.name, mediaType: file.mediaType, path: file.path })); // prettier-ignore
  const row = {
    ...{
      idx,
      id,
      messageId: newId(),
      runId: newId(),
      title,
      opening: openingOf(content),
      model,
      effort,
      budget,
      folder,
    },
    ...{ agentId: agent?.id ?? null, agentVersion: agent?.version ?? null },
    ...{ reservedSteps: reserved.steps, reservedTokens: reserved.tokens, reservedCostMicros: reserved.costMicros },
    parts: [{ type: 'text' as const, text: content, named }, ...attached],
  };
  return { row, files };
}

const refused = (error: string): Written & { result: ToolResult } => ({
  steer: null,
  result: { status: 'error', error },
});
