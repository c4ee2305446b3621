import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { IDToken, TokenEndpointResponse } from 'openid-client';
import type { SignInConfig } from '../../platform/config/sign-in.js';
import type { Begun } from '../auth/console-sessions.js';
import { SessionCookies } from '../auth/session-cookies.js';
import { SignInAccounts } from './accounts.service.js';
import { personOf } from './person.js';
import type { Provider } from './provider.js';
import { SignInAttempts } from './sign-in-attempts.js';
import { SignInProvider } from './sign-in-provider.js';
import { SignInRefused } from './sign-in-refused.js';

/** A session, and where the page goes on. */
export interface Entered extends Begun {
  page: string;
  /** How long it lasts. */
  seconds: number;
}

/** Sends people to the provider and takes in what it says of them (reference §31). */
@Injectable()
export class SignInService {
  constructor(
    private readonly provider: SignInProvider,
    private readonly attempts: SignInAttempts,
    private readonly accounts: SignInAccounts,
    private readonly cookies: SessionCookies,
  ) {}

  /**
   * Begins a sign-in. Resolves with the address of the provider's page. Throws {@link SignInRefused}.
   * @param redirect where the provider sends the browser to.
   * @param page of the console, where the person goes on.
   */
  async begin(
    req: Request,
    res: Response,
    { redirect, workspace, page }: { redirect: string; workspace: string | null; page: string },
  ): Promise<URL> {
    const { config, client, configuration } = await this.ready();
    const { issuer, clientId, scopes } = config;
    const before = this.cookies.given(req)?.toString('base64url') ?? null;
    const wanted = { issuer, clientId, redirect, workspace, page, before };
    const { state, nonce, verifier } = this.attempts.begin(req, res, wanted);
    return client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirect,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /** Ends the sign-in that the browser has begun, with the answer of the provider in the address. Throws {@link SignInRefused}. */
  async finish(req: Request, res: Response): Promise<Entered> {
    const attempt = this.attempts.take(req, res);
    if (attempt === null) throw new SignInRefused('expired');
    const ready = await this.ready();
    const { config } = ready;
    // Begun before CONFIG_FILE was changed: the answer is of another provider.
    if (attempt.issuer !== config.issuer || attempt.clientId !== config.clientId) throw new SignInRefused('expired');
    const address = new URL(attempt.redirect);
    address.search = new URL(req.url, attempt.redirect).search;
    const tokens = await this.exchange(ready, address, attempt);
    const person = personOf(await this.claimsOf(ready, tokens), config);
    const before = attempt.before === null ? null : Buffer.from(attempt.before, 'base64url');
    const seconds = config.sessionHours * 3600;
    const wanted = { workspace: attempt.workspace, idToken: tokens.id_token ?? '', before, seconds };
    const begun = await this.accounts.enter(req, person, config, wanted);
    return { ...begun, page: attempt.page, seconds };
  }

  /** Where the provider signs the person out as well, and sends the browser back from; null where it has no such page, or does not answer. */
  async logoutAddress(idToken: string, page: string): Promise<string | null> {
    const provider = this.provider.config === null ? null : await this.provider.current();
    if (provider?.configuration.serverMetadata().end_session_endpoint === undefined) return null;
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: page };
    return provider.client.buildEndSessionUrl(provider.configuration, asked).href;
  }

  private async ready(): Promise<Provider & { config: SignInConfig }> {
    const { config } = this.provider;
    const provider = config === null ? null : await this.provider.current();
    if (config === null || provider === null) throw new SignInRefused('unavailable');
    return { ...provider, config };
  }

  /** State, issuer, code, signature, audience, nonce and times: the package checks all of them. */
  private async exchange(
    { client, configuration }: Provider,
    address: URL,
    { state, nonce, verifier }: { state: string; nonce: string; verifier: string },
  ) {
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    try {
      return await client.authorizationCodeGrant(configuration, address, checks);
    } catch (error) {
      throw this.refusalOf(client, error);
    }
  }

  private async claimsOf(
    { client, configuration, config }: Provider & { config: SignInConfig },
    tokens: TokenEndpointResponse & { claims(): IDToken | undefined },
  ): Promise<Record<string, unknown>> {
    const claims = tokens.claims();
    if (claims === undefined) throw new SignInRefused('invalid');
    const asksGroups = config.workspaces.some(({ when }) => when.groups !== undefined);
    const lacks = claims['email'] === undefined || (asksGroups && claims[config.groupsClaim] === undefined);
    if (!lacks || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    try {
      const more = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      // An address and its verification belong together.
      const { email, email_verified: verified, ...others } = more;
      const address = claims['email'] === undefined ? { email, email_verified: verified } : {};
      return { ...others, ...claims, ...address };
    } catch (error) {
      throw this.refusalOf(client, error);
    }
  }

  private refusalOf({ AuthorizationResponseError }: Provider['client'], error: unknown): SignInRefused {
    if (error instanceof AuthorizationResponseError) return new SignInRefused('cancelled', error);
    if (!isAway(error)) return new SignInRefused('invalid', error);
    this.provider.missed();
    return new SignInRefused('unavailable', error);
  }
}

/** Whether an error says that the provider did not answer, and nothing of an answer. */
function isAway(error: unknown): boolean {
  const { code, message, cause } = error as {
    code?: string;
    message?: string;
    cause?: { status?: number; message?: string };
  };
  // What fetch() throws, and what the package makes of it and of an answer with another status than it knows.
  return code === 'OAUTH_TIMEOUT' || [message, cause?.message].includes('fetch failed') || (cause?.status ?? 0) >= 500;
}
