// The verb `adopt` (reference §16): an operator who has replaced DATA_DIR or the secret says so (docs/decisions/0072).
import type { Command } from 'commander';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Installation, marksOf, signOf } from '../../platform/installation/installation.js';
import { type Verb, verb } from './verb.js';

interface Adopted {
  /** Null where there was nothing to do. */
  adopted: 'folder' | 'secret' | null;
  /** As `/health/ready` shows it. */
  installation: string | null;
  /** What it did, and what is lost by that. */
  note: string;
}

/** Adds the verb. */
export function adopt(root: Command): void {
  verb(root, 'adopt', act, { words: ({ note }) => note, recognise: () => Promise.resolve() })
    .description('makes this DATA_DIR, or this secret, the one of the installation that the database belongs to')
    .option('--secret', 'SECRET_KEY in place of DATA_DIR')
    .option('--force', 'even a DATA_DIR that is the folder of another installation')
    .example('');
}

const act: Verb<Adopted> = async (services, { secret, force }) => {
  const [transactions, installation] = [services.get(Transactions), services.get(Installation)];
  const marks = await marksOf(transactions);
  if (marks === null) {
    const note = 'Nothing to do: the database has no marks yet. The next start of the service makes them.';
    return { adopted: null, installation: null, note };
  }
  const adopted = secret === undefined ? 'folder' : 'secret';
  const dataDir = services.get(DataDir);
  if (adopted === 'folder' && force === undefined && installation.isOthersFolder(marks)) throw taken(dataDir);
  const sign = signOf(marks.mark);
  await transactions.open(async (tx) => {
    if (adopted === 'secret') await installation.takeSecret(tx);
    await recordOperator(tx, null, 'adopt', { type: adopted, id: sign });
  });
  // No transaction takes a file back: what the log does not have is not done.
  if (adopted === 'folder') installation.takeFolder(marks);
  return { adopted, installation: sign, note: adopted === 'secret' ? SECRET : folderNote(dataDir) };
};

const taken = ({ path }: DataDir) =>
  new OperatorError(
    `${path} is the folder of another installation than the database is of, and was left as it is. Set DATA_DIR to the folder of this installation, or DATABASE_URL to the database of that one. Where the other installation is given up, 'adopt --force' takes its folder: its processes do not start with it any more.`,
  );

const SECRET =
  'This secret is the one of the installation from now on. Lost with the former one: every key, cursor and log-in to the console, and the secrets of connections and webhooks. Make new keys (key create), rotate every connection (integration rotate ID) and webhook (POST /v1/webhooks/{webhookId}/secret), and start every process with this secret.';

const folderNote = ({ path }: DataDir) =>
  `${path} is the folder of the installation from now on. Lost unless they have been copied into it: the workdirs of tasks, and uploads and files. Start every process with this DATA_DIR.`;
