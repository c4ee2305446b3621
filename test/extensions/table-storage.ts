// A storage driver of an enterprise team: the bytes lie in two tables of PostgreSQL. It imports from the public surface alone.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Module, type OnModuleInit } from '@nestjs/common';
import {
  type ArrivingBytes,
  type ByteRange,
  BytesGoneError,
  Database,
  Plugin,
  StorageDriver,
  type StoredBytes,
} from 'millwright';

const TABLES = `
CREATE TABLE IF NOT EXISTS kept_files (
  id uuid PRIMARY KEY, workspace_id uuid NOT NULL, sha256 text, size bigint, put_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, sha256));
CREATE TABLE IF NOT EXISTS kept_chunks (
  file_id uuid NOT NULL REFERENCES kept_files ON DELETE CASCADE, first bigint NOT NULL, bytes bytea NOT NULL,
  PRIMARY KEY (file_id, first))`;

// What is arriving has no digest yet. The other one of two equal ones that arrive together is the one that stays.
const FINISH = `UPDATE kept_files SET sha256 = $2, size = $3, put_at = now() WHERE id = $1 AND NOT EXISTS (
  SELECT FROM kept_files f WHERE f.workspace_id = kept_files.workspace_id AND f.sha256 = $2)`;
const TOUCH = `UPDATE kept_files SET put_at = now() WHERE workspace_id = $1 AND sha256 = $2`;

const PART = `
SELECT first::float8 AS first, bytes FROM kept_chunks
WHERE file_id = $1 AND first + length(bytes) > $2 AND first <= $3 ORDER BY first LIMIT 1`;

const IDLE = `
SELECT id, workspace_id AS "workspaceId", sha256 FROM kept_files
WHERE sha256 IS NOT NULL AND id > $1 AND put_at < now() - $2 * interval '1 millisecond' ORDER BY id LIMIT 500`;
const REMOVE = `
DELETE FROM kept_files k USING unnest($1::uuid[], $2::text[]) AS b(workspace_id, sha256)
WHERE (k.workspace_id, k.sha256) = (b.workspace_id, b.sha256) AND k.put_at < now() - $3 * interval '1 millisecond'`;
const LEFT_OVER = `DELETE FROM kept_files WHERE sha256 IS NULL AND put_at < now() - interval '1 day'`;

@Plugin(StorageDriver, 'table')
export class TableStorage extends StorageDriver implements OnModuleInit {
  constructor(private readonly database: Database) {
    super();
  }

  async onModuleInit(): Promise<void> {
    await this.database.work.pool.query(TABLES);
  }

  async put(workspaceId: string, content: ArrivingBytes): Promise<void> {
    const id = randomUUID();
    await this.query('INSERT INTO kept_files (id, workspace_id) VALUES ($1, $2)', [id, workspaceId]);
    try {
      let first = 0;
      for await (const chunk of content) {
        await this.query('INSERT INTO kept_chunks VALUES ($1, $2, $3)', [id, first, chunk]);
        first += chunk.length;
      }
      if (await this.finish(id, workspaceId, content)) return;
    } catch (error) {
      await this.query('DELETE FROM kept_files WHERE id = $1', [id]);
      throw error;
    }
    await this.query('DELETE FROM kept_files WHERE id = $1', [id]);
  }

  async open(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; stream: Readable }> {
    const sql = 'SELECT id, size::float8 AS size FROM kept_files WHERE workspace_id = $1 AND sha256 = $2';
    const { rows } = await this.query<{ id: string; size: number }>(sql, [workspaceId, sha256]);
    const [file] = rows;
    if (file === undefined) throw new BytesGoneError(`No bytes ${sha256} are kept.`);
    const { start, end } = range ?? { start: 0, end: file.size - 1 };
    return { size: end - start + 1, stream: Readable.from(this.read(file.id, start, end), { objectMode: false }) };
  }

  async removeUnused(
    idleMs: number,
    unused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
    signal?: AbortSignal,
  ): Promise<number> {
    let removed = (await this.query(LEFT_OVER)).rowCount ?? 0;
    let last = '00000000-0000-0000-0000-000000000000';
    while (signal?.aborted !== true) {
      const { rows } = await this.query<StoredBytes & { id: string }>(IDLE, [last, idleMs]);
      const end = rows.at(-1);
      if (end === undefined) break;
      last = end.id;
      const named = await unused(rows);
      const values = [named.map(({ workspaceId }) => workspaceId), named.map(({ sha256 }) => sha256), idleMs];
      removed += (await this.query(REMOVE, values)).rowCount ?? 0;
    }
    return removed;
  }

  async removeAll(workspaceId: string): Promise<void> {
    await this.query('DELETE FROM kept_files WHERE workspace_id = $1', [workspaceId]);
  }

  /** False when equal bytes are kept already: these are then put anew, and the new ones are not needed. */
  private async finish(id: string, workspaceId: string, { sha256, size }: ArrivingBytes): Promise<boolean> {
    for (;;) {
      if ((await this.query(TOUCH, [workspaceId, sha256])).rowCount === 1) return false;
      const done = await this.query(FINISH, [id, sha256, size]).catch((error: { code?: string }) => {
        // Equal bytes came in between.
        if (error.code !== '23505') throw error;
        return null;
      });
      if (done?.rowCount === 1) return true;
    }
  }

  private async *read(id: string, start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at <= end;) {
      const { rows } = await this.query<{ first: number; bytes: Buffer }>(PART, [id, at, end]);
      const [chunk] = rows;
      if (chunk === undefined) throw new Error('The bytes were removed meanwhile.');
      const part = chunk.bytes.subarray(at - chunk.first, end - chunk.first + 1);
      at += part.length;
      yield part;
    }
  }

  private query<T extends object>(sql: string, values: unknown[] = []) {
    return this.database.work.pool.query<T & Record<string, unknown>>(sql, values);
  }
}

@Module({ providers: [TableStorage] })
export class TableStorageModule {}
