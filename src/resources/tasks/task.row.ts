import type { Approvals, Budget, StartedCall } from '../../engine/agent/agent-engine.js';
import type { Effort } from '../../engine/models/model-provider.js';
import type { StatusReason, TaskStatus } from './task-status.js';

export interface QuestionOption {
  id: string;
  label: string;
  description: string | null;
}

export interface InteractionRow {
  id: string;
  type: 'question' | 'choice' | 'approval';
  question: string;
  options: QuestionOption[] | null;
  multiple: boolean;
  allowText: boolean;
  /** The call that an approval is about. */
  toolCall: StartedCall | null;
  createdAt: string;
  expiresAt: string;
}

/** A task with its creator's name and its pending interaction, as {@link TASK_SELECT} reads it through `jsonRows`. */
export interface TaskRow {
  id: string;
  projectId: string | null;
  title: string;
  status: TaskStatus;
  statusReason: StatusReason | null;
  model: string;
  effort: Effort | null;
  approvals: Approvals;
  budget: Budget | null;
  metadata: Record<string, string>;
  resultText: string | null;
  resultFileIds: string[] | null;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  steps: number;
  toolCalls: number;
  durationMs: number;
  messageCount: number;
  createdById: string;
  createdByName: string;
  createdAt: string;
  updatedAt: string;
  startedAt: string | null;
  finishedAt: string | null;
  interaction: InteractionRow | null;
}

/** Columns of a `tasks t` for a {@link TaskRow}, but for its creator's name. bigint as float8: exact up to 2^53. */
export const TASK_COLUMNS = `
  t.id, t.project_id AS "projectId", t.title, t.status, t.status_reason AS "statusReason", t.model, t.effort,
  t.approvals, t.budget,
  t.metadata, t.result_text AS "resultText", t.result_file_ids AS "resultFileIds",
  t.input_tokens::float8 AS "inputTokens", t.output_tokens::float8 AS "outputTokens",
  t.cached_input_tokens::float8 AS "cachedInputTokens", t.reasoning_tokens::float8 AS "reasoningTokens",
  t.steps, t.tool_calls AS "toolCalls", t.duration_ms::float8 AS "durationMs", t.message_count AS "messageCount",
  t.created_by AS "createdById", t.created_at AS "createdAt", t.updated_at AS "updatedAt",
  t.started_at AS "startedAt", t.finished_at AS "finishedAt"`;

/** Reads tasks as {@link TaskRow}s in one statement; append conditions on `t`. */
export const TASK_SELECT = `
SELECT ${TASK_COLUMNS}, u.name AS "createdByName",
  CASE WHEN t.status = 'awaiting_input' THEN (
    SELECT json_build_object('id', i.id, 'type', i.type, 'question', i.question, 'options', i.options,
      'multiple', i.multiple, 'allowText', i.allow_text, 'createdAt', i.created_at, 'expiresAt', i.expires_at,
      'toolCall', CASE i.type WHEN 'approval' THEN (
        SELECT json_build_object('toolCallId', v.tool_call_id, 'name', v.name, 'input', v.input)
        FROM tool_invocations v WHERE v.message_id = i.message_id AND v.tool_call_id = i.tool_call_id) END)
    FROM interactions i WHERE i.task_id = t.id AND i.status = 'pending') END AS interaction
FROM tasks t JOIN users u ON u.id = t.created_by`;
