// SECRET_KEY beside what the database holds: with another one all keys are invalid, and no secret of a connection, repository connection, webhook or notices can be read.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKey } from '../../access/auth/api-key.entity.js';
import { Env } from '../../platform/config/env.js';
import { markOf, Secrets } from '../../platform/config/secrets.js';
import { Sealing } from '../../platform/config/sealing.js';
import { columns } from '../../platform/database/columns.js';
import { sql } from '../../platform/database/sql.js';
import { Connection, ownerOf } from '../../resources/integrations/connection.entity.js';
import { NoticeSettings, ownerOfNotices } from '../../resources/personal-notices/notice-settings.entity.js';
import { PushSubscription } from '../../resources/personal-notices/push-subscription.entity.js';
import {
  ownerOf as ownerOfCredential,
  RepositoryConnection,
} from '../../resources/repositories/repository-connection.entity.js';
import { Webhook, ownerOfSecret } from '../../resources/webhooks/webhook.entity.js';
import { marksOf } from '../../platform/installation/installation.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { count } from './words.js';

const NAME = 'secret';
const OF_CONNECTION = columns(Connection, 'c', ['id', 'secret']);
const OF_REPOSITORIES = columns(RepositoryConnection, 'c', ['id', 'secret']);
const OF_WEBHOOK = columns(Webhook, 'w', ['id', 'secret']);
const OF_SETTINGS = columns(NoticeSettings, 's', ['workspaceId', 'userId', 'hookUrl']);
const OF_BROWSER = columns(PushSubscription, 'p', ['workspaceId', 'userId', 'subscription']);
const NEWEST = {
  connections: sql`SELECT ${OF_CONNECTION} FROM connections c ORDER BY c.created_at DESC LIMIT 20`.rows<typeof OF_CONNECTION.row>(),
  repositories: sql`SELECT ${OF_REPOSITORIES} FROM repository_connections c ORDER BY c.created_at DESC LIMIT 20`.rows<typeof OF_REPOSITORIES.row>(),
  webhooks: sql`SELECT ${OF_WEBHOOK} FROM webhooks w ORDER BY w.created_at DESC LIMIT 20`.rows<typeof OF_WEBHOOK.row>(),
  hooks: sql`SELECT ${OF_SETTINGS} FROM notice_settings s WHERE s.hook_url IS NOT NULL ORDER BY s.updated_at DESC LIMIT 20`.rows<typeof OF_SETTINGS.row>(),
  browsers: sql`SELECT ${OF_BROWSER} FROM push_subscriptions p ORDER BY p.registered_at DESC LIMIT 20`.rows<typeof OF_BROWSER.row>(),
}; // prettier-ignore
const KEY = columns(ApiKey, 'k', ['id']);
const ANY_KEY = sql`SELECT ${KEY} FROM api_keys k LIMIT 1`.rows<typeof KEY.row>();

export const secretCheck: Check = {
  name: NAME,
  asksDatabase: true,
  async run(at) {
    const { sql: database } = await at.database;
    const given = secretOf(at);
    if (given === null) return [absent((await database.run(ANY_KEY())).length > 0)];
    if (isOpenToOthers(at)) {
      return [fail(NAME, 'secret.key in DATA_DIR can be read by other users.', 'chmod 600 it; a user who has read it can sign cursors and open the secrets of connections, repository connections, webhooks and notices.')];
    }
    const { variables, file, modelKeys } = at.env;
    const env = new Env({ ...variables, SECRET_KEY: given }, file, modelKeys);
    // With a key that is given it reads and writes no file.
    const sealing = new Sealing(new Secrets(env, { path: '', temporary: false, remove: () => undefined }));
    const sealed = [
      ...(await database.run(NEWEST.connections())).map(({ id, secret }) => ({ owner: ownerOf(id), secret })),
      ...(await database.run(NEWEST.repositories())).map(({ id, secret }) => ({ owner: ownerOfCredential(id), secret })),
      ...(await database.run(NEWEST.webhooks())).map(({ id, secret }) => ({ owner: ownerOfSecret(id), secret })),
      ...(await database.run(NEWEST.hooks())).map((one) => ({ owner: ownerOfNotices(one.workspaceId, one.userId), secret: one.hookUrl })),
      ...(await database.run(NEWEST.browsers())).map((one) => ({ owner: ownerOfNotices(one.workspaceId, one.userId), secret: one.subscription })),
    ];
    const opened = sealed.filter(({ owner, secret }) => secret !== null && opens(sealing, owner, secret)).length;
    const marks = await marksOf(database);
    return [judge(sealed.length, opened, marks && marks.secretMark === markOf(given))];
  },
}; // prettier-ignore

/** SECRET_KEY, or the one in DATA_DIR; null where there is none yet. It is never made here. */
export function secretOf({ env, dataDir }: Pick<Examination, 'env' | 'dataDir'>): string | null {
  const { SECRET_KEY } = env.variables;
  if (SECRET_KEY !== undefined) return SECRET_KEY;
  const path = join(dataDir?.path ?? '', 'secret.key');
  return dataDir !== null && existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

function isOpenToOthers({ env, dataDir }: Examination): boolean {
  if (env.variables.SECRET_KEY !== undefined || dataDir === null) return false;
  return (statSync(join(dataDir.path, 'secret.key')).mode & 0o077) !== 0;
}

function absent(keys: boolean): Finding {
  const detail = 'There is no SECRET_KEY, and no secret.key in DATA_DIR.';
  if (!keys) return ok(NAME, `${detail} The first boot makes one.`);
  return fail(NAME, `${detail} The keys in the database were made with one.`, 'Bring it back from a backup before the service starts: it would make a new one, with which no key is valid.');
} // prettier-ignore

function opens(sealing: Sealing, owner: string, sealed: Buffer): boolean {
  try {
    sealing.open(owner, sealed);
    return true;
  } catch {
    return false;
  }
}

/** @param known whether the database has it on record as its own; null where it has none. */
function judge(sealed: number, opened: number, known: boolean | null): Finding {
  const compared = sealed === 0 ? 'Nothing in the database was encrypted with it.' : `${opened} of ${count(sealed, 'secret')} of connections, repository connections, webhooks and notices can be read with it.`;
  const another = `It is not the one of this database: ${compared} No key is valid either.`;
  if (known === false) {
    return fail(NAME, another, 'Bring the former SECRET_KEY back: the service does not start with this one. Where that is lost for good: adopt --secret.');
  }
  if (sealed === 0) return ok(NAME, known === true ? `It is the one of this database. ${compared}` : `It is there. ${compared} There is nothing to compare it with.`);
  if (opened === sealed) return ok(NAME, `It is the one of this database: ${compared}`);
  const advice = 'Bring the former SECRET_KEY back, or make new keys and rotate every connection (integration rotate ID) and webhook (POST /v1/webhooks/{webhookId}/secret), and give every repository connection a new credential (PATCH /v1/repository-connections/{repositoryConnectionId}). Who takes notices sets them anew (PUT /v1/notices).';
  return opened === 0 && known === null ? fail(NAME, another, advice) : warn(NAME, compared, advice);
} // prettier-ignore
