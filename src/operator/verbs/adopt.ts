// The verb `adopt` (reference §16): an operator who has replaced DATA_DIR or the secret says so (docs/decisions/0072).
import type { Command } from 'commander';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env } from '../../platform/config/env.js';
import { Sealing } from '../../platform/config/sealing.js';
import { Secrets } from '../../platform/config/secrets.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Installation, type Marks, marksOf, signOf } from '../../platform/installation/installation.js';
import { beginGeneration } from '../../resources/proofs/signing-keys.js';
import { S3Storage } from '../../resources/files/storage/s3/s3-storage.js';
import { type Services, type Verb, verb } from './verb.js';

interface Adopted {
  /** Null where there was nothing to do. */
  adopted: 'folder' | 'bucket' | 'secret' | null;
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
    .option('--force', 'even a DATA_DIR, or a bucket, that is the one of another installation')
    .example('');
}

const act: Verb<Adopted> = async (services, { secret, force }) => {
  const [transactions, installation] = [services.get(Transactions), services.get(Installation)];
  const marks = await marksOf(transactions);
  if (marks === null) {
    const note = 'Nothing to do: the database has no marks yet. The next start of the service makes them.';
    return { adopted: null, installation: null, note };
  }
  if (secret === undefined)
    return withBucket(services, (bucket) => adoptFiles(services, marks, force !== undefined, bucket));
  const sign = signOf(marks.mark);
  if (installation.has('secret', marks)) return nothing(sign, 'this secret');
  if (services.get(Secrets).withMark(marks.secretMark) !== undefined) throw isKnown();
  await transactions.open(async (tx) => {
    await installation.takeSecret(tx);
    // The private half of the one before is lost with its secret.
    await beginGeneration(tx, services.get(Secrets), services.get(Sealing));
    await recordOperator(tx, null, 'adopt', { type: 'secret', id: sign });
  });
  return { adopted: 'secret', installation: sign, note: SECRET };
};

/** The folder, and with `STORAGE=s3` the bucket. One that is the installation's already stays as it is. */
async function adoptFiles(
  services: Services,
  marks: Marks,
  force: boolean,
  bucket: S3Storage | null,
): Promise<Adopted> {
  const [transactions, installation] = [services.get(Transactions), services.get(Installation)];
  const dataDir = services.get(DataDir);
  const inBucket = (await bucket?.installation()) ?? null;
  const othersBucket = inBucket !== null && inBucket !== marks.mark;
  if (!force && installation.isOthersFolder(marks)) throw othersFolder(dataDir);
  if (!force && bucket !== null && othersBucket) throw othersBucketError(bucket);
  const hasFolder = installation.has('folder', marks);
  if (hasFolder && !othersBucket) return nothing(signOf(marks.mark), dataDir.path);
  const adopted = hasFolder ? 'bucket' : 'folder';
  const taken = await transactions.open(async (tx) => {
    const folder = hasFolder ? null : await installation.takeFolder(tx, marks);
    const mark = folder?.mark ?? marks.mark;
    await recordOperator(tx, null, 'adopt', { type: adopted, id: signOf(mark) });
    return { mark, folder };
  });
  // No transaction takes them back: what the log does not have is not done.
  taken.folder?.write();
  await bucket?.takeFor(taken.mark);
  const notes = [
    ...(hasFolder
      ? []
      : [services.get(Env).variables.STORAGE === 'local' ? folderNote(dataDir) : machineNote(dataDir)]),
    ...(bucket === null ? [] : [`${bucket.lastingPlace} is of the installation from now on.`]),
  ];
  return { adopted, installation: signOf(taken.mark), note: notes.join(' ') };
}

async function withBucket<T>(services: Services, act: (bucket: S3Storage | null) => Promise<T>): Promise<T> {
  const env = services.get(Env);
  if (env.variables.STORAGE !== 's3') return act(null);
  const bucket = new S3Storage(env, services.get(DataDir));
  return act(bucket).finally(() => bucket.onApplicationShutdown());
}

const nothing = (sign: string, what: string): Adopted => ({
  adopted: null,
  installation: sign,
  note: `Nothing to do: ${what} is the one of the installation.`,
});

const isKnown = () =>
  new OperatorError(
    "SECRET_KEY_PREVIOUS is the secret of the installation, so nothing has to be lost: call 'secret-key rotate'.",
  );

const othersBucketError = ({ lastingPlace }: S3Storage) =>
  new OperatorError(
    `${lastingPlace} is of another installation than the database is of, and was left as it is. Set S3_BUCKET and S3_PREFIX to the place of this installation. Where the other installation is stopped for good, 'adopt --force' takes its bucket: its processes do not start with it any more.`,
  );

const othersFolder = ({ path }: DataDir) =>
  new OperatorError(
    `${path} is the folder of another installation than the database is of, and was left as it is. Set DATA_DIR to the folder of this installation, or DATABASE_URL to the database of that one. Where the other installation is given up, 'adopt --force' takes its folder: its processes do not start with it any more.`,
  );

const SECRET =
  'This secret is the one of the installation from now on. Lost with the former one: every key, cursor and log-in to the console, and the secrets of connections, repository connections, webhooks, notices and tasks. Another key signs proofs from now on, and those of before can be verified as ever. Stop every process first that works with the former one, and start it with this one: until then it takes the former keys. Make new keys (key create), and rotate every connection (integration rotate ID) and webhook (POST /v1/webhooks/{webhookId}/secret), and give every repository connection a new credential (PATCH /v1/repository-connections/{repositoryConnectionId}) and every secret of tasks a new value (PATCH /v1/secrets/{secretId}). Who takes notices sets them anew (PUT /v1/notices).';

const folderNote = ({ path }: DataDir) =>
  `${path} is the folder of the installation from now on. Lost unless they have been copied into it: the workdirs of tasks, and uploads and files. Stop every process, and start it with this DATA_DIR: with another one, the former one too, it does not start.`;

const machineNote = ({ path }: DataDir) =>
  `${path} is a folder of the installation from now on, as those of its other machines are. Lost with what another installation had there are workdirs without a snapshot.`;
