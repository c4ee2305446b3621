import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Env } from '../../platform/config/env.js';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';
import { recordAct } from '../audit/record.js';
import { wayOf } from '../audit/sender.js';
import type { AuthContext } from '../auth/auth-context.js';
import { CredentialsService } from '../auth/credentials.service.js';
import { insertKey, MOST_KEYS, requireKeysOfPeople } from '../auth/key-rules.js';
import { isToken, newToken } from '../auth/session-cookies.js';
import * as statements from './device-codes.sql.js';

const LIFETIME = 600;
const INTERVAL = 5;
/** Letters that nobody takes for another one, and that make no words (RFC 8628 §6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;
/** The name of the key that a command gets. */
const NAME = 'millwright login';
const HOUR = 3_600_000;

/** What a command is answered until it has its key (RFC 8628 §3.5). */
export type DevicePending = 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied';

/** Lets a command in that a person approves in the console (reference §31). The database has no code, but an HMAC of each. */
@Injectable()
export class DeviceCodes {
  private readonly mac: (text: string) => Buffer;

  constructor(
    private readonly env: Env,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly credentials: CredentialsService,
    keys: LastingKeys,
  ) {
    this.mac = keys.mac('console');
  }

  /** Throws 403 where only the operator makes keys, and 429. */
  async begin(req: Request): Promise<{ deviceCode: string; userCode: string; expiresIn: number; interval: number }> {
    requireKeysOfPeople(this.env);
    const deviceCode = newToken();
    const letters = Array.from({ length: 8 }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
    const values = { hash: this.digest(deviceCode), userHash: this.digestOfUser(letters), address: wayOf(req).address };
    const made = await this.transactions.run(statements.ADD({ ...values, seconds: LIFETIME, interval: INTERVAL }));
    if (made.length === 0) throw tooMany('Too many commands wait to be let in; try again in a minute.');
    return {
      deviceCode,
      userCode: `${letters.slice(0, 4)}-${letters.slice(4)}`,
      expiresIn: LIFETIME,
      interval: INTERVAL,
    };
  }

  /** What waits under a code that a person has typed. Throws 404, and 429 after five wrong ones in a minute. */
  async find(auth: AuthContext, userCode: unknown): Promise<statements.WaitingDevice> {
    const userHash = await this.typed(auth, userCode);
    const [found] = await this.database.read.run(statements.FIND({ userHash }));
    return found ?? this.wrong(auth);
  }

  /** Approves it, or says no. Throws as {@link find}, and 403. */
  async decide(req: Request, auth: AuthContext, userCode: unknown, approved: boolean): Promise<void> {
    requireKeysOfPeople(this.env);
    if (auth.credentialType !== 'personal_api_key') {
      throw new ApiError('role_not_allowed', 'This takes a person; a service account lets nobody in.');
    }
    const userHash = await this.typed(auth, userCode);
    const { id: keyId } = auth.credential;
    const decided = await this.transactions.open(async (tx) => {
      const rows = await tx.run(statements.DECIDE({ userHash, keyId, approved }));
      const sender = { workspaceId: auth.workspaceId, actorId: auth.userId, keyId, ...wayOf(req) };
      const action = approved ? 'device.approve' : 'device.deny';
      if (rows.length > 0) await recordAct(tx, sender, action, { type: 'key', id: keyId });
      return rows.length > 0;
    });
    if (!decided) await this.wrong(auth);
  }

  /** The key of a command that was approved, once, or why there is none. */
  async take(req: Request, deviceCode: unknown): Promise<{ secret: string } | DevicePending> {
    if (typeof deviceCode !== 'string' || !isToken(deviceCode)) return 'expired_token';
    const hash = this.digest(deviceCode);
    return this.transactions.open(async (tx) => {
      const [asked] = await tx.run(statements.ASK({ hash }));
      if (asked === undefined || asked.late) return 'expired_token';
      if (asked.denied) return 'access_denied';
      if (asked.soon) return 'slow_down';
      if (asked.keyId === null) return 'authorization_pending';
      await tx.run(statements.FORGET({ hash }));
      const [by] = await tx.run(statements.HOLD_KEY({ keyId: asked.keyId }));
      // The person has signed out meanwhile, or may have no further key.
      if (by === undefined || by.count >= MOST_KEYS) return 'access_denied';
      const { workspaceId, userId, expiresAt } = by;
      const wanted = { workspaceId, userId, name: NAME, scopes: by.scopes as Scope[], expiresAt };
      const { key, secret } = await insertKey(tx, this.credentials, 'person', wanted);
      const sender = { workspaceId, actorId: userId, keyId: asked.keyId, ...wayOf(req) };
      await recordAct(tx, sender, 'key.create', { type: 'key', id: key.id });
      return { secret };
    });
  }

  /** Those whose time is over; they count no more. */
  @Chore({ every: HOUR })
  async forget(): Promise<void> {
    await this.database.work.run(statements.FORGET_ENDED());
  }

  private async typed(auth: AuthContext, userCode: unknown): Promise<Buffer> {
    if (auth.session === null) throw new Error('Only a session of the console comes here.');
    if ((await this.database.read.run(statements.MAY_TYPE({ hash: auth.session }))).length === 0) {
      throw tooMany('Five codes were wrong; try again in a minute.');
    }
    const letters = typeof userCode === 'string' ? userCode.toUpperCase().replace(/[\s-]/g, '') : '';
    if (!USER_CODE.test(letters)) return this.wrong(auth);
    return this.digestOfUser(letters);
  }

  private async wrong(auth: AuthContext): Promise<never> {
    await this.transactions.run(statements.COUNT_WRONG({ hash: auth.session ?? Buffer.alloc(0) }));
    throw new ApiError(
      'not_found',
      'No command waits under this code: it is mistyped, was answered, or its ten minutes are over.',
      { param: 'userCode' },
    );
  }

  private digest(code: string): Buffer {
    return this.mac(`device:${code}`);
  }
  private digestOfUser(letters: string): Buffer {
    return this.mac(`device user:${letters}`);
  }
}

function tooMany(message: string): ApiError {
  return new ApiError('rate_limit_exceeded', message, { headers: { 'Retry-After': '60' } });
}
