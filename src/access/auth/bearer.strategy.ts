import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-http-bearer';
import { ApiError } from '../../platform/http/api-error.js';
import { headerValues } from '../../platform/http/request.js';
import type { AuthContext } from './auth-context.js';
import { CredentialsService, invalidSession } from './credentials.service.js';
import { KeyUses } from './key-uses.js';
import { SessionCookies } from './session-cookies.js';

/**
 * Bearer credentials from the header alone, and always 401: the package would also take query and body, and answers 400. Where no
 * header is sent, the cookie of a session may stand for its key (reference §20).
 */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy) {
  /** Where the strategy tells what has become of a request. */
  declare readonly error: (reason: Error) => void;

  constructor(
    private readonly credentials: CredentialsService,
    private readonly cookies: SessionCookies,
    private readonly uses: KeyUses,
  ) {
    super();
  }

  /**
   * Who sends a request; rejects with the refusal. Calls the strategy as passport's own middleware does, which also puts seven
   * properties for sessions on every request: that was 40 of the 1,200 µs of a read.
   */
  identify(req: Request): Promise<AuthContext> {
    const session = this.cookies.counting(req);
    if (session !== undefined) return this.bySession(session);
    return new Promise((success, error) => {
      const once = Object.assign(Object.create(this) as this, { success, error });
      once.authenticate(req);
    });
  }

  override authenticate(req: Request): void {
    const lines = headerValues(req, 'authorization');
    const [, token] = /^Bearer +([^\s]+)$/i.exec(lines[0] ?? '') ?? [];
    if (token !== undefined && lines.length === 1) {
      super.authenticate({ headers: { authorization: `Bearer ${token}` } } as Request);
      return;
    }
    const message = lines.length === 0 ? 'No credential was sent' : 'The Authorization header is not of that form';
    const code = lines.length === 0 ? 'missing_credential' : 'invalid_credential';
    this.error(new ApiError(code, `${message}; send one header 'Authorization: Bearer <key>'.`));
  }

  /** Called by passport. */
  async validate(token: string): Promise<AuthContext> {
    return this.noted(await this.credentials.authenticate(token));
  }

  private async bySession(session: Buffer | null): Promise<AuthContext> {
    if (session === null) throw invalidSession();
    return this.noted(await this.credentials.authenticateSession(session));
  }

  private noted(auth: AuthContext): AuthContext {
    this.uses.note(auth.credential.id);
    return auth;
  }
}
