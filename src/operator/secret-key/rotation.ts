// `secret-key rotate`: all that is encrypted goes over to a new SECRET_KEY, while the service runs (docs/decisions/0097).
import { setTimeout as wait } from 'node:timers/promises';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { forgetPreviousSecret, replaceSecret } from '../../platform/config/secret-file.js';
import type { Sealing } from '../../platform/config/sealing.js';
import type { Secrets } from '../../platform/config/secrets.js';
import { sql, time } from '../../platform/database/sql.js';
import type { Transactions } from '../../platform/database/transactions.js';
import { type Installation, marksOf, signOf } from '../../platform/installation/installation.js';
import { LASTING_KEYS, type LastingKeys } from '../../platform/installation/lasting-keys.js';
import { SEALED, sealPage } from './sealed-values.js';

/** How long it waits for transactions of others, in milliseconds. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 100;

const NOW = sql`SELECT clock_timestamp() AS now`.rows<{ now: Date }>();
const OLDER = sql`
SELECT count(*)::int AS count FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND xact_start < ${time('since')}`.rows<{
  count: number;
}>();

/** What a rotation works with. */
export interface Parts {
  transactions: Transactions;
  installation: Installation;
  secrets: Secrets;
  sealing: Sealing;
  keys: LastingKeys;
  /** Is told how far it is; throws when the command is interrupted. */
  say: (text: string) => void;
}

export interface Rotated {
  /** Whether this call has made the secret the one of the installation. */
  rotated: boolean;
  /** Values that this call has sealed anew. */
  sealed: number;
  /** Values that neither secret opens. They were lost before, and stay as they are. */
  unreadable: number;
}

/** Goes on where another call was killed: what is under the new key already is not touched again. Rejects with {@link OperatorError}. */
export async function rotate(parts: Parts): Promise<Rotated> {
  const { transactions, secrets, sealing } = parts;
  if ((await marksOf(transactions)) === null) {
    throw new OperatorError('The database has no marks yet: start the service once with the SECRET_KEY that it has.');
  }
  if (secrets.folder !== null) await replaceGenerated(parts, secrets.folder);
  if (secrets.previous === null) {
    throw new OperatorError('Set SECRET_KEY to the new secret, and SECRET_KEY_PREVIOUS to the one before, for every process and for this one.'); // prettier-ignore
  }
  sealing.refresh();
  const done = await sealAll(parts);
  const rotated = await takeSecret(parts);
  if (secrets.folder !== null) forgetPreviousSecret(secrets.folder);
  return { rotated, ...done };
}

/** The service that runs finds the new one when it seals next. What it has sealed before is committed when this resolves. */
async function replaceGenerated({ transactions, secrets, say }: Parts, folder: string): Promise<void> {
  replaceSecret(folder);
  secrets.refresh();
  const [{ now: since } = { now: new Date() }] = await transactions.run(NOW());
  say('waits for transactions that began before');
  await until('The transactions that are open since before do not end', async () => {
    const [open] = await transactions.run(OLDER({ since }));
    return open?.count === 0;
  });
}

async function sealAll({ transactions, sealing, say }: Parts): Promise<Pick<Rotated, 'sealed' | 'unreadable'>> {
  let sealed = 0;
  let unreadable = 0;
  await until('Some values are held by transactions that do not end', async () => {
    unreadable = 0;
    let left = 0;
    // Keys go over with the mark.
    for (const one of SEALED.filter(({ table }) => table !== LASTING_KEYS)) {
      let after: string | undefined;
      for (;;) {
        const page = await transactions.open((tx) => sealPage(tx, sealing, one, after));
        if (page === null) break;
        after = page.after;
        sealed += page.sealed;
        unreadable += page.unreadable;
        say(`${sealed} values encrypted anew`);
      }
      const [others] = await transactions.run(one.countOthers({ header: sealing.header }));
      left += others?.count ?? 0;
    }
    return left <= unreadable;
  });
  return { sealed, unreadable };
}

/** With its mark the lasting keys go over: a process that boots finds both of before, or both of after. */
function takeSecret({ transactions, installation, sealing, keys }: Parts): Promise<boolean> {
  return transactions.open(async (tx) => {
    const marks = await installation.lockMarks(tx);
    if (installation.has('secret', marks)) return false;
    await keys.store(tx, sealing);
    await installation.takeSecret(tx);
    await recordOperator(tx, null, 'secret-key.rotate', { type: 'secret', id: signOf(marks.mark) });
    return true;
  });
}

async function until(otherwise: string, holds: () => Promise<boolean>): Promise<void> {
  for (const began = performance.now(); !(await holds()); await wait(LOOK_MS)) {
    if (performance.now() - began < PATIENCE_MS) continue;
    throw new OperatorError(`${otherwise}. Call this again: it goes on where it was.`);
  }
}
