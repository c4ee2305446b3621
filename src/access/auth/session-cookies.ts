import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Env } from '../../platform/config/env.js';
import { originOf } from '../../platform/http/origin.js';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';

/** How long a session lasts that a key has begun, in seconds; the database counts too. */
export const SESSION_SECONDS = 43_200;
/** Digits in the name, of the mark of the installation's first secret: cookies ignore ports, so two services of one host need two names. */
const MARK_LENGTH = 16;
/** 32 random bytes, in base64url. */
const FORM = /^[\w-]{43}$/;

/** Whether the console itself sends a request: the browser says it, and no page can say it instead (W3C Fetch Metadata). */
export function isOfOwnPage(req: Request): boolean {
  return req.headers['sec-fetch-site'] === 'same-origin';
}

/** Whether the browser reaches the service by https: by `PUBLIC_URL`, or as the proxy of `TRUST_PROXY` says. */
export function isHttps(req: Request, env: Env): boolean {
  return req.secure || originOf(req, env).startsWith('https:');
}

/** A new session's id, or a code: 43 characters. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a text can be one: else nobody asks the database. */
export function isToken(text: string): boolean {
  return FORM.test(text);
}

/** A name that no other service of this host has. */
export function cookieName(keys: LastingKeys): string {
  return `millwright_${keys.key('backups').toString('hex').slice(0, MARK_LENGTH)}`;
}

/** With the prefix a browser takes the cookie from this very host alone, by https: no neighbour below the same domain can set it. */
export function prefixedName(req: Request, env: Env, name: string): string {
  return isHttps(req, env) ? `__Host-${name}` : name;
}

/** The values of all cookies of a name that a request has. */
export function cookieValues(req: Request, name: string): string[] {
  const start = `${name}=`;
  const all = (req.headers.cookie ?? '').split(';').map((one) => one.trim());
  return all.filter((one) => one.startsWith(start)).map((one) => one.slice(start.length));
}

interface WrittenCookie {
  name: string;
  value: string;
  /** 0 takes it away. */
  seconds: number;
  sameSite: 'Strict' | 'Lax';
  secure: boolean;
}

/** Adds one to an answer. */
export function writeCookie(res: Response, { name, value, seconds, sameSite, secure }: WrittenCookie): void {
  const rules = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
  res.appendHeader('Set-Cookie', `${name}=${value}; ${rules}`);
}

/** The cookie that stands for a session of the console (reference §20), and where it counts. */
@Injectable()
export class SessionCookies {
  private readonly mac: (text: string) => Buffer;
  private readonly name: string;

  constructor(
    private readonly env: Env,
    keys: LastingKeys,
  ) {
    this.mac = keys.mac('console');
    this.name = cookieName(keys);
  }

  /** What is stored of a session's id. */
  digest(id: string): Buffer {
    return this.mac(`session:${id}`);
  }

  /** What is stored of a code. */
  digestOfCode(code: string): Buffer {
    return this.mac(`code:${code}`);
  }

  /**
   * The session of a request in place of a credential: below /v1, where the console itself asks, and no header has a credential. Any
   * such header wins, also a wrong one.
   * @returns what is stored of the session; undefined without such a cookie, null for one that no log-in has set.
   */
  counting(req: Request): Buffer | null | undefined {
    const { authorization, cookie } = req.headers;
    if (cookie === undefined || authorization !== undefined || !this.env.servesConsole) return undefined;
    if (!req.path.startsWith('/v1/') || !isOfOwnPage(req)) return undefined;
    return this.valuesOf(req).length === 0 ? undefined : this.given(req);
  }

  /** What is stored of the session that the cookie of a request names, wherever it goes; null when it names none. */
  given(req: Request): Buffer | null {
    const id = this.idOf(req);
    return id === null ? null : this.digest(id);
  }

  /** The id of the session that the cookie of a request names; null when it names none. */
  idOf(req: Request): string | null {
    const [id = '', another] = this.valuesOf(req);
    // Another program of this host may have set the second one, for a path of its own.
    return another === undefined && isToken(id) ? id : null;
  }

  /** @param seconds how long the session lasts. */
  set(req: Request, res: Response, id: string, seconds = SESSION_SECONDS): void {
    this.write(req, res, id, seconds);
  }

  clear(req: Request, res: Response): void {
    this.write(req, res, '', 0);
  }

  /** The values of all cookies of this name. */
  private valuesOf(req: Request): string[] {
    return cookieValues(req, this.nameFor(req));
  }

  private write(req: Request, res: Response, id: string, seconds: number): void {
    writeCookie(res, {
      name: this.nameFor(req),
      value: id,
      seconds,
      sameSite: 'Strict',
      secure: isHttps(req, this.env),
    });
  }

  private nameFor(req: Request): string {
    return prefixedName(req, this.env, this.name);
  }
}
