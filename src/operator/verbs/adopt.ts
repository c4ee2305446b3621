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
  if (adopted === 'folder' && force === undefined && installation.isOthersFolder(marks)) throw othersFolder(dataDir);
  if (installation.has(adopted, marks)) {
    const what = adopted === 'secret' ? 'this secret' : dataDir.path;
    return {
      adopted: null,
      installation: signOf(marks.mark),
      note: `Nothing to do: ${what} is the one of the installation.`,
    };
  }
  const taken = await transactions.open(async (tx) => {
    // A new mark: a process with the former folder would look for its files there.
    const folder = adopted === 'folder' ? await installation.takeFolder(tx) : null;
    if (adopted === 'secret') await installation.takeSecret(tx);
    const sign = signOf(folder?.mark ?? marks.mark);
    await recordOperator(tx, null, 'adopt', { type: adopted, id: sign });
    return { sign, folder };
  });
  // No transaction takes a file back: what the log does not have is not done.
  taken.folder?.write();
  return { adopted, installation: taken.sign, note: adopted === 'secret' ? SECRET : folderNote(dataDir) };
};

const othersFolder = ({ path }: DataDir) =>
  new OperatorError(
    `${path} is the folder of another installation than the database is of, and was left as it is. Set DATA_DIR to the folder of this installation, or DATABASE_URL to the database of that one. Where the other installation is given up, 'adopt --force' takes its folder: its processes do not start with it any more.`,
  );

const SECRET =
  'This secret is the one of the installation from now on. Lost with the former one: every key, cursor and log-in to the console, and the secrets of connections, repository connections, webhooks and notices. Stop every process first that works with the former one, and start it with this one: until then it takes the former keys. Make new keys (key create), and rotate every connection (integration rotate ID) and webhook (POST /v1/webhooks/{webhookId}/secret), and give every repository connection a new credential (PATCH /v1/repository-connections/{repositoryConnectionId}). Who takes notices sets them anew (PUT /v1/notices).';

const folderNote = ({ path }: DataDir) =>
  `${path} is the folder of the installation from now on. Lost unless they have been copied into it: the workdirs of tasks, and uploads and files. Stop every process, and start it with this DATA_DIR: with another one, the former one too, it does not start.`;
