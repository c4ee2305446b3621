// The verbs `signing-key …` (reference §16, §26).
import type { Command } from 'commander';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { Sealing } from '../../platform/config/sealing.js';
import { Secrets } from '../../platform/config/secrets.js';
import { Transactions } from '../../platform/database/transactions.js';
import { beginGeneration, thumbprintOf } from '../../resources/proofs/signing-keys.js';
import { LIST, type SigningKeyRow } from '../../resources/proofs/signing-keys.sql.js';
import { type Verb, verb } from './verb.js';

interface Shown {
  generation: number;
  kid: string;
  createdAt: string;
}

/** Adds the verbs to their group. */
export function signingKey(group: Command): void {
  verb(group, 'list', list).description('shows the keys that proofs are signed with, the one that signs first').example('');
  verb(group, 'rotate', rotate, { words: ({ note }) => note })
    .description('lets a new key sign proofs; those of the earlier ones are verified as before')
    .example('');
} // prettier-ignore

const list: Verb<{ keys: Shown[] }> = async (services) => {
  return { keys: (await services.get(Transactions).run(LIST())).map(shown) };
};

const rotate: Verb<{ rotated: Shown; note: string }> = async (services) => {
  const begun = await services.get(Transactions).open(async (tx) => {
    const key = await beginGeneration(tx, services.get(Secrets), services.get(Sealing));
    if (key === null) throw new OperatorError("Another call has begun the next key: 'signing-key list' shows it.");
    await recordOperator(tx, null, 'signing-key.rotate', { type: 'signing-key', id: thumbprintOf(key.publicKey) });
    return shown(key);
  });
  const note = `Key ${begun.generation}, ${begun.kid}, signs proofs from now on. Who keeps a copy of /.well-known/millwright.jwks.json needs a new one.`;
  return { rotated: begun, note };
};

const shown = ({ generation, publicKey, createdAt }: SigningKeyRow): Shown => ({
  generation,
  kid: thumbprintOf(publicKey),
  createdAt: createdAt.toISOString(),
});
