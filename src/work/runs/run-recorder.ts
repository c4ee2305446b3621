import { Injectable, Logger } from '@nestjs/common';
import type { AgentEvent, AgentFeedback, AgentOutcome, InputFile } from '../../engine/agent/agent-engine.js';
import type { PublishedFile, Question } from '../../engine/agent/agent-tool.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { costOf } from '../../engine/models/prices.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { EventBell } from '../../platform/events/event-bell.js';
import type { Query } from '../../platform/database/sql.js';
import { usedUpText } from '../../resources/billing/usage-text.js';
import { type UsageRules, usageRulesOf } from '../../resources/billing/usage.sql.js';
import { cleanName } from '../../resources/files/file-name.js';
import { exhaustedText, type KeptRoom, StorageQuota } from '../../resources/files/storage-quota.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import { newId } from '../../platform/database/ids.js';
import type { StoredPart } from '../../engine/models/conversation.js';
import { type ClaimedRun, FencedError } from './claimed-run.js';
import {
  BEGIN_CALL,
  COMPLETED,
  FAILED,
  PUBLISH,
  QUESTION,
  SHA256,
  STEP,
  TOOL,
  WORKDIR,
  type Written,
} from './run-recorder.sql.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { told } from './tool-result.js';

type Event<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>;
type Outcome<T extends AgentOutcome['type']> = Extract<AgentOutcome, { type: T }>;

/** How long the last write about a run that is lost waits for the task. */
const PATIENCE_MS = 10_000;

/** A run, and the signal that ends its work here. */
interface Held {
  run: ClaimedRun;
  signal: AbortSignal;
}

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
    private readonly database: Database,
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
    private readonly sandboxes: SandboxSelector,
    private readonly env: Env,
    private readonly bell: EventBell,
    private readonly models: ModelCatalog,
  ) {
    this.rules = usageRulesOf(env.file);
  }

  async record(run: ClaimedRun, event: AgentEvent, signal: AbortSignal): Promise<AgentFeedback> {
    const { steer, above, exhausted } = await this.write({ run, signal }, event);
    const messages = steer ?? [];
    return {
      steer: messages.map(({ id, parts }) => ({ id, role: 'user', parts, invocations: [] })),
      files: messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'file' ? [this.input(run, part)] : [])),
      ),
      ...(above === undefined ? {} : { storageExhausted: above === null ? null : exhaustedText(above) }),
      ...(exhausted === undefined ? {} : { usageExhausted: exhausted === null ? null : usedUpText(exhausted) }),
    };
  }

  /**
   * Ends the run. A message that waits has its next run in the queue with it.
   * @param worked whether it had calls: the workdir is then measured, for the last command is.
   */
  async finish(run: ClaimedRun, outcome: AgentOutcome, signal: AbortSignal, worked = false): Promise<void> {
    const held = { run, signal };
    const workdirBytes = worked ? await this.measure(run.taskId) : null;
    await this.end(held, outcome, workdirBytes);
    this.bell.ring();
  }

  private async end(held: Held, outcome: AgentOutcome, workdirBytes: number | null): Promise<void> {
    const { run } = held;
    switch (outcome.type) {
      case 'completed':
        await this.fenced(held, COMPLETED({ run, workdirBytes, resultText: outcome.text, nextRunId: newId() }));
        return;
      case 'failed': {
        const { code, message, retryable } = outcome;
        await this.fenced(held, FAILED({ run, workdirBytes, reason: { code, message, retryable } }));
        return;
      }
      case 'question': {
        const { question } = outcome;
        return this.interaction(
          { ...held, workdirBytes },
          outcome,
          question.options === null ? 'question' : 'choice',
          question,
        );
      }
      case 'approval': {
        const { question } = outcome;
        return this.interaction({ ...held, workdirBytes }, outcome, 'approval', {
          question,
          options: null,
          multiple: false,
          allowText: false,
        });
      }
    }
  }

  private write(held: Held, event: AgentEvent): Promise<Written> {
    switch (event.type) {
      case 'step':
        return this.step(held, event);
      case 'begin': {
        const { messageId, toolCallId } = event;
        return this.fenced(held, BEGIN_CALL({ run: held.run, messageId, toolCallId }));
      }
      case 'tool':
        return this.tool(held, event);
    }
  }

  private step(held: Held, { messageId, parts, calls, usage }: Event<'step'>): Promise<Written> {
    return this.fenced(
      held,
      STEP({
        run: held.run,
        messageId,
        status: calls.length === 0 ? 'complete' : 'in_progress',
        parts,
        calls: calls.map((call, idx) => ({ idx, ...call })),
        ...usage,
        costMicros: costOf(usage, this.models.prices(held.run.model)),
        model: held.run.model,
        rules: this.rules,
      }),
    );
  }

  private async tool(held: Held, event: Event<'tool'>): Promise<Written> {
    const { messageId, toolCallId, last, parts, workdirBytes = null } = event;
    const about = {
      run: held.run,
      messageId,
      toolCallId,
      last,
      parts,
      workdirBytes,
      limits: this.quota.limits,
      rules: this.rules,
    };
    const rooms: KeptRoom[] = [];
    try {
      const { result, files } = await this.stored(held, event, rooms);
      if (files.length === 0) return await this.fenced(held, TOOL({ ...about, ...told(result) }));
      const publishedBytes = files.reduce((sum, { size }) => sum + size, 0);
      const written = await this.tried(held, PUBLISH({ ...about, ...told(result), files, publishedBytes }));
      if (written !== undefined) return written;
      // The room was taken meanwhile, or the run is not ours any more: the next write tells.
      const { message } = await this.quota.refusal(held.run.workspaceId, publishedBytes);
      return await this.fenced(held, TOOL({ ...about, ...told({ status: 'error', error: message }) }));
    } finally {
      for (const { release } of rooms) release();
    }
  }

  private input(run: ClaimedRun, { fileId, path }: Extract<StoredPart, { type: 'file' }>): InputFile {
    const open = async () => {
      const [file] = await this.database.work.run(SHA256({ fileId }));
      return (await this.storage.open(run.workspaceId, file?.sha256 ?? '')).stream;
    };
    return { path, open };
  }

  /** The bytes go to storage before the row: bytes without a row are swept up, a row without bytes would be a lie. */
  private async stored(held: Held, { result, files }: Event<'tool'>, rooms: KeptRoom[]) {
    try {
      const stored = [];
      for (const file of files) stored.push(await this.store(held, file, rooms));
      return { result, files: stored };
    } catch (error) {
      return { result: { status: 'error' as const, error: this.notStored(held.run, error) }, files: [] };
    }
  }

  /** What the model reads. The words of an {@link ApiError} are for a client; what else fails is for the operator's log. */
  private notStored({ taskId }: ClaimedRun, error: unknown): string {
    if (error instanceof ApiError) return error.message;
    this.logger.error(`A file of task ${taskId} was not stored: ${String(error)}`);
    return 'The file could not be stored by the service.';
  }

  private async store(
    { run, signal }: Held,
    { id, name: given, size: announced, content }: PublishedFile,
    rooms: KeptRoom[],
  ) {
    const name = cleanName(given);
    const what = announced === undefined ? null : `${name} of ${announced} bytes`;
    const expected = announced ?? null;
    const room = await retryWhileUnavailable(() => this.quota.room(run.workspaceId, null, expected, what), signal);
    rooms.push(room);
    if (announced !== undefined && announced > room.maxBytes) throw room.tooLong;
    const { maxBytes, tooLong } = room;
    const { mediaType, size, sha256 } = await this.storage.put(run.workspaceId, content, { maxBytes, tooLong, name });
    return { id, name, mediaType, size, sha256 };
  }

  /** Null when it cannot be measured: then the figure stays. */
  private measure(taskId: string): Promise<number | null> {
    return this.sandboxes.current.workdirBytes(taskId).catch((error: unknown) => {
      this.logger.warn(`The workdir of task ${taskId} was not measured: ${String(error)}`);
      return null;
    });
  }

  /** Records the size of the workdir of a run that was taken from here: no write of the run can do that any more. */
  async left(run: ClaimedRun): Promise<void> {
    const { taskId } = run;
    const workdirBytes = await this.measure(taskId);
    await this.tried({ run, signal: AbortSignal.timeout(PATIENCE_MS) }, WORKDIR({ taskId, workdirBytes }));
  }

  /** Ends the run until a person answers. */
  private async interaction(
    { workdirBytes, ...held }: Held & { workdirBytes: number | null },
    { messageId, toolCallId }: Outcome<'question' | 'approval'>,
    type: 'question' | 'choice' | 'approval',
    question: Question,
  ): Promise<void> {
    const ttlSeconds = this.env.variables.INTERACTION_TTL_SECONDS;
    const asked = { interactionId: newId(), messageId, toolCallId, type, ...question, ttlSeconds };
    await this.fenced(held, QUESTION({ run: held.run, workdirBytes, ...asked }));
  }

  /** Waits for the task in slices: between them its connection serves the runs whose tasks nobody has locked. */
  private async tried<Row>({ signal }: Held, query: Query<Row>): Promise<Row | undefined> {
    let rows: Row[] | null;
    while ((rows = await this.slice(query, signal)) === null) signal.throwIfAborted();
    return rows[0];
  }

  private async fenced<Row>(held: Held, query: Query<Row>): Promise<Row> {
    const row = await this.tried(held, query);
    if (row === undefined) throw new FencedError(held.run);
    return row;
  }

  /** Null when the task was locked all the time. */
  private async slice<Row>(query: Query<Row>, signal: AbortSignal): Promise<Row[] | null> {
    // Not `run` of the pool: it closes the connection after any error, a lock that was not had in time too, and a write that
    // asks again on a new one overtakes those that wait. A statement that was sent may be committed whatever the error says:
    // the executor then lets the run go, and a worker loads it again.
    const client = await retryWhileUnavailable(() => this.database.work.connect(), signal);
    let broken = false;
    try {
      return query.rowsOf(await client.query(query));
    } catch (error) {
      broken = !isLockTimeout(error);
      if (broken) throw error;
      return null;
    } finally {
      client.release(broken);
    }
  }
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03';
}
