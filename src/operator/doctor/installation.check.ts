// Whether DATA_DIR is the folder of the installation that the database belongs to. The secret has a check of its own.
import { markIn } from '../../platform/installation/installation-file.js';
import { marksOf } from '../../platform/installation/installation.js';
import { type Check, fail, ok } from './check.js';

const NAME = 'installation';

export const installationCheck: Check = {
  name: NAME,
  asksDatabase: true,
  async run({ database, dataDir, env }) {
    const marks = await marksOf((await database).sql);
    if (marks === null) return [ok(NAME, 'The database has no mark yet. The next start of the service makes one.')];
    // Of a test, as the boot has it.
    if (dataDir?.temporary === true) return [ok(NAME, 'DATA_DIR is a temporary one.')];
    const found = dataDir && markIn(dataDir.path);
    if (found === marks.mark) return [ok(NAME, 'DATA_DIR and the database belong together.')];
    const { DATA_DIR = '.data', STORAGE } = env.variables;
    if (found === null && STORAGE !== 'local') return [ok(NAME, 'DATA_DIR has no mark yet. The next start of the service here takes it for a new machine.')];
    const what = found === null ? 'has no mark of the installation of this database' : 'is of another installation than the database';
    return [fail(NAME, `DATA_DIR ${dataDir?.path ?? DATA_DIR} ${what}.`, 'Mount or share the folder of the installation, and set DATA_DIR to it: the service does not start with this one. Where that was replaced or lost for good: adopt.')];
  },
}; // prettier-ignore
