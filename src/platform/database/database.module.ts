// The connections to PostgreSQL, its migrations, and the embedded server when there is no DATABASE_URL.
import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { DataDir } from '../config/data-dir.js';
import { ConfigurationError, Env } from '../config/env.js';
import { Sealing } from '../config/sealing.js';
import { Secrets } from '../config/secrets.js';
import { Installation } from '../installation/installation.js';
import { LastingKeys } from '../installation/lasting-keys.js';
import { connectionOptions, Database } from './database.js';
import { DatabaseServer } from './database-server.js';
import { migrate, type MigrationSet } from './migrate.js';
import { PostgresNaming } from './naming.js';
import { checkPipelining, PipelinedClient } from './pipelined-client.js';
import { Transactions } from './transactions.js';

/**
 * How long a request waits for a row that another has in hand, before it gets 503, or 409 for its key (reference §8): ten that
 * wait take every connection that requests write on.
 */
const LOCK_TIMEOUT_MS = 2_000;
/** A migration of a large table, or the wait for the process that carries it out, takes what it takes. */
const UNLIMITED = { statement_timeout: 0, query_timeout: 0, lock_timeout: 0 };

@Global()
@Module({})
class DatabaseServerModule {
  static with(join: boolean): DynamicModule {
    return {
      module: DatabaseServerModule,
      providers: [
        {
          provide: DatabaseServer,
          // The secret comes first: a database without one is known by that to have lost it.
          inject: [Env, DataDir, Secrets],
          useFactory: (env: Env, dataDir: DataDir) => DatabaseServer.open(env, dataDir, join),
        },
        {
          provide: Database,
          inject: [DatabaseServer],
          useFactory: ({ url }: DatabaseServer) => new Database(url),
        },
      ],
      exports: [DatabaseServer, Database],
    };
  }
}

/** A class with `@Entity`. */
export type EntityClass = new () => object;

interface DatabaseParts {
  entities: EntityClass[];
  migrations: readonly MigrationSet[];
  join?: boolean;
  prepare?: Prepare;
  recognise?: Recognise;
}

/** What is done with the database before anything else uses it, on connections without time limits. */
export type Prepare = (dataSource: DataSource) => Promise<void>;

/** Whether this process belongs to the installation of the database: asked before the migrations, and after them before anything serves or works. */
export type Recognise = (installation: Installation) => Promise<void>;

@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly server: DatabaseServer,
    private readonly dataDir: DataDir,
  ) {}

  /**
   * @param entities every entity of the process: the service's own, and those of its extensions.
   * @param migrations the service's own and those of its extensions, in the order in which they run.
   * @param join an operator command: it uses the server of the running service.
   * @param prepare in place of the migrations.
   * @param recognise in place of what a service does: it compares before the migrations, and joins the installation after them.
   */
  static with({
    entities,
    migrations,
    join = false,
    prepare = (dataSource) => migrate(dataSource, migrations),
    recognise,
  }: DatabaseParts): DynamicModule {
    const before = recognise ?? ((installation: Installation) => installation.compare({ withFolder: true }));
    const after = recognise ?? ((installation: Installation) => installation.join());
    let installationOf: (dataSource: DataSource) => Installation;
    const typeorm = TypeOrmModule.forRootAsync({
      inject: [DatabaseServer, DataDir, Secrets, Env],
      useFactory: (server: DatabaseServer, dataDir: DataDir, secrets: Secrets, env: Env) => {
        // TypeORM hands the options alone to what makes the data source.
        installationOf = (dataSource) =>
          new Installation(new Transactions(dataSource), dataDir, secrets, keepsFiles(env));
        return {
          type: 'postgres',
          url: server.url,
          entities,
          namingStrategy: new PostgresNaming(),
          // A service may start before its database; an operator waits at a terminal, and is told at once.
          retryAttempts: server.embedded || join ? 0 : 10,
          retryDelay: 1000,
          toRetry: (error) => error instanceof UnreachableError,
          poolSize: 10,
          extra: {
            ...connectionOptions(server.url, 'millwright'),
            lock_timeout: LOCK_TIMEOUT_MS,
            Client: PipelinedClient,
          },
        };
      },
      dataSourceFactory: async (options) => {
        if (options === undefined) throw new Error('TypeORM was given no options.');
        // Without entities: their metadata would be built twice.
        const unlimited = await open({
          ...options,
          entities: [],
          extra: { ...(options.extra as object), ...UNLIMITED },
        });
        try {
          await checkPipelining(unlimited);
          // Forward-only migrations would have changed a database of others for good.
          await before(installationOf(unlimited));
          await prepare(unlimited);
        } finally {
          await unlimited.destroy();
        }
        return open(options);
      },
    });
    return {
      module: DatabaseModule,
      imports: [DatabaseServerModule.with(join), typeorm],
      providers: [
        Transactions,
        {
          provide: Installation,
          inject: [Transactions, DataDir, Secrets, Env],
          useFactory: async (transactions: Transactions, dataDir: DataDir, secrets: Secrets, env: Env) => {
            const installation = new Installation(transactions, dataDir, secrets, keepsFiles(env));
            await after(installation);
            return installation;
          },
        },
        {
          provide: LastingKeys,
          // After the installation: the secret is the one of it.
          inject: [Transactions, Secrets, Sealing, Installation],
          useFactory: (transactions: Transactions, secrets: Secrets, sealing: Sealing) =>
            LastingKeys.load(transactions, secrets, sealing),
        },
      ],
      exports: [Transactions, Installation, LastingKeys],
    };
  }

  /** After workers and the HTTP server are closed (they close in earlier hooks): connections, then the server, then the folder. */
  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
    await this.database.close();
    await this.server.stop();
    this.dataDir.remove();
  }
}

const keepsFiles = ({ variables: { STORAGE } }: Env): boolean => STORAGE === 'local';

function open(options: DataSourceOptions): Promise<DataSource> {
  return new CheckedSource(options).initialize().catch(unusable);
}

/** No PostgreSQL answers, which another attempt may mend. */
class UnreachableError extends ConfigurationError {}

/** What an entity has wrong, whatever TypeORM makes of it: no fault of DATABASE_URL, and no further attempt mends it. */
class EntityError extends Error {
  override readonly name = 'EntityError';
}

class CheckedSource extends DataSource {
  protected override async buildMetadatas(): Promise<void> {
    try {
      await super.buildMetadatas();
    } catch (cause) {
      throw new EntityError(cause instanceof Error ? cause.message : String(cause), { cause });
    }
  }
}

/** Throws what an entity has wrong as it is; all else is of the server or of the way to it. */
function unusable(error: unknown): never {
  if (error instanceof EntityError) throw error;
  const reason = error instanceof AggregateError ? error.errors.map(String).join('; ') : String(error);
  throw new UnreachableError(`DATABASE_URL: a PostgreSQL that answers there is expected (${reason}).`, {
    cause: error,
  });
}
