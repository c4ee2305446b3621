// Keys with which stored values, cookies and cursors are checked: they are the same before and after a change of `SECRET_KEY`.
import { createHmac } from 'node:crypto';
import type { Sealing } from '../config/sealing.js';
import type { Secret, Secrets } from '../config/secrets.js';
import { columns } from '../database/columns.js';
import { bytesOrNulls, type Sql, sql, texts } from '../database/sql.js';
import { marksOf } from './installation.js';
import { LastingKey, ownerOfKey } from './lasting-key.entity.js';

/** `backups` is the mark of the first secret, by which the console's cookie is called. */
const PURPOSES = ['api-keys', 'backups', 'console', 'cursors', 'decoys', 'push'] as const;
type Purpose = (typeof PURPOSES)[number];

export const LASTING_KEYS = 'lasting_keys';

const KEY = columns(LastingKey, 'k', ['purpose', 'key']);
const IS_THERE = sql`SELECT to_regclass('lasting_keys') IS NOT NULL AS there`.rows<{ there: boolean }>();
const LIST = sql`SELECT ${KEY} FROM lasting_keys k`.rows<typeof KEY.row>();
const PUT = sql`
INSERT INTO lasting_keys (purpose, key) SELECT * FROM unnest(${texts('purposes')}, ${bytesOrNulls('keys')})
ON CONFLICT (purpose) DO UPDATE SET key = excluded.key`.rows();

/**
 * Until the first change of `SECRET_KEY` they derive from it. That change puts them into the database, sealed, and from then on only what
 * they are sealed under changes. One whose purpose is new since derives from the secret of the installation until the next change.
 */
export class LastingKeys {
  private constructor(
    private readonly secret: Secret,
    private readonly stored: ReadonlyMap<string, Buffer>,
  ) {}

  static async load(database: Sql, secrets: Secrets, sealing: Sealing): Promise<LastingKeys> {
    const marks = await marksOf(database);
    // Another secret than the installation's has only a verb that compares nothing: it makes and checks no key.
    const secret = (marks && secrets.withMark(marks.secretMark)) ?? secrets.current;
    const [found] = await database.run(IS_THERE());
    const rows = found?.there === true ? await database.run(LIST()) : [];
    return new LastingKeys(secret, new Map(rows.flatMap((row) => openedBy(sealing, row))));
  }

  key(purpose: Purpose): Buffer {
    return this.stored.get(purpose) ?? this.secret.key(purpose);
  }

  /** HMAC-SHA-256 of texts under the key of a purpose. */
  mac(purpose: Purpose): (text: string) => Buffer {
    const key = this.key(purpose);
    return (text) => createHmac('sha256', key).update(text).digest();
  }

  /** Puts all of them into the database, sealed under the current secret. */
  async store(database: Sql, sealing: Sealing): Promise<void> {
    const keys = PURPOSES.map((purpose) => {
      return sealing.sealNamed(ownerOfKey(purpose), this.key(purpose).toString('base64url'));
    });
    await database.run(PUT({ purposes: PURPOSES, keys }));
  }
}

/** None for one that was lost with its secret: `adopt --secret` has made another one the installation's. */
function openedBy(sealing: Sealing, { purpose, key }: typeof KEY.row): [string, Buffer][] {
  try {
    return [[purpose, Buffer.from(sealing.open(ownerOfKey(purpose), key), 'base64url')]];
  } catch {
    return [];
  }
}
