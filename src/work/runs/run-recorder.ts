import { Injectable, Logger } from '@nestjs/common';
import type { AgentEvent, AgentFeedback, AgentOutcome } from '../../engine/agent/agent-engine.js';
import type { Question } from '../../engine/agent/agent-tool.js';
import { TRACELESS } from '../../engine/agent/tools/traceless.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import type { ModelUsage } from '../../engine/models/model-provider.js';
import { costOf } from '../../engine/models/prices.js';
import { Env } from '../../platform/config/env.js';
import { usedUpText } from '../../resources/billing/usage-text.js';
import { type UsageRules, usageRulesOf } from '../../resources/billing/usage.sql.js';
import { exhaustedText } from '../../resources/files/storage-quota.js';
import type { WaitingFor } from '../../resources/tasks/task.entity.js';
import { titleIn } from '../../resources/tasks/task-title.js';
import { newId } from '../../platform/database/ids.js';
import { isBlock } from '../../engine/agent/when-blocked.js';
import type { ToolResult } from '../../engine/models/conversation.js';
import { Machine } from '../machines/machine.js';
import type { ClaimedRun, ActiveRun } from './claimed-run.js';
import { RunChildren } from './run-children.js';
import { commandQuery } from './run-commands.sql.js';
import { RunChecks } from './run-checks.js';
import { BESIDE } from './run-beside.sql.js';
import { CUT, SUMMARY } from './run-cuts.sql.js';
import { FencedWrites } from './fenced-writes.js';
import { BLOCKED, COMPLETED, FAILED, QUESTION } from './run-ends.sql.js';
import { pushQuery } from './run-push.sql.js';
import {
  BEGIN_CALL,
  CHANGES,
  CHANGES_PATCH,
  CLONED,
  ENGINE_SESSION,
  NETWORK,
  PUBLISH,
  STEP,
  STEP_FREELY,
  TOOL,
  TOOL_FREELY,
  WORKDIR,
  type Written,
} from './run-recorder.sql.js';
import { PublishedFiles } from './published-files.js';
import { mayChange } from './midway-snapshots.js';
import { namesOf } from './run-network.js';
import { RunSnapshots } from './run-snapshots.js';
import { WAITS } from './run-waits.js';
import { TITLE } from './run-title.sql.js';
import { TaskFolders } from './task-folders.js';
import { told } from './tool-result.js';

type Event<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;
type Outcome<T extends AgentOutcome['type']> = Extract<AgentOutcome, { type: T }>;

/** What becomes of a run. */
export type Ended = AgentOutcome['type'] | 'blocked';

/** What the end of a run says of the folder of its task. Bytes; null: not measured since the last time. */
interface Folder {
  workdirBytes: number | null;
  hasFolder: boolean;
}

/** How long the last write about a run that is lost waits for the task. */
const PATIENCE_MS = 10_000;

/** What a write answers, and the result that was recorded: the event's, or another one in its place. */
type Recorded = Written & { result?: ToolResult };

/**
 * The only writer of what an agent does. Each method resolves when its write is committed, and throws
 * {@link FencedError} when the run is no longer ours: then nothing was written. It waits for a locked task, and for a
 * database that is away, until the signal is aborted.
 */
@Injectable()
export class RunRecorder {
  private readonly logger = new Logger(RunRecorder.name);
  private readonly rules: UsageRules;

  constructor(
    private readonly writes: FencedWrites,
    private readonly files: PublishedFiles,
    private readonly folders: TaskFolders,
    private readonly snapshots: RunSnapshots,
    private readonly machine: Machine,
    private readonly checks: RunChecks,
    private readonly children: RunChildren,
    private readonly models: ModelCatalog,
    private readonly env: Env,
  ) {
    this.rules = usageRulesOf(env.file);
  }

  async record(run: ClaimedRun, event: AgentEvent, signal: AbortSignal): Promise<AgentFeedback> {
    const { steer, above, exhausted, result } = await this.write({ run, signal }, event);
    const messages = steer ?? [];
    return {
      steer: messages.map(({ id, parts }) => ({ id, role: 'user', parts, invocations: [] })),
      files: messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'file' ? [this.files.input(run, part)] : [])),
      ),
      ...(result === undefined ? {} : { result }),
      ...(above === undefined ? {} : { storageExhausted: above === null ? null : exhaustedText(above) }),
      ...(exhausted === undefined ? {} : { usageExhausted: exhausted === null ? null : usedUpText(exhausted) }),
    };
  }

  /**
   * Ends the run. A message that waits has its next run in the queue with it. After a failure that passes by itself the run of a task that
   * waits for that is put aside instead. Resolves with what became of it.
   * @param worked whether it had calls or a clone, or a folder that does not count yet: the workdir is then measured, for the last command is.
   */
  async finish(run: ClaimedRun, outcome: AgentOutcome, signal: AbortSignal, worked = false): Promise<Ended> {
    const held = { run, signal };
    const workdirBytes = worked ? await this.folders.measure(run.taskId) : null;
    const folder = { workdirBytes, hasFolder: await this.snapshots.take(held) };
    if (isBlock(outcome) && (await this.blocked(held, outcome, folder))) return 'blocked';
    await this.end(held, outcome, folder);
    return outcome.type;
  }

  /** Whether the task waits for what has blocked it; nothing is written when it does not. */
  private async blocked(held: ActiveRun, outcome: Outcome<'failed'>, folder: Folder): Promise<boolean> {
    const { code, message, retryable, retryAfterMs = null } = outcome;
    const about = { run: held.run, rules: this.rules, ...folder, retryAfterMs };
    const waits = await this.writes.tried(held, BLOCKED({ ...about, reason: { code, message, retryable } }));
    if (waits !== undefined) this.writes.tell(held);
    return waits !== undefined;
  }

  private async end(held: ActiveRun, outcome: AgentOutcome, folder: Folder): Promise<void> {
    const { run } = held;
    switch (outcome.type) {
      case 'completed':
        return void (await this.writes.fencedInLog(held, COMPLETED({ run, ...folder, outcome, nextRunId: newId() })));
      case 'failed': {
        const { code, message, retryable } = outcome;
        const reason = { code, message, retryable };
        return void (await this.writes.fencedInLog(held, FAILED({ run, ...folder, reason })));
      }
      case 'tasks':
        return this.children.wait(held, folder);
      case 'question': {
        const { question } = outcome;
        const type = question.options === null ? 'question' : 'choice';
        return this.interaction({ ...held, ...folder }, outcome, type, question);
      }
      case 'approval': {
        const { question, tool, grants = null } = outcome;
        const asked = { question, tool, grants, options: null, multiple: false, allowText: false };
        return this.interaction({ ...held, ...folder }, outcome, 'approval', asked);
      }
    }
  }

  private write(held: ActiveRun, event: AgentEvent): Promise<Recorded> {
    switch (event.type) {
      case 'step':
        return this.step(held, event);
      case 'begin':
        return this.writes.fenced(held, BEGIN_CALL({ run: held.run, ...event, traceless: TRACELESS }));
      case 'delegate':
        return this.children.make(held, event);
      case 'cloned':
        return this.writes.fenced(held, CLONED({ run: held.run, commit: event.commit }));
      case 'engine_session':
        return this.writes.fenced(held, ENGINE_SESSION({ run: held.run, session: event.session }));
      case 'changes':
        return this.changes(held, event);
      case 'tool':
        return this.tool(held, event);
      case 'cut':
        return this.cut(held, event);
      case 'title':
        return this.title(held, event);
      case 'spent':
        return this.writes.fenced(
          held,
          BESIDE({ run: held.run, messageId: newId(), ...this.metered(held, event.usage, event.model) }),
        );
      case 'command_started':
      case 'command_said':
      case 'command_ended':
      case 'command_seen':
      case 'commands_told':
        return this.writes.fenced(held, commandQuery(held.run, event));
      case 'check':
      case 'checked':
      case 'checks':
        return this.checks.record(held, event);
      default: {
        const inLog = event.type === 'push' && event.record.pullRequestUrl != null;
        return this.writes[inLog ? 'fencedInLog' : 'fenced'](held, pushQuery(held.run, event));
      }
    }
  }

  private cut(held: ActiveRun, { usage, model, ...event }: Event<'cut'>): Promise<Written> {
    const about = { run: held.run, ...event };
    const query = usage === null ? CUT(about) : SUMMARY({ ...about, ...this.metered(held, usage, model) });
    return this.writes.fenced(held, query);
  }

  private async title(held: ActiveRun, { text, usage, model }: Event<'title'>): Promise<Written> {
    const about = { run: held.run, messageId: newId(), title: await titleIn(text) };
    return this.writes.fencedInLog(held, TITLE({ ...about, ...this.metered(held, usage, model) }));
  }

  private metered({ run }: ActiveRun, usage: ModelUsage, model = run.model) {
    return { ...usage, costMicros: costOf(usage, this.models.prices(model)), model, rules: this.rules };
  }

  private async step(held: ActiveRun, event: Event<'step'>): Promise<Written> {
    const { messageId, parts, calls, begun = null, usage, surroundings, model } = event;
    const about = {
      run: held.run,
      messageId,
      status: calls.length === 0 ? 'complete' : 'in_progress',
      parts,
      calls: calls.map((call, idx) => ({ ...call, idx, input: JSON.stringify(call.input) })),
      begun,
      changes: mayChange(calls),
      ...this.metered(held, usage, model),
      beganWith: surroundings?.messageId ?? null,
      surroundings: surroundings?.part ?? null,
    };
    const which = about.beganWith === null ? 'further' : 'first';
    const written = await this.writes.freely(held, STEP_FREELY[which](about), STEP[which](about));
    held.run.hasChecks = written.hasChecks === true;
    return written;
  }

  private async tool(held: ActiveRun, event: Event<'tool'>): Promise<Recorded> {
    const { messageId, toolCallId, last, parts, network = null } = event;
    if (network !== null) await this.writes.fenced(held, NETWORK({ run: held.run, ...namesOf(network) }));
    const workdirBytes = await this.folders.withRepository(held.run.taskId, event.workdirBytes ?? null);
    const about = {
      ...{ run: held.run, messageId, toolCallId, last, parts, workdirBytes, traceless: TRACELESS },
      ...{ limits: this.files.quota.limits, rules: this.rules },
    };
    return this.files.keeping(held, event, async ({ result, files, publishedBytes }) => {
      if (files.length === 0) {
        const all = { ...about, ...told(result) };
        return { ...(await this.writes.freely(held, TOOL_FREELY(all), TOOL(all))), result };
      }
      const written = await this.writes.tried(held, PUBLISH({ ...about, ...told(result), files, publishedBytes }));
      if (written !== undefined) return written;
      // The room was taken meanwhile, or the run is not ours any more: the next write tells.
      const { message } = await this.files.quota.refusal(held.run.workspaceId, publishedBytes);
      const refused = { status: 'error' as const, error: message };
      return { ...(await this.writes.fenced(held, TOOL({ ...about, ...told(refused) }))), result: refused };
    });
  }

  /** Without room for the patch the figures are recorded alone. */
  private async changes(held: ActiveRun, { counted, patch }: Event<'changes'>): Promise<Written> {
    const { run } = held;
    if (patch === null) return this.writes.fenced(held, CHANGES({ run, counted }));
    const { limits } = this.files.quota;
    const written = await this.files.own(held, patch, (stored) =>
      this.writes.tried(held, CHANGES_PATCH({ run, counted, ...stored, limits })),
    );
    const left = counted === null ? null : { ...counted, patchOmitted: true };
    return written ?? this.writes.fenced(held, CHANGES({ run, counted: left }));
  }

  /** Records what the run waits for; null: it goes on. Throws {@link FencedError} when the run is not ours any more. */
  async waits(run: ClaimedRun, waitingFor: WaitingFor | null, signal: AbortSignal): Promise<void> {
    await this.writes.fencedInLog({ run, signal }, WAITS({ run, waitingFor }));
  }

  /** For a run that goes back to the queue: the worker that takes it up finds the folder as it is now. */
  async handOver(run: ClaimedRun, signal: AbortSignal): Promise<void> {
    await this.snapshots.take({ run, signal });
  }

  /**
   * Records the size of the workdir of a run that was taken from here: no write of the run can do that any more. The folder of a cancelled one has a
   * snapshot first.
   * @param signal ends that.
   */
  async left(run: ClaimedRun, signal: AbortSignal): Promise<void> {
    await this.snapshots.takeOfCancelled({ run, signal });
    const workdirBytes = await this.folders.measure(run.taskId);
    const size = WORKDIR({ taskId: run.taskId, workdirBytes, machineId: this.machine.id });
    await this.writes.tried({ run, signal: AbortSignal.timeout(PATIENCE_MS) }, size);
  }

  /** Ends the run until a person answers. */
  private async interaction(
    { workdirBytes, hasFolder, ...held }: ActiveRun & Folder,
    { messageId, toolCallId }: Outcome<'question' | 'approval'>,
    type: 'question' | 'choice' | 'approval',
    { tool = null, grants = null, ...question }: Question & { tool?: string | null; grants?: string | null },
  ): Promise<void> {
    const ttlSeconds = this.env.variables.INTERACTION_TTL_SECONDS;
    const asked = { interactionId: newId(), messageId, toolCallId, type, ...question, tool, grants, ttlSeconds };
    await this.writes.fencedInLog(held, QUESTION({ run: held.run, workdirBytes, hasFolder, ...asked }));
  }
}
