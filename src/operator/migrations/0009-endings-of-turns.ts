import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A turn ends in one round trip (reference §5). */
export class EndingsOfTurns1795305600009 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- Whether a message that waits is to steer the turn (true), is to be the next one (false), or there is none (null). A
-- function, and VOLATILE, because what is in it sees what was committed before it began: the statement that waits for the
-- task's lock would still see the time before the wait, and miss the message for which it waited.
CREATE FUNCTION waiting_message_steers(task uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT bool_or(mode = 'steer') FROM messages WHERE task_id = task AND status = 'queued');
END $$;
`;
