// The examination: all checks side by side, each with a limit of its own, and none of their words with a secret in it.
import type { Env } from '../../platform/config/env.js';
import { namedSecretsOf, passwordsOf, providerKeysOf } from '../../platform/logging/redaction.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { type Check, fail, type Finding, warn } from './check.js';
import { clocksCheck } from './clocks.check.js';
import { databaseCheck } from './database.check.js';
import { descriptorsCheck } from './descriptors.check.js';
import { diskCheck } from './disk.check.js';
import { embeddedCheck } from './embedded.check.js';
import { Examination } from './examination.js';
import { enginesCheck } from './engines.check.js';
import { environmentsCheck } from './environments.check.js';
import { installationCheck } from './installation.check.js';
import { machinesCheck } from './machines.check.js';
import { mailCheck } from './mail.check.js';
import { mcpCheck } from './mcp.check.js';
import { migrationsCheck } from './migrations.check.js';
import { modelsCheck } from './models.check.js';
import { paymentCheck } from './payment.check.js';
import { queuesCheck } from './queues.check.js';
import { redisCheck } from './redis.check.js';
import { sandboxesCheck } from './sandboxes.check.js';
import { signInCheck } from './sign-in.check.js';
import { secretCheck, secretsOf as ownSecrets } from './secret.check.js';
import { serviceCheck } from './service.check.js';
import { storageCheck } from './storage.check.js';
import { stuckCheck } from './stuck.check.js';
import { versionsCheck } from './versions.check.js';
import { reasonOf } from './words.js';

/** In the order of the lines. */
export const CHECKS: readonly Check[] = [
  serviceCheck,
  versionsCheck,
  databaseCheck,
  embeddedCheck,
  migrationsCheck,
  installationCheck,
  secretCheck,
  redisCheck,
  clocksCheck,
  diskCheck,
  storageCheck,
  descriptorsCheck,
  sandboxesCheck,
  environmentsCheck,
  mcpCheck,
  enginesCheck,
  modelsCheck,
  mailCheck,
  signInCheck,
  paymentCheck,
  machinesCheck,
  queuesCheck,
  stuckCheck,
];

const LIMIT_MS = 15_000;
/** SQLSTATE: a table, a column or a function that is not there (Appendix A of PostgreSQL's manual). */
const OTHER_TABLES = new Set(['42P01', '42703', '42883']);

/** Carries out the checks. Changes nothing that stays; never rejects because of what it finds. */
export async function examine(
  env: Env,
  extensions: ExtensionSet,
  { models = true, checks = CHECKS }: { models?: boolean; checks?: readonly Check[] } = {},
): Promise<Finding[]> {
  const at = Examination.begin(env, extensions, { models });
  try {
    const found = new Map<Check, Finding[]>();
    for (const measures of [true, false]) {
      const these = checks.filter((check) => (check.measures === true) === measures);
      await Promise.all(these.map(async (check) => found.set(check, await carryOut(check, at))));
    }
    const secrets = secretsOf(at);
    return checks.flatMap((check) => found.get(check) ?? []).map((one) => withoutSecrets(one, secrets));
  } finally {
    await at.close();
  }
}

async function carryOut(check: Check, at: Examination): Promise<Finding[]> {
  const { name, asksDatabase, limitMs = LIMIT_MS } = check;
  // The embedded server may have to start first, which is not the time of a check.
  const database = await at.database.catch(() => null);
  if (asksDatabase === true && database === null) {
    return [warn(name, 'It was not looked at, because the database does not answer.', 'See the line about the database.')];
  }
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(() => {
      limit.abort(new Error('The limit of the check is over.'));
      resolve([fail(name, `It did not end within ${limitMs / 1000} s.`, 'What it asks hangs: a network, a disk or a server.')]);
    }, limitMs);
  });
  const findings = check.run(at, limit.signal).catch((error: unknown) => [failed(name, error)]);
  return Promise.race([findings, late]).finally(() => clearTimeout(timer));
} // prettier-ignore

function failed(name: string, error: unknown): Finding {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && OTHER_TABLES.has(code)) {
    return warn(name, 'The tables are not those of this version.', 'See the line about the migrations.');
  }
  return fail(name, `The check itself failed: ${reasonOf(error)}`, 'See the log of the service and docs/operating.md.');
}

/** Secrets that messages of drivers and providers may contain, each with its replacement. No line may show them. */
function secretsOf(at: Examination): [string, string][] {
  const { current, previous } = readable(() => ownSecrets(at)) ?? {};
  const keys = [...providerKeysOf(at.env.variables), ...namedSecretsOf(at.env), current, previous];
  return [
    // A password alone may be an ordinary word; in a message it stands in its URL.
    ...passwordsOf(at.env.variables).map((one): [string, string] => [`:${one}@`, ':***@']),
    ...keys.flatMap((one): [string, string][] => (one == null || one === '' ? [] : [[one, '***']])),
  ];
}

/** Null for a file that this user may not read: the check of the secret says so. */
function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function withoutSecrets(finding: Finding, secrets: [string, string][]): Finding {
  const clean = (text: string) => secrets.reduce((rest, [secret, sign]) => rest.replaceAll(secret, sign), text);
  return { ...finding, detail: clean(finding.detail), advice: finding.advice === null ? null : clean(finding.advice) };
}
