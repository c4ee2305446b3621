import type { ClientBase } from 'pg';
import { MAKE_MONTHS } from '../../access/audit/chain.sql.js';
import { operatorAct } from '../../access/audit/record.js';

/**
 * Puts `backup` or `restore` into the audit log of the database that the connection is of (reference §14). The database of a program
 * that had no audit log yet is left as it is.
 * @param createdAt by which the backup is known: its manifest says it.
 */
export async function recordBackup(client: ClientBase, action: 'backup' | 'restore', createdAt: string): Promise<void> {
  const { rows } = await client.query<{ there: boolean }>(`SELECT to_regclass('audit_log') IS NOT NULL AS there`);
  if (rows[0]?.there !== true) return;
  // The months of a database that has been restored are those of its backup.
  await client.query(MAKE_MONTHS().text);
  const { text, values } = operatorAct(null, action, { type: 'backup', id: createdAt });
  await client.query(text, values);
}
