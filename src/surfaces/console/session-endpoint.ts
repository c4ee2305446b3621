import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { setAuth } from '../../access/auth/auth.decorator.js';
import { type Begun, ConsoleSessions } from '../../access/auth/console-sessions.js';
import { isHttps, SessionCookies } from '../../access/auth/session-cookies.js';
import { rateLimited } from '../../access/rate-limit/rate-limit-headers.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';
import { Env } from '../../platform/config/env.js';
import { ApiError } from '../../platform/http/api-error.js';
import { leadsToLoopback } from '../../platform/http/network.js';
import { originOf } from '../../platform/http/origin.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { RequestSlots } from '../../platform/http/request-slots.js';
import { bodyOf, done, requireOwnPage } from './own-page.js';
import { SignInEndpoint } from './sign-in-endpoint.js';

/** `/console/session`: people log in to the console and out of it (reference §20). */
@Injectable()
export class SessionEndpoint {
  constructor(
    private readonly env: Env,
    private readonly sessions: ConsoleSessions,
    private readonly cookies: SessionCookies,
    private readonly limiter: RateLimiter,
    private readonly turns: RequestSlots,
    private readonly signIn: SignInEndpoint,
  ) {}

  /** `{key}` or `{code}`: 204 with the cookie. Throws 400, 401, 403, 413, 415, 429. */
  async logIn(req: Request, res: Response): Promise<void> {
    this.requireSafety(req);
    requireOwnPage(req);
    const { key, code, ...more } = await bodyOf(req, res);
    const [param] = Object.keys(more);
    if (param !== undefined) throw new ApiError('unknown_field', `The field "${param}" is not known here.`, { param });
    try {
      const { id, auth } = await this.begin(req, res, key, code);
      setAuth(req, auth);
      this.cookies.set(req, res, id);
    } catch (error) {
      throw await this.limiter.counted(error, req);
    }
    done(res);
  }

  /** 204, whether there was a session or not; of a person whom a provider has signed in 200 with the address that ends its own session. Throws 403. */
  async logOut(req: Request, res: Response): Promise<void> {
    requireOwnPage(req);
    const idToken = await this.sessions.end(req);
    this.cookies.clear(req, res);
    const logoutUrl = idToken === null ? null : await this.signIn.logoutAddress(req, idToken);
    if (logoutUrl === null) done(res);
    else res.setHeader('Cache-Control', 'no-store').status(200).json({ logoutUrl });
  }

  private async begin(req: Request, res: Response, key: unknown, code: unknown): Promise<Begun> {
    if (typeof key === 'string' && code === undefined) {
      const auth = await this.sessions.identify(key);
      const charge = await this.limiter.charge(auth.credential.id, auth.workspace.plan, 'resource_write');
      if (!charge.allowed) throw rateLimited('log-ins with this key', charge);
      // A log-in waits as every writing request does, so that one tenant's log-ins leave connections to others.
      notesOf(req).workspaceId = auth.workspaceId;
      return this.turns.write(req, res, () => this.sessions.beginWithKey(req, auth));
    }
    if (typeof code === 'string' && key === undefined) return this.sessions.beginWithCode(req, code);
    const param = code === undefined ? 'key' : 'code';
    throw new ApiError('invalid_field', 'Either key or code is expected, a text.', { param });
  }

  /** Refuses a page that came by http from elsewhere: others on the way could read and change what people type. Throws 403. */
  private requireSafety(req: Request): void {
    // A browser says where its page came from, also behind a proxy that the service knows nothing of.
    const { origin = '' } = req.headers;
    const page = new URL(URL.canParse(origin) ? origin : originOf(req, this.env));
    const https = page.protocol === 'https:';
    if (https ? isHttps(req, this.env) : leadsToLoopback(page)) return;
    const message = https
      ? 'This page came by https, but the service does not know it: set PUBLIC_URL, or TRUST_PROXY and X-Forwarded-Proto at the proxy.'
      : `Log in over https: http://${page.hostname} would send the key where others can read it. Behind a proxy with https, set PUBLIC_URL or TRUST_PROXY.`;
    throw new ApiError('origin_not_allowed', message);
  }
}
