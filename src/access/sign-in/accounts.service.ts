import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { SignInConfig } from '../../platform/config/sign-in.js';
import { newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { INSTALLATION } from '../audit/audit-entry.entity.js';
import { recordAct } from '../audit/record.js';
import { wayOf } from '../audit/sender.js';
import { type Begun, ConsoleSessions, type SignedIn } from '../auth/console-sessions.js';
import { CredentialsService } from '../auth/credentials.service.js';
import { insertKey } from '../auth/key-rules.js';
import { CREATE_PERSON } from '../workspaces/users.service.js';
import { BY_ADDRESS, BY_IDENTITY, END_SURPLUS, NOW, TAKE_TURN } from './accounts.sql.js';
import { type Person, rolesOf } from './person.js';
import { RuledMemberships } from './ruled-memberships.js';
import { SignInIdentity } from './sign-in-identity.entity.js';
import { SignInRefused } from './sign-in-refused.js';

/** The name of the key of a session. */
const NAME = 'Console';

/** What a sign-in asks for beside the person. */
interface Wanted extends SignedIn {
  /** A slug; null for the first workspace that the rules name, or any other one. */
  workspace: string | null;
}

/** The accounts of people whom a provider signs in, and what they become by it (reference §31). */
@Injectable()
export class SignInAccounts {
  constructor(
    private readonly transactions: Transactions,
    private readonly memberships: RuledMemberships,
    private readonly sessions: ConsoleSessions,
    private readonly credentials: CredentialsService,
    private readonly extensions: ExtensionSet,
  ) {}

  /**
   * Finds the account of a person, or makes it, has its memberships follow the rules and begins a session. Nothing is left of an account or a
   * link that leads into no workspace. Throws {@link SignInRefused}.
   */
  async enter(req: Request, person: Person, config: SignInConfig, wanted: Wanted): Promise<Begun> {
    const begun = await this.transactions.open(async (tx) => {
      await tx.run(TAKE_TURN({ issuer: person.issuer, subject: person.subject }));
      const { userId, isNew } = await this.account(tx, req, person);
      const places = await this.memberships.follow(tx, req, userId, rolesOf(person, config.workspaces));
      const chosen = wanted.workspace === null ? places[0] : places.find(({ slug }) => slug === wanted.workspace);
      if (chosen === undefined) {
        // Who was known stays known, and what the rules have taken stays taken.
        if (isNew) throw new SignInRefused('no_workspace');
        return null;
      }
      const keyId = await this.makeKey(tx, chosen.workspaceId, userId, wanted.seconds);
      return this.sessions.beginSignedIn(tx, req, keyId, wanted);
    });
    if (begun === null) throw new SignInRefused('no_workspace');
    return begun;
  }

  /** `isNew`: this provider had not signed in the person before. */
  private async account(tx: UnitOfWork, req: Request, person: Person): Promise<{ userId: string; isNew: boolean }> {
    const { issuer, subject, email } = person;
    const [known] = await tx.run(BY_IDENTITY({ issuer, subject }));
    if (known !== undefined) return { userId: known.id, isNew: false };
    if (email === null) throw new SignInRefused('unverified');
    const [found] = await tx.run(BY_ADDRESS({ issuer, email }));
    if (found !== undefined && (found.taken || !isSameAddress(found.email, email)))
      throw new SignInRefused('address_taken');
    const userId = found?.id ?? newId();
    const sender = { workspaceId: INSTALLATION, actorId: userId, keyId: null, ...wayOf(req) };
    if (found === undefined) {
      const made = await tx.run(CREATE_PERSON({ id: userId, email, name: person.name }));
      if (made.length === 0) throw new SignInRefused('address_taken');
      await recordAct(tx, sender, 'user.create', { type: 'user', id: userId });
    }
    const madeAccount = found === undefined;
    await tx.manager.getRepository(SignInIdentity).insert({ issuer, subject, userId, madeAccount });
    await recordAct(tx, sender, 'user.link', { type: 'user', id: userId });
    return { userId, isNew: true };
  }

  /** The key of the one session: its secret is given to nobody. */
  private async makeKey(tx: UnitOfWork, workspaceId: string, userId: string, seconds: number): Promise<string> {
    await tx.run(END_SURPLUS({ workspaceId, userId }));
    const [clock] = await tx.run(NOW());
    const expiresAt = new Date((clock?.now.getTime() ?? 0) + seconds * 1000);
    const scopes = [...this.extensions.scopes];
    const wanted = { workspaceId, userId, name: NAME, scopes, expiresAt, session: true as const };
    return (await insertKey(tx, this.credentials, 'person', wanted)).key.id;
  }
}

/** Capitals aside, where all letters are plain: other ones become equal by it that are not the same to a mail server. */
function isSameAddress(a: string, b: string): boolean {
  const isPlain = /^[\x20-\x7e]*$/.test(a + b);
  return a === b || (isPlain && a.toLowerCase() === b.toLowerCase());
}
