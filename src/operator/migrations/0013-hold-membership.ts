import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The lock that every write of a request begins with (reference §3). */
export class HoldMembership1795564800013 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- Holds the membership of a caller until the end of the transaction, so that its removal comes before or after all of it. A
-- function, because the statement travels together with the next one and must fail by itself when there is no such member.
CREATE FUNCTION hold_membership(workspace uuid, member uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM memberships WHERE workspace_id = workspace AND user_id = member FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'The caller is not a member of the workspace.' USING ERRCODE = 'MW001';
  END IF;
END $$;
`;
