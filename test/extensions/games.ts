// An extension whose tables are all that a backup must cope with: they point at each other, have partitions, numbers that PostgreSQL
// gives, and triggers that would refuse to be loaded.
import { Module } from '@nestjs/common';
import { defineExtension, ForwardMigration } from 'millwright';

class Rounds1795900000001 extends ForwardMigration {
  readonly sql = `
      CREATE TABLE rounds (id bigserial PRIMARY KEY, winner uuid, at timestamptz NOT NULL, note text);
      CREATE TABLE players (id uuid PRIMARY KEY, round bigint NOT NULL REFERENCES rounds);
      ALTER TABLE rounds ADD FOREIGN KEY (winner) REFERENCES players DEFERRABLE INITIALLY DEFERRED;
      CREATE TABLE moves (at timestamptz NOT NULL, move text, length int GENERATED ALWAYS AS (length(move)) STORED) PARTITION BY RANGE (at);
      CREATE TABLE moves_now PARTITION OF moves FOR VALUES FROM ('2026-11-01') TO ('2026-12-01');
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'What is played stays.'; END $$;
      CREATE TRIGGER kept BEFORE INSERT OR DELETE ON players FOR EACH ROW EXECUTE FUNCTION refuse();
      ALTER TABLE players ENABLE ALWAYS TRIGGER kept;`;
}

class Marks1795900000002 extends ForwardMigration {
  readonly sql = `ALTER TABLE rounds ADD COLUMN mark text; UPDATE rounds SET mark = 'of ' || note`;
}

@Module({})
class GamesModule {}

export const GAMES = defineExtension({ name: 'games', module: GamesModule, migrations: [Rounds1795900000001] });

/** The same one, some time later. */
export const NEWER_GAMES = defineExtension({ ...GAMES, migrations: [Rounds1795900000001, Marks1795900000002] });

/** Rows for all of that. */
export const playedBy = (userId: string): string => `
SET session_replication_role = replica;
ALTER TABLE players DISABLE TRIGGER kept;
INSERT INTO players VALUES ('${userId}', 7);
INSERT INTO rounds (id, winner, at, note) VALUES (7, '${userId}', 'infinity', E'tab\\there, \\\\N and\\nnew line');
SELECT setval('rounds_id_seq', 41);
CREATE TABLE moves_before PARTITION OF moves FOR VALUES FROM ('2026-09-01') TO ('2026-10-01');
CREATE TRIGGER kept BEFORE TRUNCATE ON moves_before EXECUTE FUNCTION refuse();
INSERT INTO moves VALUES ('2026-09-03', 'e4'), ('2026-11-03', 'e5');
ALTER TABLE players ENABLE ALWAYS TRIGGER kept;
SET session_replication_role = origin`;
