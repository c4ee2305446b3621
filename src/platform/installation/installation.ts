// By which the processes of one installation are known: its DATA_DIR, its secret and its database belong together (docs/decisions/0072).
import { createHash, randomUUID } from 'node:crypto';
import { columns } from '../database/columns.js';
import type { DataDir } from '../config/data-dir.js';
import { ConfigurationError } from '../config/env.js';
import type { Secrets } from '../config/secrets.js';
import { type Sql, sql, text, uuid } from '../database/sql.js';
import { StoredInstallation } from './installation.entity.js';
import { hasMark, hasOtherMark, makeMark, markIn, replaceMark } from './installation-file.js';

// Read before the migrations, too: no column that a later one adds.
const MARKS = columns(StoredInstallation, 'i', ['mark', 'secretMark']);
/** What the database knows of its installation. */
export type Marks = typeof MARKS.row;

const IS_THERE = sql`SELECT to_regclass('installation') IS NOT NULL AS there`.rows<{ there: boolean }>();
const FIND = sql`SELECT ${MARKS} FROM installation i`.rows<Marks>();
const LOCK = sql`SELECT ${MARKS} FROM installation i FOR UPDATE`.rows<Marks>();
const MAKE = sql`
INSERT INTO installation (mark, secret_mark) VALUES (${uuid('mark')}, ${text('secretMark')}) ON CONFLICT DO NOTHING`.rows();
const TAKE_FOLDER = sql`UPDATE installation SET mark = ${uuid('mark')}`.rows();
const TAKE_SECRET = sql`UPDATE installation SET secret_mark = ${text('secretMark')}`.rows();

/** Null where no service with marks has booted on the database yet. */
export async function marksOf(database: Sql): Promise<Marks | null> {
  // An older program's has no such table; a backup and `doctor` migrate nothing.
  const [found] = await database.run(IS_THERE());
  return found?.there === true ? ((await database.run(FIND()))[0] ?? null) : null;
}

/** By which everybody may know an installation again: it reveals nothing of the mark. */
export function signOf(mark: string): string {
  return createHash('sha256').update(mark).digest('hex').slice(0, 12);
}

/** This process beside the installation of its database. */
export class Installation {
  private readonly folder: Pick<DataDir, 'path' | 'temporary'>;
  private known: string | null = null;

  /** @param keepsFiles whether the files of the installation lie in DATA_DIR. */
  constructor(
    private readonly database: Sql,
    dataDir: DataDir,
    private readonly secrets: Secrets,
    private readonly keepsFiles: boolean,
  ) {
    this.folder = dataDir;
  }

  /** Of a service that has booted. */
  get sign(): string {
    return signOf(this.known ?? '');
  }

  /**
   * By which places outside of DATA_DIR are known. Null where nothing stands for the installation: in the temporary folder of a test, on a
   * database without marks, and for a verb that compares nothing.
   */
  get mark(): string | null {
    return this.folder.temporary ? null : this.known;
  }

  /**
   * For a service, before it works: the first one on a database marks it, others belong to it or throw {@link ConfigurationError}.
   * Where files lie elsewhere, a folder without a mark is that of a new machine, and is marked. Applications of one test have a folder
   * each, and none of them stands for the installation.
   */
  async join(): Promise<void> {
    const { path, temporary } = this.folder;
    const marks = (await marksOf(this.database)) ?? (temporary ? null : await this.makeMarks());
    this.known = marks?.mark ?? makeMark(path);
    if (marks === null) return;
    // First: who has not even the secret is on another's database.
    this.requireSecret(marks);
    if (this.isNewFolder()) replaceMark(path, marks.mark);
    this.requireFolder(marks);
  }

  /**
   * For what works beside the service. Rejects with {@link ConfigurationError} when it is of another installation; a database
   * without marks is left so.
   * @param withFolder it reads or writes files, too.
   */
  async compare({ withFolder }: { withFolder: boolean }): Promise<void> {
    const marks = await marksOf(this.database);
    if (marks === null) return;
    this.requireSecret(marks);
    this.known = marks.mark;
    if (withFolder && !this.isNewFolder()) this.requireFolder(marks);
  }

  /** Whether this DATA_DIR is the one of another installation. */
  isOthersFolder({ mark }: Marks): boolean {
    return hasOtherMark(this.folder.path, mark);
  }

  /** Whether this DATA_DIR, or this secret, is the one of the installation already. */
  has(part: 'folder' | 'secret', { mark, secretMark }: Marks): boolean {
    return part === 'secret' ? secretMark === this.secrets.mark : hasMark(this.folder.path, mark);
  }

  /**
   * From here on this DATA_DIR is one of the installation, whatever lay in it. Where files lie in it no other one is: it gets a new mark, for a process
   * with the former folder would look for its files there. Elsewhere each machine has a folder. Resolves with what writes its mark, after the commit.
   */
  async takeFolder(database: Sql, { mark: known }: Marks): Promise<{ mark: string; write: () => void }> {
    const mark = this.keepsFiles ? randomUUID() : known;
    await database.run(TAKE_FOLDER({ mark }));
    return { mark, write: () => replaceMark(this.folder.path, mark) };
  }

  /** Of an installation that has them; until the end of the transaction nobody else changes them. */
  async lockMarks(database: Sql): Promise<Marks> {
    const [marks] = await database.run(LOCK());
    if (marks === undefined) throw new Error('The database has no marks.');
    return marks;
  }

  /** From here on this secret is the one of the installation. */
  async takeSecret(database: Sql): Promise<void> {
    await database.run(TAKE_SECRET({ secretMark: this.secrets.mark }));
  }

  /** Nothing of the installation is missing in it: workdirs are restored from their snapshots. */
  private isNewFolder(): boolean {
    return !this.keepsFiles && !this.folder.temporary && markIn(this.folder.path) === null;
  }

  private async makeMarks(): Promise<Marks | null> {
    // The file first: a row without its file, after a power failure, would refuse its own folder.
    const mark = makeMark(this.folder.path);
    await this.database.run(MAKE({ mark, secretMark: this.secrets.mark }));
    return marksOf(this.database);
  }

  private requireSecret({ secretMark }: Marks): void {
    if (this.secrets.withMark(secretMark) !== undefined) return;
    throw new ConfigurationError(
      "SECRET_KEY: the secret of the installation that this database belongs to is expected, and this is another one: with it no key is valid, and nothing that was encrypted can be read. Set the SECRET_KEY of its other processes, and while that is being changed the former one as SECRET_KEY_PREVIOUS. Where it was lost for good, 'millwright adopt --secret' makes this one its secret.",
    );
  }

  private requireFolder({ mark }: Marks): void {
    const { path, temporary } = this.folder;
    if (temporary) return;
    const found = markIn(path);
    if (found === mark) return;
    const what = found === null ? 'has no mark of it' : 'is of another installation';
    throw new ConfigurationError(
      `DATA_DIR: the folder of the installation that this database belongs to is expected, and ${path} ${what}: its workdirs and files would be missing. Mount or share that folder, and set DATA_DIR to it. Where it was replaced or lost for good, 'millwright adopt' makes this one its folder.`,
    );
  }
}
