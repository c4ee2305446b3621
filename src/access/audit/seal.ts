import { createHash } from 'node:crypto';
import type { AuditEntry } from './audit-entry.entity.js';

/** What a seal covers. */
export type Sealable = Pick<
  AuditEntry,
  | 'workspaceId'
  | 'id'
  | 'at'
  | 'actorId'
  | 'keyId'
  | 'address'
  | 'action'
  | 'targetType'
  | 'targetId'
  | 'fields'
  | 'outcome'
  | 'code'
  | 'requestId'
  | 'count'
> & { seq: number };

/** Stands before the first row of a chain. */
export const BEGINNING = Buffer.alloc(32);

/**
 * The seal of a row: SHA-256 (FIPS 180-4) of the 32 bytes of the seal before it, and the row as a JSON array in UTF-8 without white
 * space. All values are ASCII, so that JSON has one form of them (RFC 8785). `fields` stand behind all
 * else where there are any: older rows have none. The reference, §14, says it for others who verify.
 */
export function sealOf(previous: Buffer, row: Sealable): Buffer {
  const { workspaceId, seq, id, at, actorId, keyId, address, action, targetType, targetId, outcome, code, requestId } =
    row;
  const who = [actorId, keyId, address];
  const what = [action, targetType, targetId, outcome, code, requestId, row.count];
  const more = row.fields === null ? [] : [row.fields];
  const text = JSON.stringify([workspaceId, seq, id, at.toISOString(), ...who, ...what, ...more]);
  return createHash('sha256').update(previous).update(text).digest();
}
