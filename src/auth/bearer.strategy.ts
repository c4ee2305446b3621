import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import passport from 'passport';
import { Strategy } from 'passport-http-bearer';
import { v7 as uuidv7 } from 'uuid';
import { ApiError } from '../http/api-error.js';
import { headerValues } from '../http/request.js';
import type { AuthContext } from './auth-context.js';
import { CredentialsService } from './credentials.service.js';

/** Bearer credentials from the header alone, and always 401: the package would also take query and body, and answers 400. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy) implements OnApplicationShutdown {
  /** Passport puts it on the strategy for each request. */
  declare readonly error: (reason: Error) => void;

  constructor(private readonly credentials: CredentialsService) {
    super();
    // Passport's table of strategies belongs to the process: under one name a second application would take the first's place.
    this.name = `bearer-${uuidv7()}`;
    passport.use(this);
  }

  onApplicationShutdown(): void {
    passport.unuse(this.name);
  }

  override authenticate(req: Request): void {
    const lines = headerValues(req, 'authorization');
    const [, token] = /^Bearer ([^\s]+)$/i.exec(lines[0] ?? '') ?? [];
    if (token !== undefined && lines.length === 1) {
      super.authenticate({ headers: { authorization: `Bearer ${token}` } } as Request);
      return;
    }
    const message = lines.length === 0 ? 'No credential was sent' : 'The Authorization header is not of that form';
    const code = lines.length === 0 ? 'missing_credential' : 'invalid_credential';
    this.error(new ApiError(code, `${message}; send one header 'Authorization: Bearer <key>'.`));
  }

  /** Called by passport. */
  validate(token: string): Promise<AuthContext> {
    return this.credentials.authenticate(token);
  }
}
