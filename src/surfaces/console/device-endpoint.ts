import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { setAuth } from '../../access/auth/auth.decorator.js';
import { CredentialsService, invalidSession } from '../../access/auth/credentials.service.js';
import { SessionCookies } from '../../access/auth/session-cookies.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';
import { DeviceCodes, type DevicePending } from '../../access/sign-in/device-codes.js';
import { Env } from '../../platform/config/env.js';
import { ApiError } from '../../platform/http/api-error.js';
import { originOf } from '../../platform/http/origin.js';
import { requestIdOf } from '../../platform/http/request.js';
import { bodyOf, done, requireOwnPage } from './own-page.js';

export const DEVICE = '/console/device';
export const DEVICE_TOKEN = '/console/device/token';
export const DEVICE_CODE = '/console/device/code';

const SENTENCES: Record<DevicePending, string> = {
  authorization_pending: 'Nobody has approved it yet; ask again after the interval.',
  slow_down: 'You ask too often; wait five seconds longer from now on.',
  expired_token: 'The code is unknown, was used, or its ten minutes are over; begin anew.',
  access_denied: 'The person said no, or may not make a key any more.',
};

/** `/console/device`: a command asks to be let in, and a person who is signed in answers (reference §31, RFC 8628). */
@Injectable()
export class DeviceEndpoint {
  constructor(
    private readonly env: Env,
    private readonly devices: DeviceCodes,
    private readonly cookies: SessionCookies,
    private readonly credentials: CredentialsService,
    private readonly limiter: RateLimiter,
  ) {}

  /** POST {@link DEVICE}: 200 with the codes. Throws 403, 429. */
  async begin(req: Request, res: Response): Promise<void> {
    const begun = await this.devices.begin(req);
    send(res, { ...begun, verificationUrl: `${originOf(req, this.env)}${DEVICE}` });
  }

  /** POST {@link DEVICE_TOKEN} `{deviceCode}`: 200 `{key}`, else 400 with why not. Throws 429. */
  async take(req: Request, res: Response): Promise<void> {
    const { deviceCode } = await bodyOf(req, res);
    const taken = await this.devices.take(req, deviceCode);
    if (typeof taken === 'object') return send(res, { key: taken.secret });
    // Who guesses is counted as one who guesses keys.
    if (taken === 'expired_token') {
      const counted = await this.limiter.counted(new ApiError('invalid_credential', SENTENCES[taken]), req);
      if (counted instanceof ApiError && counted.status === 429) throw counted;
    }
    const error = {
      type: 'invalid_request',
      message: SENTENCES[taken],
      requestId: requestIdOf(res),
      code: taken,
      param: null,
      retryable: false,
    };
    send(res, { error }, 400);
  }

  /** POST {@link DEVICE_CODE} `{userCode, approved?}` of the page: without `approved` 200 with what waits; else 204. Throws 401, 403, 404, 429. */
  async answer(req: Request, res: Response): Promise<void> {
    requireOwnPage(req);
    const auth = await this.known(req);
    const { userCode, approved } = await bodyOf(req, res);
    if (approved === undefined) {
      const { address, createdAt, expiresAt } = await this.devices.find(auth, userCode);
      const { scopes, credential } = auth;
      return send(res, { address, createdAt, expiresAt, scopes, keyExpiresAt: credential.expiresAt });
    }
    if (typeof approved !== 'boolean')
      throw new ApiError('invalid_field', 'approved must be true or false.', { param: 'approved' });
    await this.devices.decide(req, auth, userCode, approved);
    done(res);
  }

  private async known(req: Request): Promise<AuthContext> {
    const hash = this.cookies.given(req);
    try {
      if (hash === null) throw invalidSession();
      const auth = await this.credentials.authenticateSession(hash);
      setAuth(req, auth);
      return auth;
    } catch (error) {
      throw await this.limiter.counted(error, req);
    }
  }
}

function send(res: Response, body: object, status = 200): void {
  res.setHeader('Cache-Control', 'no-store').status(status).json(body);
}
