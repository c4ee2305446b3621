// Who a provider says that somebody is, and what the rules of `signIn` make of it (reference §31).
import type { SignInConfig, SignInRule } from '../../platform/config/sign-in.js';
import { isName } from '../../platform/text/names.js';
import type { Role } from '../auth/auth-context.js';
import { isAddress } from '../workspaces/address.js';
import { SignInRefused } from './sign-in-refused.js';

/** A person whom a provider has signed in. */
export interface Person {
  issuer: string;
  /** The provider's own name for the person, which it gives to nobody else. */
  subject: string;
  /** Null: it has none, or the provider has not verified it, and so it counts for nothing. */
  email: string | null;
  name: string;
  groups: readonly string[];
}

const LONGEST_NAME = 200;
type Claims = Readonly<Record<string, unknown>>;

/** Of claims of an ID token that was checked, and of the userinfo endpoint. Throws {@link SignInRefused}. */
export function personOf(claims: Claims, { issuer, groupsClaim }: SignInConfig): Person {
  const { sub, email, name, preferred_username: username } = claims;
  // The package takes an empty one (OpenID Connect Core 1.0 §2: at most 255 characters, ASCII).
  if (typeof sub !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(sub)) throw new SignInRefused('invalid');
  // Else somebody of very many groups would lose what they give.
  if (claims[groupsClaim] === undefined && Object.hasOwn(claims['_claim_names'] ?? {}, groupsClaim)) {
    throw new SignInRefused(
      'invalid',
      new Error(
        'The token names no groups, for there are too many: it says where to ask for them, and nobody asks there.',
      ),
    );
  }
  const verified = typeof email === 'string' && isVerified(claims) && isAddress(email) ? email : null;
  const local = verified?.slice(0, verified.lastIndexOf('@')).slice(0, LONGEST_NAME).toWellFormed();
  const names = [name, username, local].map((one) => (typeof one === 'string' ? one.trim() : ''));
  const called = names.find((one) => isName(one) && one.length <= LONGEST_NAME) ?? 'Somebody';
  return { issuer, subject: sub, email: verified, name: called, groups: textsOf(claims[groupsClaim]) };
}

/** Entra has no `email_verified`: it says by `xms_edov` that the owner of the address's domain was verified. */
function isVerified({ email_verified: verified, xms_edov: ofDomain }: Claims): boolean {
  return verified === undefined ? ofDomain === true : verified === true;
}

/** Some providers send a list of one as a text. */
function textsOf(claim: unknown): string[] {
  const all: unknown[] = Array.isArray(claim) ? claim : [claim];
  return all.filter((one) => typeof one === 'string');
}

/** By the slug of the workspace the role that the first rule gives that matches. */
export function rolesOf(
  { email, groups }: Pick<Person, 'email' | 'groups'>,
  rules: readonly SignInRule[],
): Map<string, Role> {
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase();
  const roles = new Map<string, Role>();
  for (const { slug, when, role } of rules) {
    const byGroup = when.groups?.some((group) => groups.includes(group)) === true;
    const byDomain = domain !== undefined && when.emailDomains?.some((one) => one.toLowerCase() === domain) === true;
    if ((byGroup || byDomain) && !roles.has(slug)) roles.set(slug, role);
  }
  return roles;
}

const STRENGTH = ['none', 'viewer', 'member', 'admin', 'owner'] as const;
type Standing = (typeof STRENGTH)[number];

/** The stronger of two. */
export function strongerOf(a: Standing, b: Standing): Standing {
  return STRENGTH.indexOf(a) >= STRENGTH.indexOf(b) ? a : b;
}
