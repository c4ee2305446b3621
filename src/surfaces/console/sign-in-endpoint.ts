import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { wayOf } from '../../access/audit/sender.js';
import { setAuth } from '../../access/auth/auth.decorator.js';
import { isHttps, SessionCookies } from '../../access/auth/session-cookies.js';
import { RateLimiter } from '../../access/rate-limit/rate-limiter.js';
import { reasonOf } from '../../access/sign-in/provider.js';
import { SignInRefused } from '../../access/sign-in/sign-in-refused.js';
import { SignInService } from '../../access/sign-in/sign-in.service.js';
import { Env } from '../../platform/config/env.js';
import { leadsToLoopback, networkOf } from '../../platform/http/network.js';
import { originOf } from '../../platform/http/origin.js';

export const SIGN_IN = '/console/sign-in';
export const CALLBACK = '/console/sign-in/callback';
const FIRST_PAGE = '/console/';
/** Of a slug that somebody may have asked for. */
const SLUG = /^[a-z0-9-]{1,63}$/;

/** `/console/sign-in`: to the provider and back (reference §31). Both answer a browser that goes there, so they lead to a page also when they refuse. */
@Injectable()
export class SignInEndpoint {
  private readonly logger = new Logger('SignIn');

  constructor(
    private readonly env: Env,
    private readonly signIn: SignInService,
    private readonly cookies: SessionCookies,
    private readonly limiter: RateLimiter,
  ) {}

  /** 303 to the provider. */
  async begin(req: Request, res: Response): Promise<void> {
    await this.lead(req, res, async () => {
      const { workspace, return: page } = req.query;
      const redirect = this.requireSafety(req) + CALLBACK;
      const slug = typeof workspace === 'string' && SLUG.test(workspace) ? workspace : null;
      const wanted = { redirect, workspace: slug, page: ownPage(page) };
      return (await this.signIn.begin(req, res, wanted)).href;
    });
  }

  /** 303 to the page that was asked for, with the cookie of a session. */
  async finish(req: Request, res: Response): Promise<void> {
    await this.lead(req, res, async () => {
      const { id, auth, page, seconds } = await this.signIn.finish(req, res);
      setAuth(req, auth);
      this.cookies.set(req, res, id, seconds);
      return page;
    });
  }

  /** Where the provider signs the person out as well; null where it does not. */
  logoutAddress(req: Request, idToken: string): Promise<string | null> {
    return this.signIn.logoutAddress(idToken, originOf(req, this.env) + FIRST_PAGE);
  }

  private async lead(req: Request, res: Response, to: () => Promise<string>): Promise<void> {
    let location: string;
    try {
      location = await to();
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      location = `${FIRST_PAGE}#sign-in=${await this.refused(req, error)}`;
    }
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Referrer-Policy', 'no-referrer');
    res.writeHead(303, { Location: location }).end();
  }

  /** Counts it, says it in the log, and resolves with what the page is told. */
  private async refused(req: Request, { reason, message, cause }: SignInRefused): Promise<string> {
    // These are no fault of the browser.
    const isOurs = reason === 'unavailable' || reason === 'unsafe';
    const charge = isOurs ? null : await this.limiter.chargeAddress(networkOf(req.ip ?? ''));
    if (charge?.allowed === false) return 'too_many';
    this.logger.warn({ reason, ...wayOf(req), message, ...(cause === undefined ? {} : { cause: reasonOf(cause) }) });
    return reason;
  }

  /** The origin that the provider sends browsers back to. Throws {@link SignInRefused} where others could read the code on the way, or lead it to themselves. */
  private requireSafety(req: Request): string {
    const origin = originOf(req, this.env);
    const known = this.env.variables.PUBLIC_URL !== undefined || leadsToLoopback(new URL(origin));
    if (known && (isHttps(req, this.env) || leadsToLoopback(new URL(origin)))) return origin;
    throw new SignInRefused('unsafe');
  }
}

/** The path of a page of the console, as the URL standard reads it; the first page for anything else, such as an address of another site. */
export function ownPage(text: unknown): string {
  if (typeof text !== 'string' || !text.startsWith(FIRST_PAGE) || text.length > 2000) return FIRST_PAGE;
  // A browser reads a backslash as a slash, and does not see tabs and line breaks.
  if (/[\\\p{Cc}]/u.test(text) || !URL.canParse(text, 'http://console.invalid')) return FIRST_PAGE;
  const { host, pathname, search, hash } = new URL(text, 'http://console.invalid');
  const isPage = host === 'console.invalid' && pathname.startsWith(FIRST_PAGE) && !pathname.includes('//');
  // Not round in a circle.
  const isOther = !/^\/console\/(?:sign-in|session)(?:\/|$)/.test(pathname);
  return isPage && isOther ? pathname + search + hash : FIRST_PAGE;
}
