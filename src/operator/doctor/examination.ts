// What all checks of one `doctor` use: the configuration, the data folder, the database and what the running service says.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { DataDir } from '../../platform/config/data-dir.js';
import type { Env } from '../../platform/config/env.js';
import { pool, StatementPool } from '../../platform/database/database.js';
import { DatabaseServer } from '../../platform/database/database-server.js';
import { hasDatabase } from '../../platform/database/embedded/embedded-cluster.js';
import { marksOf, signOf } from '../../platform/installation/installation.js';
import { markIn } from '../../platform/installation/installation-file.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { askService, type ServiceAnswer } from './service-answer.js';
import { reasonOf } from './words.js';

/** Milliseconds for one statement. */
const STATEMENT_MS = 5_000;
/** Checks ask side by side. */
const CONNECTIONS = 6;

/** The database, open for reading alone. */
export interface OpenDatabase {
  readonly url: string;
  readonly sql: StatementPool;
}

/** One examination; {@link close} it. */
export class Examination {
  /** What answers at `HOST` and `PORT`. Never rejects. */
  readonly service: Promise<ServiceAnswer>;
  /** Rejects where no database answers, with a message for the operator. */
  readonly database: Promise<OpenDatabase>;
  private readonly closers: (() => Promise<void>)[] = [];

  private constructor(
    readonly env: Env,
    readonly extensions: ExtensionSet,
    /** Null where there is no such folder: `doctor` makes none. */
    readonly dataDir: DataDir | null,
    /** Whether models may be called, which costs money. */
    readonly callsModels: boolean,
  ) {
    this.database = this.openDatabase();
    this.database.catch(() => undefined);
    this.service = askService(env, this.sign());
  }

  static begin(env: Env, extensions: ExtensionSet, { models }: { models: boolean }): Examination {
    const { DATA_DIR } = env.variables;
    const own = env.test && DATA_DIR === undefined;
    const there = own || existsSync(resolve(DATA_DIR ?? '.data'));
    return new Examination(env, extensions, there ? new DataDir(env) : null, models);
  }

  /** Ends what was opened, in the reverse order. */
  async close(): Promise<void> {
    await this.database.catch(() => undefined);
    for (const close of this.closers.reverse()) await close().catch(() => undefined);
    this.dataDir?.remove();
  }

  /** By which the service of this installation is known: by the database, or without one by DATA_DIR. Never rejects. */
  private async sign(): Promise<string | null> {
    try {
      const marks = await this.database.then(({ sql }) => marksOf(sql)).catch(() => null);
      const mark = marks?.mark ?? (this.dataDir && markIn(this.dataDir.path));
      return mark === null ? null : signOf(mark);
    } catch {
      // The check of the installation says what is wrong with the file.
      return null;
    }
  }

  private async openDatabase(): Promise<OpenDatabase> {
    const { DATABASE_URL } = this.env.variables;
    const url = DATABASE_URL ?? (await this.embedded());
    const connections = pool(url, 'millwright doctor', CONNECTIONS, {
      statement_timeout: STATEMENT_MS,
      query_timeout: STATEMENT_MS,
      // PostgreSQL itself refuses what would change something. A parameter of the connection would hide the server's own setting.
      verify: (client, done) =>
        client.query('SET default_transaction_read_only = on', (error: Error | null) => done(error ?? undefined)),
    });
    this.closers.push(() => connections.end());
    await connections.query('SELECT 1').catch((error: unknown) => {
      throw new Error(reasonOf(error), { cause: error });
    });
    return { url, sql: new StatementPool(connections) };
  }

  /** Joins the embedded server, or starts it for the time of this examination. */
  private async embedded(): Promise<string> {
    const { env, dataDir } = this;
    if (dataDir === null || !hasDatabase(dataDir.path)) throw new Error('There is no database in DATA_DIR yet.');
    const server = await DatabaseServer.open(env, dataDir, true);
    this.closers.push(() => server.stop());
    return server.url;
  }
}
