// `storage move --to NAME`: the bytes of one storage into another, while the service runs (docs/operating.md, "Files in S3").
import { statSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { OperatorError } from '../access/auth/operator-error.js';
import { severally } from '../platform/fairness/severally.js';
import type { FileStorage } from '../resources/files/storage/file-storage.js';
import { ownerOf } from '../resources/files/storage/snapshots-place.js';
import { BytesDamagedError, BytesGoneError, type StoredBytes } from '../resources/files/storage/storage-driver.js';
import { CLEANERS } from './backup/backup.js';
import { NAMED_BYTES } from './backup/dump.js';

/** Files that are copied at once. */
const AT_ONCE = 4;
/** Rows that are read at once. */
const PAGE = 1000;
const PASSES = 2;
const HOUR = 3_600_000;

type Stored = StoredBytes & { size: number };

export interface Moved {
  /** Files, and their bytes, that this call has copied. */
  copied: number;
  bytes: number;
  /** Those that were there already, as large as they should be. */
  present: number;
  /** `workspace/sha256` of what the former storage had lost or gave back damaged. */
  lost: string[];
}

const PAGE_OF = `SELECT * FROM (${NAMED_BYTES}) f WHERE (workspace_id, sha256) > ($1::uuid, $2) ORDER BY workspace_id, sha256 LIMIT ${PAGE}`;
/** Of the workspaces of some stored bytes, and of their snapshots, those that the database knows. */
const KNOWN = `SELECT b.id FROM unnest($1::uuid[]) b(id) JOIN workspaces w ON w.id = ${ownerOf('b.id')}`;

/**
 * Copies what rows point at. What is there already is not copied again, so a call goes on where another was interrupted. A second pass
 * copies what was uploaded during the first one. On a busy service there is always more: that is for the call after the service was
 * stopped. Nothing is removed from `from`.
 * @param ours whether all that lies in `to` is of this installation. Then what was copied for workspaces that have been deleted since is
 * removed there: their deletion was carried out in `from` alone.
 * @param say is called with how far it is; throws when the command is interrupted.
 */
export async function moveFiles(
  client: ClientBase,
  from: FileStorage,
  to: FileStorage,
  ours: boolean,
  say: (text: string) => void,
): Promise<Moved> {
  const moved: Moved = { copied: 0, bytes: 0, present: 0, lost: [] };
  say('waits for the chores that remove files');
  for (const lock of CLEANERS) await client.query('SELECT pg_advisory_lock_shared($1)', [lock]);
  for (let pass = 1; pass <= PASSES; pass++) {
    const before = moved.copied;
    [moved.present, moved.lost] = [0, []];
    await severally(named(client), AT_ONCE, async (stored) => {
      await copy(from, to, stored, moved);
      say(`${moved.copied} files copied, ${moved.present} were there`);
    });
    const found = moved.copied - before;
    moved.present += found;
    if (found === 0) break;
  }
  moved.lost.sort();
  if (ours) await removeOrphans(client, to);
  return moved;
}

async function* named(client: ClientBase): AsyncGenerator<Stored> {
  let last = ['00000000-0000-0000-0000-000000000000', ''];
  for (;;) {
    const { rows } = await client.query<{ workspace_id: string; sha256: string; size: string }>(PAGE_OF, last);
    const end = rows.at(-1);
    if (end === undefined) return;
    last = [end.workspace_id, end.sha256];
    for (const { workspace_id, sha256, size } of rows) yield { workspaceId: workspace_id, sha256, size: Number(size) };
  }
}

async function copy(from: FileStorage, to: FileStorage, stored: Stored, moved: Moved): Promise<void> {
  const { workspaceId, sha256, size } = stored;
  if ((await to.driver.sizeOf(stored)) === size) return void moved.present++;
  try {
    const { stream } = await from.open(workspaceId, sha256);
    const put = await to.put(workspaceId, stream);
    // Under its own digest it is nobody's: the sweep removes it.
    if (put.sha256 !== sha256 || put.size !== size) return void moved.lost.push(`${workspaceId}/${sha256}`);
    moved.copied++;
    moved.bytes += size;
  } catch (error) {
    if (!(error instanceof BytesGoneError || error instanceof BytesDamagedError)) throw error;
    moved.lost.push(`${workspaceId}/${sha256}`);
  }
}

/** Removes bytes of workspaces that the database does not know. A workspace is gone for an hour before its bytes are removed anywhere. */
async function removeOrphans(client: ClientBase, to: FileStorage): Promise<void> {
  await to.driver.removeUnused(HOUR, async (bytes) => {
    const ids = [...new Set(bytes.map(({ workspaceId }) => workspaceId))];
    const { rows } = await client.query<{ id: string }>(KNOWN, [ids]);
    const known = new Set(rows.map(({ id }) => id));
    return bytes.filter(({ workspaceId }) => !known.has(workspaceId));
  });
}

/** Both storages must be two. */
export function requireTwo(from: string, to: string): void {
  if (from === to) {
    throw new OperatorError(
      `STORAGE is ${to} already for this command. Call it with STORAGE set to the storage that the files are in now.`,
    );
  }
}

/** Throws {@link OperatorError} for root where the service is another user, who could not read what root stores. */
export function requireOwner(dataDir: string): void {
  const { uid } = statSync(dataDir);
  if (process.getuid?.() !== 0 || uid === 0) return;
  throw new OperatorError(
    `DATA_DIR ${dataDir} belongs to the user ${uid}, who could not read what root stores there. Call this as that user.`,
  );
}
