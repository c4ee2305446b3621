// SECRET_KEY beside what the database holds: with another one all keys are invalid, and no secret of a connection, repository connection, webhook or notices can be read.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKey } from '../../access/auth/api-key.entity.js';
import { Env } from '../../platform/config/env.js';
import { SECRET_FILE, type SecretPair, secretsIn } from '../../platform/config/secret-file.js';
import { markOf, Secrets } from '../../platform/config/secrets.js';
import { Sealing } from '../../platform/config/sealing.js';
import { columns } from '../../platform/database/columns.js';
import { sql } from '../../platform/database/sql.js';
import { marksOf } from '../../platform/installation/installation.js';
import { type ValuesUnderKey, valuesUnderKeys } from '../secret-key/sealed-values.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { count } from './words.js';

const NAME = 'secret';
const KEY = columns(ApiKey, 'k', ['id']);
const ANY_KEY = sql`SELECT ${KEY} FROM api_keys k LIMIT 1`.rows<typeof KEY.row>();

export const secretCheck: Check = {
  name: NAME,
  asksDatabase: true,
  async run(at) {
    const { sql: database } = await at.database;
    const given = secretsOf(at);
    if (given === null) return [absent((await database.run(ANY_KEY())).length > 0)];
    if (isOpenToOthers(at)) {
      return [fail(NAME, 'secret.key in DATA_DIR can be read by other users.', 'chmod 600 it; a user who has read it can sign cursors and open the secrets of connections, repository connections, webhooks, notices and tasks.')];
    }
    const { current, previous } = given;
    const { variables, file, modelKeys } = at.env;
    const env = new Env({ ...variables, SECRET_KEY: current, SECRET_KEY_PREVIOUS: previous ?? undefined }, file, modelKeys);
    // With a key that is given it reads and writes no file.
    const values = await valuesUnderKeys(database, new Sealing(new Secrets(env, { path: '', temporary: false, remove: () => undefined })));
    const marks = await marksOf(database);
    return [judge(values, given, marks && marks.secretMark)];
  },
}; // prettier-ignore

/** SECRET_KEY and SECRET_KEY_PREVIOUS, or those in DATA_DIR; null where there is none yet. It is never made here. */
export function secretsOf({ env, dataDir }: Pick<Examination, 'env' | 'dataDir'>): SecretPair | null {
  const { SECRET_KEY, SECRET_KEY_PREVIOUS } = env.variables;
  if (SECRET_KEY !== undefined) return { current: SECRET_KEY, previous: SECRET_KEY_PREVIOUS ?? null };
  return dataDir && secretsIn(dataDir.path);
}

function isOpenToOthers({ env, dataDir }: Examination): boolean {
  if (env.variables.SECRET_KEY !== undefined || dataDir === null) return false;
  return (statSync(join(dataDir.path, SECRET_FILE)).mode & 0o077) !== 0;
}

function absent(keys: boolean): Finding {
  const detail = 'There is no SECRET_KEY, and no secret.key in DATA_DIR.';
  if (!keys) return ok(NAME, `${detail} The first boot makes one.`);
  return fail(NAME, `${detail} The keys in the database were made with one.`, 'Bring it back from a backup before the service starts: it would make a new one, with which no key is valid.');
} // prettier-ignore

const sumOf = (values: readonly ValuesUnderKey[]): number => values.reduce((sum, one) => sum + one.values, 0);

/** @param mark of the secret that the database has on record as its own; null where it has none. */
function judge(values: readonly ValuesUnderKey[], { current, previous }: SecretPair, mark: string | null): Finding {
  const sealed = sumOf(values);
  const under = (secret: ValuesUnderKey['secret']) => sumOf(values.filter((one) => one.secret === secret));
  const opened = sealed - under('unknown');
  const compared = sealed === 0 ? 'Nothing in the database was encrypted with it.' : `${opened} of ${count(sealed, 'secret')} in the database can be read with it.`;
  const another = `It is not the one of this database: ${compared} No key is valid either.`;
  const known = mark === null ? null : [current, previous].some((one) => one !== null && markOf(one) === mark);
  if (known === false) {
    return fail(NAME, another, 'Bring the former SECRET_KEY back: the service does not start with this one. Where it is being changed, set the former one as SECRET_KEY_PREVIOUS. Where that is lost for good: adopt --secret.');
  }
  const strangers = values.filter(({ key, secret }) => secret === 'unknown' && key !== null);
  if (strangers.length > 0 && known !== null) {
    return fail(NAME, `${count(sumOf(strangers), 'secret')} in ${strangers.map(({ column }) => column).join(', ')} can be read neither with SECRET_KEY nor with SECRET_KEY_PREVIOUS: a process has another one.`, 'Set that one as SECRET_KEY_PREVIOUS for every process, and call secret-key rotate.');
  }
  if (previous !== null) return changing(under('previous'), sealed, mark === markOf(current));
  if (sealed === 0) return ok(NAME, known === true ? `It is the one of this database. ${compared}` : `It is there. ${compared} There is nothing to compare it with.`);
  if (opened === sealed) return ok(NAME, `It is the one of this database: ${compared}`);
  const advice = 'Bring the former SECRET_KEY back, or make new keys and rotate every connection (integration rotate ID) and webhook (POST /v1/webhooks/{webhookId}/secret), and give every repository connection a new credential (PATCH /v1/repository-connections/{repositoryConnectionId}) and every secret of tasks a new value (PATCH /v1/secrets/{secretId}). Who takes notices sets them anew (PUT /v1/notices). Another key has to sign proofs (signing-key rotate).';
  return opened === 0 && known === null ? fail(NAME, another, advice) : warn(NAME, compared, advice);
} // prettier-ignore

/** @param former how many of all are still under the former secret. */
function changing(former: number, all: number, taken: boolean): Finding {
  if (!taken || former > 0) {
    return warn(NAME, `SECRET_KEY is being changed: ${former} of ${count(all, 'secret')} are still encrypted with the former one.`, 'When every process has both, call secret-key rotate.');
  }
  return warn(NAME, 'SECRET_KEY is changed, and nothing needs the former one any more.', 'Remove SECRET_KEY_PREVIOUS, and start every process once more. Where the secret is generated, call secret-key rotate once more: it removes secret.key.previous.');
} // prettier-ignore
