// Sign-in by the company's own OpenID Connect provider (reference §31): `signIn` of CONFIG_FILE.
import { z } from 'zod';
import { leadsToLoopback } from '../http/network.js';

/** The service's own: a provider that knew one of them could be anybody. */
const NEVER = ['SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'DATABASE_URL', 'REDIS_URL'];
const RULES = 500;
/** Thirty days. */
const MOST_HOURS = 720;

const words = (most: number) => z.string().min(1).max(most);
/** A domain as it stands behind the @ of an address. */
const domain = z.string().regex(/^[^\s@.]+(\.[^\s@.]+)*$/, 'a domain such as acme.example is expected');

const when = z
  .strictObject({
    /** Any of them is enough. */
    groups: z.array(words(200)).min(1).max(200).optional(),
    /** Of a verified address. */
    emailDomains: z.array(domain).min(1).max(200).optional(),
  })
  .refine(
    (given) => (given.groups === undefined) !== (given.emailDomains === undefined),
    'exactly one of groups and emailDomains is expected',
  );

const rule = z.strictObject({
  /** Of the workspace. */
  slug: words(63),
  when,
  role: z.enum(['admin', 'member', 'viewer'], {
    error: 'one of admin, member, viewer is expected: the operator alone makes an owner',
  }),
});

export const signInSchema = z.strictObject({
  issuer: z.string().superRefine((value, context) => {
    const message = wrongIssuer(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  }),
  clientId: words(500),
  clientSecretEnv: words(200).refine((name) => !NEVER.includes(name), 'this variable is not handed to anybody'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'a scope without spaces is expected'))
    .max(50)
    .refine((all) => all.includes('openid'), "'openid' is expected among them")
    .default(['openid', 'email', 'profile']),
  /** The first that matches decides, for each workspace. */
  workspaces: z.array(rule).min(1).max(RULES),
  groupsClaim: words(200).default('groups'),
  keys: z.enum(['allowed', 'operators'], { error: 'one of allowed, operators is expected' }).default('allowed'),
  sessionHours: z.int().min(1).max(MOST_HOURS).default(12),
});

export type SignInConfig = z.output<typeof signInSchema>;
export type SignInRule = SignInConfig['workspaces'][number];

/** Whether nobody on the way can read or change what is sent there: https, or http that stays on this machine. */
export function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' || (url.protocol === 'http:' && leadsToLoopback(url));
}

/** Null: it can be one (OpenID Connect Discovery 1.0 §3). */
function wrongIssuer(value: string): string | null {
  if (!isSafeAddress(value)) return 'a URL that begins with https:// is expected; http:// only of this machine';
  const { username, password, search, hash } = new URL(value);
  if (username !== '' || password !== '') return 'a URL without a user and a password is expected';
  return search === '' && hash === '' ? null : 'a URL without ? and # is expected';
}
