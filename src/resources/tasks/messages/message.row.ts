import type { JsonValue, StoredPart } from '../../../engine/models/conversation.js';

export interface InvocationRow {
  toolCallId: string;
  name: string;
  input: JsonValue;
  state: 'running' | 'success' | 'error' | 'denied';
  output: JsonValue;
  /** Of a denied call the reason, which is for the model alone. */
  error: string | null;
  stage: 'approved' | 'begun' | null;
}

/** A message with its tool invocations, as {@link MESSAGE_SELECT} reads it into JSON. */
export interface MessageRow {
  id: string;
  seq: number;
  role: 'user' | 'assistant';
  status: 'queued' | 'in_progress' | 'complete';
  createdById: string | null;
  createdByName: string | null;
  parts: StoredPart[];
  invocations: InvocationRow[] | null;
  createdAt: string;
}

/** Invocations of a `messages m` as JSON, in the order of their calls. */
export const INVOCATIONS = `(
  SELECT json_agg(json_build_object('toolCallId', v.tool_call_id, 'name', v.name, 'input', v.input, 'state', v.state,
    'output', v.output, 'error', v.error, 'stage', v.stage) ORDER BY v.idx)
  FROM tool_invocations v WHERE v.message_id = m.id)`;

/** Reads messages as {@link MessageRow}s in one statement; append conditions on `m`. */
export const MESSAGE_SELECT = `
SELECT m.id, m.seq, m.role, m.status, m.created_by AS "createdById", u.name AS "createdByName", m.parts,
  CASE m.role WHEN 'assistant' THEN ${INVOCATIONS} END AS invocations, m.created_at AS "createdAt"
FROM messages m LEFT JOIN users u ON u.id = m.created_by`;
