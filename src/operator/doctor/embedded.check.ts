// The embedded database, where there is no DATABASE_URL: whose server runs.
import { readRuntime } from '../../platform/database/embedded/embedded-lock.js';
import { type Check, ok } from './check.js';

export const embeddedCheck: Check = {
  name: 'embedded database',
  asksDatabase: true,
  async run(at) {
    if (at.env.variables.DATABASE_URL !== undefined || at.dataDir === null) return [];
    await at.database;
    const runtime = readRuntime(at.dataDir.path);
    const whose =
      runtime?.role === 'service'
        ? `The service (process ${runtime.pid}) runs it, on port ${runtime.port}.`
        : 'It is whole, and was started for the time of this command, because no service runs on this DATA_DIR.';
    return [ok('embedded database', whose)];
  },
};
