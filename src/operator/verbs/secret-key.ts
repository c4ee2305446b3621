// The verbs `secret-key …` (docs/operating.md, "Change SECRET_KEY").
import type { Command } from 'commander';
import { Sealing } from '../../platform/config/sealing.js';
import { Secrets } from '../../platform/config/secrets.js';
import { type Env, readEnv } from '../../platform/config/env.js';
import { DatabaseServer } from '../../platform/database/database-server.js';
import { LOCKS } from '../../platform/database/locks.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Installation } from '../../platform/installation/installation.js';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { closeOnAbort, connected } from '../backup/connection.js';
import { rotate, type Rotated } from '../secret-key/rotation.js';
import { type ValuesUnderKey, valuesUnderKeys } from '../secret-key/sealed-values.js';
import { addVerb } from './command.js';
import { composeCli } from './compose-cli.js';
import { interruptible } from './interruption.js';
import { Progress } from './progress.js';
import { requireInstallation, type Services, type Verb, verb, withOpen } from './verb.js';

/** Adds the verbs to their group. */
export function secretKey(group: Command, extensions: ExtensionSet): void {
  verb(group, 'status', status).description('shows how many values are encrypted under which key').example('');
  const command = addVerb(group, 'rotate')
    .description('encrypts everything anew under SECRET_KEY in place of SECRET_KEY_PREVIOUS, while the service runs')
    .example('');
  command.action(async () => {
    const { json } = command.optsWithGlobals<{ json?: true }>();
    const env = readEnv(undefined, extensions);
    requireInstallation(env);
    const progress = new Progress();
    const done = await interruptible((interrupted) => {
      const say = (text: string) => {
        interrupted.throwIfAborted();
        progress.say(text);
      };
      return withOpen(composeCli(env, extensions), (services) => carryOut(services, say, interrupted), interrupted);
    }).finally(() => progress.end());
    console.log(json === true ? JSON.stringify({ rotate: done }) : inSentences(env, done));
  });
}

const status: Verb<{ values: ValuesUnderKey[] }> = async (services) => {
  return { values: await valuesUnderKeys(services.get(Transactions), services.get(Sealing)) };
};

async function carryOut(services: Services, say: (text: string) => void, interrupted: AbortSignal): Promise<Rotated> {
  const client = await connected(services.get(DatabaseServer).url);
  closeOnAbort(client, interrupted);
  try {
    say('waits for a backup that is under way');
    // One at a time, and no backup meanwhile: it would hold values of two keys.
    await client.query('SELECT pg_advisory_lock($1)', [LOCKS.secretKey]);
    return await rotate({
      transactions: services.get(Transactions),
      installation: services.get(Installation),
      secrets: services.get(Secrets),
      sealing: services.get(Sealing),
      keys: services.get(LastingKeys),
      say,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}

function inSentences({ variables }: Env, { rotated, sealed, unreadable }: Rotated): string {
  const lines = [`${sealed} values were encrypted anew; nothing that can be read is under another key.`];
  if (unreadable > 0) lines.push(`! ${unreadable} values open under neither secret, as before: 'doctor' says more.`);
  lines.push(
    rotated
      ? 'The new secret is the one of the installation from now on: no process starts with the one before alone.'
      : 'The secret is the one of the installation already.',
  );
  const { SECRET_KEY_PREVIOUS } = variables;
  if (SECRET_KEY_PREVIOUS !== undefined) lines.push('Start every process once more, without SECRET_KEY_PREVIOUS.');
  return lines.join('\n');
}
