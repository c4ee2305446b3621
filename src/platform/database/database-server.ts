import { Logger } from '@nestjs/common';
import type { DataDir } from '../config/data-dir.js';
import { ConfigurationError, type Env } from '../config/env.js';
import { Ballast } from '../disk/ballast.js';
import { diskFull, saysFull, textSaysFull } from '../disk/storage-full.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';

/** The PostgreSQL that this process uses: the operator's (`DATABASE_URL`), or the embedded one in `DATA_DIR`. */
export class DatabaseServer {
  private constructor(
    readonly url: string,
    readonly embedded: boolean,
    readonly stop: () => Promise<void>,
  ) {}

  /** @param join an operator command: uses the running service's server, or starts it for its own duration. */
  static async open(env: Env, dataDir: DataDir, join: boolean): Promise<DatabaseServer> {
    const { DATABASE_URL } = env.variables;
    if (DATABASE_URL !== undefined) return new DatabaseServer(DATABASE_URL, false, () => Promise.resolve());
    const ballast = new Ballast(dataDir.path);
    const options = {
      dataDir: dataDir.path,
      logger: new Logger('PostgreSQL'),
      durable: !dataDir.temporary,
      beforeStart: () => ballast.makeRoomToStart(),
    };
    const server = await (join ? EmbeddedPostgres.joinOrStart(options) : EmbeddedPostgres.start(options)).catch(
      (error: unknown) => {
        // Its messages are for the operator.
        const message = error instanceof Error ? error.message : String(error);
        const full = saysFull(error) || textSaysFull(message);
        throw new ConfigurationError(full ? `${diskFull(dataDir.path)} (${message})` : message, { cause: error });
      },
    );
    return new DatabaseServer(server.url, true, () => server.stop());
  }
}
