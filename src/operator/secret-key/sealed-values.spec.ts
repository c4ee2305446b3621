import { getMetadataArgsStorage } from 'typeorm';
import { PostgresNaming } from '../../platform/database/naming.js';
import { ENTITIES } from '../entities.js';
import { SEALED } from './sealed-values.js';

/** Of bytea, and not encrypted: digests, and what others have sent. */
const PLAIN = [
  'api_keys.digest',
  'audit_chains.hash',
  'audit_cuts.hash',
  'audit_log.hash',
  'console_codes.hash',
  'console_sessions.hash',
  // Sealed with what the browser's cookie has, and not with the secret.
  'console_sessions.id_token',
  'device_codes.hash',
  'device_codes.user_hash',
  'hook_deliveries.payload',
  'idempotency_keys.fingerprint',
  'push_subscriptions.endpoint_digest',
  'scim_tokens.digest',
  'snapshot_blobs.sha256',
];

describe('Columns with sealed bytes (docs/decisions/0097)', () => {
  it('are all declared: each column of bytea is one, or known to hold no secret', () => {
    const naming = new PostgresNaming();
    const all = ENTITIES.flatMap((entity) => {
      const [table] = getMetadataArgsStorage().filterTables(entity);
      return getMetadataArgsStorage()
        .filterColumns(entity)
        .filter(({ options }) => options.type === 'bytea')
        .map(({ propertyName }) => `${String(table?.name)}.${naming.columnName(propertyName, undefined, [])}`);
    });
    expect(SEALED.length).toBeGreaterThan(0);
    const sealed = SEALED.map(({ table, column }) => `${table}.${column}`);
    expect([...sealed, ...PLAIN].sort()).toEqual(all.sort());
  });
});
