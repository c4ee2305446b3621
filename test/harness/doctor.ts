// `doctor` in a test: its checks on an environment, its lines by name, and what must be the same before and after.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import pg from 'pg';
import type { z } from 'zod';
import type { Check, Finding } from '../../src/operator/doctor/check.js';
import { examine } from '../../src/operator/doctor/doctor.js';
import { configFileSchema } from '../../src/platform/config/config-file.js';
import { Env, readEnv } from '../../src/platform/config/env.js';
import type { Extension } from '../../src/platform/plugins/extension.js';
import { ExtensionSet } from '../../src/platform/plugins/extension-set.js';

/** They stand in the environment of each examination, and in no line of it. */
export const CANARIES = {
  SECRET_KEY: 'canary-secret-key-of-at-least-32-bytes',
  ANTHROPIC_API_KEY: 'canary-anthropic-key',
  OPENAI_COMPATIBLE_KEY: 'canary-compatible-key',
};

interface Examined {
  env: Record<string, string>;
  config?: z.input<ReturnType<typeof configFileSchema>>;
  extensions?: readonly Extension[];
  models?: boolean;
}

/** The lines of some checks. No line holds a canary or the password of a URL. */
export async function findings(checks: readonly Check[], given: Examined): Promise<Finding[]> {
  const extensions = new ExtensionSet(given.extensions ?? []);
  const { SECRET_KEY } = CANARIES;
  const read = readEnv({ NODE_ENV: 'test', PORT: '1', ...(given.env['DATABASE_URL'] === undefined ? {} : { SECRET_KEY }), ...given.env });
  const file = { ...read.file, ...configFileSchema(extensions).parse(given.config ?? {}) };
  const secret = given.env[file.signIn?.clientSecretEnv ?? ''] ?? null;
  const env = new Env(read.variables, file, read.modelKeys, read.repositoryTokens, read.mcpValues, read.paymentSecrets, secret);
  const found = await examine(env, extensions, { checks, models: given.models ?? true });
  expectNoSecret(JSON.stringify(found), given.env);
  return found;
} // prettier-ignore

/** Fails where a text holds a secret of an environment. */
export function expectNoSecret(text: string, env: Record<string, string>): void {
  const passwords = [env['DATABASE_URL'], env['REDIS_URL'], env['SMTP_URL']].flatMap((url) => (url === undefined ? [] : new URL(url).password));
  for (const secret of [...Object.values(CANARIES), ...passwords.filter((one) => one !== '')]) expect(text).not.toContain(secret);
} // prettier-ignore

/** The one line of a name. */
export function line(found: readonly Finding[], name: string): Finding {
  const [one, ...others] = found.filter((finding) => finding.name === name);
  if (one === undefined || others.length > 0) throw new Error(`One line '${name}' is expected: ${JSON.stringify(found)}`);
  return one;
} // prettier-ignore

const TABLES = `
SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`;
const OTHERS = `
SELECT json_agg(t ORDER BY t::text) AS rows FROM (
  SELECT c.relname, c.relkind::text, pg_sequence_last_value(c.oid) AS last FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind = 'S'
  UNION ALL SELECT c.relname, c.relkind::text, NULL FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind <> 'S') t`;

/** A digest of every row, table, index and sequence of a database. */
export async function digestOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const hash = createHash('sha256');
    const { rows: tables } = await client.query<{ name: string }>(TABLES);
    for (const { name } of tables) {
      const all = `string_agg(t::text, E'\\n' ORDER BY t::text)`;
      // A chore of the service that runs meanwhile seals what is in the log; its processes say that they work.
      if (name === 'public.audit_chains' || name === 'public.workers') continue;
      const digested = name.startsWith('public.audit_log') ? 'count(*)' : all;
      const { rows } = await client.query(`SELECT ${digested} AS text FROM ${name} t`);
      hash.update(JSON.stringify([name, rows]));
    }
    hash.update(JSON.stringify((await client.query(OTHERS)).rows));
    return hash.digest('hex');
  } finally {
    await client.end();
  }
}

/** The names of all that lies in a folder, but for the descriptors to which the root of a sandbox has a link. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).filter((name) => !name.includes('/dev/fd/')).sort();
}
