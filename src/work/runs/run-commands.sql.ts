// How the commands that go on beyond their calls are recorded: as run-recorder.sql.ts, and only of a task that has some.
import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import { newId } from '../../platform/database/ids.js';
import { bigint, bool, int, intOrNull, ints, type Query, sql, text, uuid, uuids } from '../../platform/database/sql.js';
import type { ClaimedRun } from './claimed-run.js';
import { HOLD, PARTS, TASK_ID, type Written } from './run-recorder.sql.js';

const NUMBER = int('number');

const NAMED = sql`c.number = ANY(${ints('numbers')})`;

const STARTED = sql`
WITH ${HOLD},
made AS (
  INSERT INTO task_commands (id, task_id, number, tool_call_id, command, terminal, output, output_bytes)
  SELECT ${uuid('id')}, task.id, ${NUMBER}, ${text('toolCallId')}, ${text('command')}, ${bool('terminal')}, ${text('output')}, ${bigint('outputBytes')} FROM task, run),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, data)
  SELECT task.id, task.last_event + 1, 'command.started', jsonb_build_object('commandId', 'b' || ${NUMBER}, 'toolCallId', ${text('toolCallId')})
  FROM task, run)
UPDATE tasks t SET last_event = t.last_event + 1, updated_at = now() FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

const SAID = sql`
WITH ${HOLD},
said AS (
  UPDATE task_commands c SET output = ${text('output')}, output_bytes = ${bigint('outputBytes')}
  FROM task, run WHERE c.task_id = task.id AND c.number = ${NUMBER} AND c.status = 'running')
SELECT NULL AS steer FROM run`.rows<Written>();

const ENDED = sql`
WITH ${HOLD},
ended AS (
  UPDATE task_commands c SET status = ${text('status')}, exit_code = ${intOrNull('exitCode')}, output = ${text('output')},
    output_bytes = ${bigint('outputBytes')}, told = ${bool('told')}, ended_at = clock_timestamp()
  FROM task, run WHERE c.task_id = task.id AND c.number = ${NUMBER} AND c.status = 'running'
  RETURNING c.task_id, c.number, c.status, c.exit_code),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, data)
  SELECT task.id, task.last_event + 1, 'command.ended',
    jsonb_build_object('commandId', 'b' || ended.number, 'status', ended.status, 'exitCode', ended.exit_code)
  FROM task, ended)
UPDATE tasks t SET last_event = t.last_event + (SELECT count(*)::int FROM ended), updated_at = now()
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

const SEEN = sql`
WITH ${HOLD},
seen AS (UPDATE task_commands c SET told = true FROM task, run WHERE c.task_id = task.id AND c.number = ${NUMBER})
SELECT NULL AS steer FROM run`.rows<Written>();

/** Those that still ran are lost: their run has begun anew. What one message does not name the next one does. The message stands in the reading order. */
const TOLD = sql`
WITH ${HOLD},
lost AS (
  UPDATE task_commands c SET status = 'lost', ended_at = clock_timestamp(), told = ${NAMED}
  FROM task, run WHERE c.task_id = task.id AND c.status = 'running' RETURNING c.number),
known AS (
  UPDATE task_commands c SET told = true FROM task, run WHERE c.task_id = task.id AND ${NAMED} AND c.status <> 'running'),
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts, created_at)
  SELECT ${uuid('messageId')}, task.id, task.last_seq + 1, task.last_seq + 1, task.turn, 'assistant', 'complete', ${PARTS}, clock_timestamp()
  FROM task, run),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT task.id, task.last_event + row_number() OVER (ORDER BY lost.number)::int, 'command.ended', NULL::uuid,
    jsonb_build_object('commandId', 'b' || lost.number, 'status', 'lost', 'exitCode', NULL) FROM task, lost
  UNION ALL
  SELECT task.id, task.last_event + 1 + (SELECT count(*)::int FROM lost), 'message.completed', ${uuid('messageId')}, NULL::jsonb FROM task, run)
UPDATE tasks t SET updated_at = now(), last_seq = t.last_seq + 1, last_event = t.last_event + 1 + (SELECT count(*)::int FROM lost),
  message_count = t.message_count + 1
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

export type CommandEvent = Extract<
  AgentEvent,
  { type: 'command_started' | 'command_said' | 'command_ended' | 'command_seen' | 'commands_told' }
>;

export function commandQuery(run: ClaimedRun, event: CommandEvent): Query<Written> {
  switch (event.type) {
    case 'command_started':
      return STARTED({ run, id: newId(), ...event });
    case 'command_said':
      return SAID({ run, ...event });
    case 'command_ended':
      return ENDED({ run, ...event });
    case 'command_seen':
      return SEEN({ run, ...event });
    case 'commands_told':
      return TOLD({ run, ...event });
  }
}

/** Those of these tasks that a person stops. */
export const STOPS = sql`
SELECT c.task_id AS "taskId", c.number FROM task_commands c
WHERE c.task_id = ANY(${uuids('taskIds')}) AND c.status = 'running' AND c.stop_asked`.rows<{
  taskId: string;
  number: number;
}>();
