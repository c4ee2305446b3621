import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import { bytes, bytesOrNull, int, raw, sql, uuid } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { recordAct, recordOperator } from '../audit/record.js';
import { wayOf } from '../audit/sender.js';
import type { AuthContext } from './auth-context.js';
import { ConsoleCode } from './console-code.entity.js';
import { CredentialsService } from './credentials.service.js';
import { END_SESSION, USE_CODE } from './invitations.sql.js';
import { OperatorError } from './operator-error.js';
import { openedWith, sealedWith } from './session-seal.js';
import { isToken, newToken, SESSION_SECONDS, SessionCookies } from './session-cookies.js';

/** Sessions of one key: a further one ends the oldest. */
const MOST_SESSIONS = 50;
const CODE_SECONDS = 600;

const KEY_ID = uuid('keyId');

// The statement locks the key. A key that a membership's end deletes before gets no session; one that it deletes after takes its
// sessions with it.
const BEGIN = sql`
WITH k AS (SELECT id FROM api_keys WHERE id = ${KEY_ID} FOR KEY SHARE),
surplus AS (
  DELETE FROM console_sessions WHERE hash IN (
    SELECT hash FROM console_sessions WHERE key_id = ${KEY_ID}
    ORDER BY expires_at DESC OFFSET ${raw(String(MOST_SESSIONS - 1))}))
INSERT INTO console_sessions (hash, key_id, expires_at, id_token)
SELECT ${bytes('hash')}, k.id, clock_timestamp() + make_interval(secs => ${int('seconds')}), ${bytesOrNull('idToken')} FROM k
RETURNING key_id`.rows<object>();

const IS_CODE = sql`SELECT 1 FROM console_codes WHERE hash = ${bytes('hash')} AND expires_at > now()`.rows<object>();
const IS_SESSION = sql`SELECT 1 FROM console_sessions WHERE hash = ${bytes('hash')}`.rows<object>();

const ADD_CODE = sql`
WITH k AS (
  SELECT id, workspace_id FROM api_keys
  WHERE id = ${KEY_ID} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) FOR KEY SHARE),
code AS (
  INSERT INTO console_codes (hash, key_id, expires_at)
  SELECT ${bytes('hash')}, k.id, clock_timestamp() + make_interval(secs => ${int('seconds')}) FROM k
  RETURNING expires_at)
SELECT k.workspace_id AS "workspaceId", code.expires_at AS "expiresAt" FROM k, code`.rows<{
  workspaceId: string;
  expiresAt: Date;
}>();

/** What a session has that a provider has signed in. */
export interface SignedIn {
  /** How long it lasts. */
  seconds: number;
  /** What the provider has said, for its own sign-out. */
  idToken: string;
  /** What is stored of the session that the browser had when it went to the provider. */
  before: Buffer | null;
}

/** A session that has begun: `id` is for the browser, in this one answer. */
export interface Begun {
  id: string;
  auth: AuthContext;
}

/** How sessions of the console begin and end (reference §20). The database holds no id and no code, but what is made of them. */
@Injectable()
export class ConsoleSessions {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly credentials: CredentialsService,
    private readonly cookies: SessionCookies,
  ) {}

  /** Who a key stands for that somebody logs in with. Throws 401. */
  identify(key: string): Promise<AuthContext> {
    return this.credentials.authenticate(key);
  }

  /** Logs in with a key that was identified. Throws 401. */
  beginWithKey(req: Request, auth: AuthContext): Promise<Begun> {
    return this.transactions.open((tx) => this.begin(tx, req, auth));
  }

  /** Logs in with a code, which then is none any more. Throws 401. */
  async beginWithCode(req: Request, code: string): Promise<Begun> {
    if (!isToken(code)) throw invalidCode();
    const hash = this.cookies.digestOfCode(code);
    // A stranger takes none of the connections that write.
    if ((await this.database.read.run(IS_CODE({ hash }))).length === 0) throw invalidCode();
    return this.transactions.open(async (tx) => {
      const [used] = await tx.run(USE_CODE({ hash }));
      if (used === undefined) throw invalidCode();
      return this.begin(tx, req, await this.credentials.authenticateId(tx, used.keyId));
    });
  }

  /** Begins one for a key that was made in the same transaction, for a person whom a provider has signed in. Throws 401. */
  async beginSignedIn(tx: UnitOfWork, req: Request, keyId: string, signedIn: SignedIn): Promise<Begun> {
    return this.begin(tx, req, await this.credentials.authenticateId(tx, keyId), signedIn);
  }

  /**
   * Ends the session that a request has, if it has one.
   * @returns what the provider has said of the person whom it had signed in; null where there is no such thing.
   */
  async end(req: Request): Promise<string | null> {
    const id = this.cookies.idOf(req);
    if (id === null) return null;
    const hash = this.cookies.digest(id);
    if ((await this.database.read.run(IS_SESSION({ hash }))).length === 0) return null;
    return this.transactions.open(async (tx) => {
      const [ended] = await tx.run(END_SESSION({ hash }));
      if (ended === undefined) return null;
      const { idToken, ...key } = ended;
      await recordAct(tx, { ...key, ...wayOf(req) }, 'console.logout', { type: 'key', id: key.keyId });
      return idToken === null ? null : openedWith(id, idToken);
    });
  }

  /** For the operator: a code with which somebody may log in with a key, once, within ten minutes. Throws {@link OperatorError}. */
  async addCode(keyId: string): Promise<{ code: string; expiresAt: Date }> {
    const code = newToken();
    const values = { keyId, hash: this.cookies.digestOfCode(code), seconds: CODE_SECONDS };
    return this.transactions.open(async (tx) => {
      const [made] = isUuid(keyId) ? await tx.run(ADD_CODE(values)) : [];
      if (made === undefined) {
        throw new OperatorError(`There is no key '${keyId}' that still works; 'key list' shows the ids.`);
      }
      await recordOperator(tx, made.workspaceId, 'console.link', { type: 'key', id: keyId.toLowerCase() });
      return { code, expiresAt: made.expiresAt };
    });
  }

  /** A code with which somebody may log in with a key, once, until a time; in the transaction of a request. */
  async addCodeOf(tx: UnitOfWork, keyId: string, expiresAt: Date): Promise<string> {
    const code = newToken();
    await tx.manager.getRepository(ConsoleCode).insert({ hash: this.cookies.digestOfCode(code), keyId, expiresAt });
    return code;
  }

  private async begin(tx: UnitOfWork, req: Request, auth: AuthContext, signedIn?: SignedIn): Promise<Begun> {
    const id = newToken();
    const { id: keyId } = auth.credential;
    const { seconds = SESSION_SECONDS, idToken } = signedIn ?? {};
    const token = idToken === undefined ? null : sealedWith(id, idToken);
    const begun = await tx.run(BEGIN({ keyId, hash: this.cookies.digest(id), seconds, idToken: token }));
    if (begun.length === 0) throw new ApiError('invalid_credential', 'The key was ended at the same moment.');
    // The answer overwrites the cookie of the browser's earlier session, so nobody could end that one.
    const before = signedIn === undefined ? this.cookies.given(req) : signedIn.before;
    if (before !== null) await tx.run(END_SESSION({ hash: before }));
    const sender = { workspaceId: auth.workspaceId, actorId: auth.userId, keyId, ...wayOf(req) };
    await recordAct(tx, sender, 'console.login', { type: 'key', id: keyId });
    return { id, auth };
  }
}

function invalidCode(): ApiError {
  const message =
    "This code is mistyped, was used, or has ended. Ask for another one: an owner or admin makes it under 'Members', the operator by 'millwright console link --key ID'.";
  return new ApiError('invalid_credential', message);
}
