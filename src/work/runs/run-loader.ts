import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { AgentInput, Approvals, Budget } from '../../engine/agent/agent-engine.js';
import { Database } from '../../platform/database/database.js';
import { freeName } from '../../resources/files/file-name.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import type { ConversationMessage, StoredPart, ToolInvocation, ToolResult } from '../../engine/models/conversation.js';
import type { Effort } from '../../engine/models/model-provider.js';
import { INVOCATIONS, type InvocationRow } from '../../resources/tasks/messages/message.row.js';
import { type ClaimedRun, FencedError } from './claimed-run.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';

interface TaskInput {
  userId: string;
  model: string;
  effort: Effort | null;
  approvals: Approvals;
  approvedTools: string[];
  budget: Budget | null;
  steps: number;
  tokens: number;
  durationMs: number;
  files: { path: string; sha256: string }[] | null;
  project: { name: string; sha256: string }[] | null;
  messages: MessageInput[] | null;
}

interface MessageInput {
  id: string;
  role: 'user' | 'assistant';
  parts: StoredPart[];
  invocations: InvocationRow[] | null;
}

// The messages are in the order in which the model reads, not in which they were sent: one that waited stands after what went
// on meanwhile. As JSON for the reason of docs/decisions/0017.
const TASK = `
SELECT t.created_by AS "userId", t.model, t.effort, t.approvals, t.approved_tools AS "approvedTools",
  t.budget, t.turn_steps AS steps, t.turn_tokens::float8 AS tokens,
  t.turn_duration_ms::float8 AS "durationMs",
  (SELECT json_agg(json_build_object('path', f.path, 'sha256', f.sha256) ORDER BY f.path)
   FROM files f WHERE f.task_id = t.id AND f.path IS NOT NULL) AS files,
  (SELECT json_agg(json_build_object('name', f.name, 'sha256', f.sha256) ORDER BY f.created_at, f.id)
   FROM files f WHERE f.project_id = t.project_id AND f.origin = 'project') AS project,
  (SELECT json_agg(json_build_object('id', m.id, 'role', m.role, 'parts', m.parts,
     'invocations', CASE m.role WHEN 'assistant' THEN ${INVOCATIONS} END) ORDER BY m.read_seq)
   FROM messages m WHERE m.task_id = t.id AND m.read_seq IS NOT NULL) AS messages
FROM tasks t WHERE t.id = $1`;

/** Assembles what an engine needs to drive a claimed run: one read. */
@Injectable()
export class RunLoader {
  constructor(
    private readonly database: Database,
    private readonly storage: FileStorage,
  ) {}

  async load(run: ClaimedRun, signal: AbortSignal): Promise<AgentInput> {
    const query = { name: 'run', text: TASK, values: [run.taskId] };
    const { rows } = await retryWhileUnavailable(() => this.database.work.query<TaskInput>(query), signal);
    const [task] = rows;
    // Deleted since it was claimed.
    if (task === undefined) throw new FencedError(run);
    const { steps, tokens, durationMs } = task;
    return {
      taskId: run.taskId,
      workspaceId: run.workspaceId,
      userId: task.userId,
      runId: run.runId,
      model: { id: task.model, effort: task.effort },
      messages: (task.messages ?? []).map(conversationMessage),
      approvals: task.approvals,
      approvedTools: task.approvedTools,
      budget: task.budget ?? {},
      spent: { steps, tokens, durationMs },
      files: (task.files ?? []).map(({ path, sha256 }) => ({ path, open: () => this.bytes(run, sha256) })),
      project: withFreeNames(task.project ?? []).map(({ name, sha256 }) => ({
        name,
        open: () => this.bytes(run, sha256),
      })),
      signal,
    };
  }

  private async bytes({ workspaceId }: ClaimedRun, sha256: string): Promise<Readable> {
    return (await this.storage.driver.open(workspaceId, sha256)).stream;
  }
}

/** The oldest of equal names keeps it, the others get a number. */
function withFreeNames<T extends { name: string }>(files: T[]): T[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const name = freeName(file.name, taken);
    taken.add(name);
    return { ...file, name };
  });
}

function conversationMessage({ id, role, parts, invocations }: MessageInput): ConversationMessage {
  return { id, role, parts, invocations: (invocations ?? []).map(toolInvocation) };
}

function toolInvocation({ toolCallId, name, input, stage, ...row }: InvocationRow): ToolInvocation {
  return { toolCallId, name, input, result: toolResult(row), stage };
}

function toolResult({ state, output, error }: Pick<InvocationRow, 'state' | 'output' | 'error'>): ToolResult | null {
  switch (state) {
    case 'running':
      return null;
    case 'success':
      return { status: 'success', output };
    case 'error':
      return { status: 'error', error: error ?? '' };
    case 'denied':
      return { status: 'denied', reason: error };
  }
}
