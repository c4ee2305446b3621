// manifest.json: what is in a backup. It is written last, so a folder without one holds no backup.
import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../../access/auth/operator-error.js';
import { BOUND, TRIGGER } from './catalog.js';

const FILE = 'manifest.json';
/** A program reads the formats up to its own. */
const FORMAT = 2;
/** Of a backup that has its files. */
const WITH_FILES = 1;

const name = { schema: z.string(), name: z.string() };
const part = {
  // Names that this program gives: a manifest of somebody else's leads to no other folder.
  file: z.string().regex(/^[a-z]+(\/[\w-]+)*\.[a-z.]+$/),
  bytes: z.int(),
  sha256: z.string(),
};

const manifestSchema = z.object({
  /** Of the program that made the backup. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  /** The version of PostgreSQL. */
  postgres: z.string(),
  /** Which migrations had run: those of the service and of each extension, by the table that has them on record. */
  histories: z.array(z.object({ table: z.string(), migrations: z.array(z.string()) })),
  /** Tables with rows, those of extensions and partitions too. */
  tables: z.array(z.object({ ...name, columns: z.array(z.string()), rows: z.int(), ...part })),
  partitions: z.array(
    z.object({
      ...name,
      parent: z.object(name),
      bound: z.string().regex(BOUND),
      triggers: z.array(z.string().regex(TRIGGER)),
    }),
  ),
  sequences: z.array(z.object({ ...name, value: z.string().nullable() })),
  /** Stored bytes, each by its workspace and SHA-256; `list` names them. */
  files: z.object({
    list: z.object(part),
    count: z.int(),
    bytes: z.int(),
    /** `<workspace>/<sha256>` of those that the storage had lost, or had damaged. */
    lost: z.array(z.string()),
    /** Where they are, when the backup only names them; null when it has them. */
    place: z.string().nullable().default(null),
  }),
  /** A tar archive of the workdirs, and how many paths were too long for it; null when there was none. */
  workdirs: z.object({ ...part, omitted: z.int().default(0) }).nullable(),
  /** The machine that has the workdirs: the copy of its DATA_DIR has them. */
  machine: z.uuid().nullable().default(null),
  /**
   * By which a restore knows SECRET_KEY again, and while that was being changed SECRET_KEY_PREVIOUS; `included`: they were generated,
   * and lie in the backup.
   */
  secret: z.object({ mark: z.string(), previous: z.string().nullable().default(null), included: z.boolean() }),
});
export type Manifest = z.output<typeof manifestSchema>;

const envelope = z.object({ format: z.int(), sha256: z.string(), backup: z.unknown() });
const digestOf = (backup: unknown) => createHash('sha256').update(JSON.stringify(backup)).digest('hex');

export async function writeManifest(folder: string, backup: Manifest): Promise<void> {
  const format = backup.files.place === null ? WITH_FILES : FORMAT;
  const draft = await open(join(folder, `${FILE}.new`), 'wx', 0o600);
  try {
    await draft.writeFile(`${JSON.stringify({ format, sha256: digestOf(backup), backup }, null, 1)}\n`);
    await draft.sync();
  } finally {
    await draft.close();
  }
  await rename(join(folder, `${FILE}.new`), join(folder, FILE));
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

/** Throws {@link OperatorError} when the folder holds no whole backup that this program can read. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? `there is no ${FILE}, which a backup gets at its end` : error.message;
    throw new OperatorError(`${folder} holds no finished backup: ${why}.`);
  });
  const { format, sha256, backup } = parsed(folder, text, envelope);
  if (format > FORMAT) {
    throw new OperatorError(
      `The backup in ${folder} has the format ${format}, of a newer program; this one reads ${FORMAT}.`,
    );
  }
  if (digestOf(backup) !== sha256) throw damaged(folder);
  return parsed(folder, JSON.stringify(backup), manifestSchema);
}

function parsed<T extends z.ZodType>(folder: string, text: string, schema: T): z.output<T> {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw damaged(folder);
  }
}

const damaged = (folder: string) =>
  new OperatorError(`The backup is damaged: ${join(folder, FILE)} is not what was written.`);
