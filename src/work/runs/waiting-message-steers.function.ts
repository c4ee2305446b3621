/**
 * Whether a message that waits is to steer the turn (true), is to be the next one (false), or there is none (null): `COMPLETED`
 * (run-ends.sql.ts) asks it. It writes nothing.
 *
 * A function, and VOLATILE, because what is in it sees what was committed before it began: the statement that waits for the task's lock would
 * still see the time before the wait, and miss the message for which it waited (as docs/decisions/0014).
 */
export const WAITING_MESSAGE_STEERS = `
CREATE OR REPLACE FUNCTION waiting_message_steers(task uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT bool_or(mode = 'steer') FROM messages WHERE task_id = task AND status = 'queued');
END $$;
`;
