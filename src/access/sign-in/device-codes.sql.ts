// The statements of device sign-ins (reference §31). Locks are taken in the order code, key.
import { columns } from '../../platform/database/columns.js';
import { bool, bytes, int, raw, sql, textOrNull, uuid } from '../../platform/database/sql.js';
import { LIVE } from '../auth/key-rules.js';
import { DeviceCode } from './device-code.entity.js';

/** Codes that wait at once: of one address, and of all. */
const [MOST_OF_ADDRESS, MOST] = [20, 10_000];
/** Wrong codes that one session may type in a minute. */
const MOST_WRONG = 5;

const WAITS = raw('d.expires_at > clock_timestamp()');
const HASH = bytes('hash');
const USER_HASH = bytes('userHash');

/** No row where too many wait already. */
export const ADD = sql`
INSERT INTO device_codes (hash, user_hash, address, expires_at, interval_seconds)
SELECT ${HASH}, ${USER_HASH}, ${textOrNull('address')}, clock_timestamp() + make_interval(secs => ${int('seconds')}), ${int('interval')}
WHERE (SELECT count(*) FROM device_codes d WHERE ${WAITS} AND d.address IS NOT DISTINCT FROM ${textOrNull('address')}) < ${raw(String(MOST_OF_ADDRESS))}
  AND (SELECT count(*) FROM device_codes d WHERE ${WAITS}) < ${raw(String(MOST))}
RETURNING expires_at`.rows();

const SHOWN = columns(DeviceCode, 'd', ['address', 'createdAt', 'expiresAt']);
/** A code that waits for a person. */
export type WaitingDevice = typeof SHOWN.row;
export const FIND = sql`
SELECT ${SHOWN} FROM device_codes d
WHERE d.user_hash = ${USER_HASH} AND ${WAITS} AND NOT d.denied AND d.key_id IS NULL`.rows<WaitingDevice>();

/** Answers for a person, once. */
export const DECIDE = sql`
UPDATE device_codes d SET denied = NOT ${bool('approved')}, key_id = CASE WHEN ${bool('approved')} THEN ${uuid('keyId')} END
WHERE d.user_hash = ${USER_HASH} AND ${WAITS} AND NOT d.denied AND d.key_id IS NULL RETURNING d.created_at`.rows();

/** Counts a wrong code of a session; no row when it is one too many. A right one counts for nothing, but not after too many wrong ones. */
export const MAY_TYPE = sql`
SELECT 1 FROM console_sessions s WHERE s.hash = ${HASH}
  AND (s.wrong_codes < ${raw(String(MOST_WRONG))} OR s.wrong_since < clock_timestamp() - interval '1 minute')`.rows();
export const COUNT_WRONG = sql`
UPDATE console_sessions s SET
  wrong_codes = CASE WHEN s.wrong_since > clock_timestamp() - interval '1 minute' THEN s.wrong_codes + 1 ELSE 1 END,
  wrong_since = CASE WHEN s.wrong_since > clock_timestamp() - interval '1 minute' THEN s.wrong_since ELSE clock_timestamp() END
WHERE s.hash = ${HASH}`.rows();

interface Asked {
  late: boolean;
  denied: boolean;
  soon: boolean;
  approved: boolean;
  keyId: string | null;
}
/** Asks for a code's key. Who asks again too soon waits five seconds longer from then on (RFC 8628 §3.5). */
export const ASK = sql`
WITH d AS (SELECT * FROM device_codes WHERE hash = ${HASH} FOR UPDATE),
asked AS (
  UPDATE device_codes c SET asked_at = clock_timestamp(),
    interval_seconds = c.interval_seconds + CASE WHEN d.asked_at > clock_timestamp() - make_interval(secs => d.interval_seconds) THEN 5 ELSE 0 END
  FROM d WHERE c.hash = d.hash)
SELECT NOT ${WAITS} AS late, d.denied, d.key_id IS NOT NULL AS approved, d.key_id AS "keyId",
  coalesce(d.asked_at > clock_timestamp() - make_interval(secs => d.interval_seconds), false) AS soon
FROM d`.rows<Asked>();

/** The key of who has approved, held: what it makes is made before its end. No row when it has ended. */
export const HOLD_KEY = sql`
SELECT k.workspace_id AS "workspaceId", k.user_id AS "userId", k.scopes, k.expires_at AS "expiresAt", (
  SELECT count(*)::int FROM api_keys o WHERE o.workspace_id = k.workspace_id AND o.user_id = k.user_id AND NOT o.session
    AND o.revoked_at IS NULL AND (o.expires_at IS NULL OR o.expires_at > clock_timestamp())) AS count
FROM api_keys k WHERE k.id = ${uuid('keyId')} AND ${LIVE} FOR SHARE`.rows<{
  workspaceId: string;
  userId: string;
  scopes: string[];
  expiresAt: Date | null;
  count: number;
}>();

export const FORGET = sql`DELETE FROM device_codes WHERE hash = ${HASH}`.rows();
export const FORGET_ENDED =
  sql`DELETE FROM device_codes WHERE expires_at < clock_timestamp() - interval '1 hour'`.rows();
