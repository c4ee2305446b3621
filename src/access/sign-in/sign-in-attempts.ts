import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { Env } from '../../platform/config/env.js';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';
import { cookieName, cookieValues, isHttps, prefixedName, writeCookie } from '../auth/session-cookies.js';

/** How long somebody may be at the provider, in seconds. */
const PATIENCE = 600;
/** A browser keeps 4,096 bytes of a cookie. */
const MOST = 3500;

const attemptSchema = z.strictObject({
  /** 16 random bytes: no two are alike. */
  id: z.string(),
  /** Seconds since 1970. */
  ends: z.number(),
  issuer: z.string(),
  clientId: z.string(),
  /** Where the provider sends the browser to. */
  redirect: z.string(),
  workspace: z.string().nullable(),
  /** Where the page goes on. */
  page: z.string(),
  /** What is stored of the session that the browser had, in base64url. */
  before: z.string().nullable(),
});
/** A sign-in that has begun. */
export type Attempt = z.output<typeof attemptSchema>;

/** What the provider is sent, or asked for, to know that its answer belongs to the attempt. */
export interface Proofs {
  state: string;
  nonce: string;
  /** Of PKCE (RFC 7636). */
  verifier: string;
}

/**
 * Sign-ins that are under way (reference §31). The browser keeps each itself, in a cookie for ten minutes, so a stranger fills no table; what proves
 * that an answer belongs to it is an HMAC of the whole, and is in no cookie.
 */
@Injectable()
export class SignInAttempts {
  private readonly mac: (text: string) => Buffer;
  private readonly name: string;

  constructor(
    private readonly env: Env,
    keys: LastingKeys,
  ) {
    this.mac = keys.mac('console');
    this.name = `${cookieName(keys)}_sign_in`;
  }

  /** Begins one, in place of one that the browser has begun before. */
  begin(req: Request, res: Response, wanted: Omit<Attempt, 'id' | 'ends'>): Proofs {
    const id = randomBytes(16).toString('base64url');
    const attempt: Attempt = { ...wanted, id, ends: Math.floor(Date.now() / 1000) + PATIENCE };
    const whole = written(attempt);
    // A page that is too long for a cookie is left out: the person begins at the first one.
    const value = whole.length <= MOST ? whole : written({ ...attempt, page: '/console/' });
    this.write(req, res, value, PATIENCE);
    return this.proofsOf(value);
  }

  /** The one that the browser has, whatever its answer says; null: none, or its time is over. It is over with that. */
  take(req: Request, res: Response): (Attempt & Proofs) | null {
    const [value, another] = cookieValues(req, this.nameFor(req));
    if (value === undefined) return null;
    this.write(req, res, '', 0);
    const attempt = another === undefined ? readAttempt(value) : null;
    if (attempt === null || attempt.ends <= Date.now() / 1000) return null;
    return { ...attempt, ...this.proofsOf(value) };
  }

  private proofsOf(value: string): Proofs {
    const proof = (purpose: string) => this.mac(`sign-in ${purpose}:${value}`).toString('base64url');
    return { state: proof('state'), nonce: proof('nonce'), verifier: proof('verifier') };
  }

  /** Lax: the provider sends the browser back, and a cookie for requests of the page alone would not come along. */
  private write(req: Request, res: Response, value: string, seconds: number): void {
    const secure = isHttps(req, this.env);
    writeCookie(res, { name: this.nameFor(req), value, seconds, sameSite: 'Lax', secure });
  }

  private nameFor(req: Request): string {
    return prefixedName(req, this.env, this.name);
  }
}

function written(attempt: Attempt): string {
  return Buffer.from(JSON.stringify(attempt)).toString('base64url');
}

/** Null for what nobody has written so. The browser could: then no answer has its proofs. */
function readAttempt(value: string): Attempt | null {
  try {
    return attemptSchema.parse(JSON.parse(Buffer.from(value, 'base64url').toString()));
  } catch {
    return null;
  }
}
