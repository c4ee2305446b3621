import { Injectable } from '@nestjs/common';
import { columns } from '../../platform/database/columns.js';
import { sql, text, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import { recordOperator } from '../audit/record.js';
import { OperatorError } from '../auth/operator-error.js';
import { END_SESSIONS, TAKE_TURN } from './accounts.sql.js';
import { SignInIdentity } from './sign-in-identity.entity.js';

const IDENTITY = columns(SignInIdentity, 'i', ['issuer', 'subject']);
/** As whom a provider knows a person. */
export type IdentityRow = typeof IDENTITY.row;

const OF_USER = sql`
SELECT ${IDENTITY} FROM sign_in_identities i WHERE i.user_id = ${uuid('userId')} ORDER BY i.issuer, i.subject`.rows<IdentityRow>();
const UNLINK = sql`
DELETE FROM sign_in_identities i
WHERE i.issuer = ${text('issuer')} AND i.subject = ${text('subject')} AND i.user_id = ${uuid('userId')}
RETURNING ${IDENTITY}`.rows<IdentityRow>();

/** What the operator does with the links between people and their accounts at providers (reference §31). */
@Injectable()
export class SignInIdentities {
  constructor(private readonly transactions: Transactions) {}

  /**
   * Takes from a person the accounts at providers, or those at one of them, and ends the sessions that sign-ins have begun. The next sign-in with
   * the person's verified address is the person's. Throws {@link OperatorError} where there is none.
   */
  unlink({ id: userId, email }: { id: string; email: string }, issuer?: string): Promise<IdentityRow[]> {
    return this.transactions.open(async (tx) => {
      const linked = await tx.run(OF_USER({ userId }));
      const meant = linked.filter((one) => issuer === undefined || one.issuer === issuer);
      const unlinked: IdentityRow[] = [];
      for (const one of meant) {
        // A sign-in that is under way ends first, and its session with the others.
        await tx.run(TAKE_TURN(one));
        unlinked.push(...(await tx.run(UNLINK({ ...one, userId }))));
      }
      if (unlinked.length === 0) throw new OperatorError(noneOf(email, issuer, linked));
      await tx.run(END_SESSIONS({ userId }));
      await recordOperator(tx, null, 'user.unlink', { type: 'user', id: userId });
      return unlinked;
    });
  }
}

function noneOf(email: string, issuer: string | undefined, linked: readonly IdentityRow[]): string {
  if (issuer === undefined) return `'${email}' has no account at a provider.`;
  const others = linked.map((one) => `'${one.issuer}'`).join(', ');
  return `'${email}' has no account at '${issuer}'${others === '' ? '' : `, but at ${others}`}.`;
}
