// The text of a key (reference §3): `mw_pk_` or `mw_sk_`, 43 base62 characters of 32 random bytes, 6 of the CRC32 of what precedes.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `pk` personal, `sk` of a service account. */
const MARKS = { person: 'mw_pk_', service: 'mw_sk_' } as const;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^mw_[ps]k_[0-9A-Za-z]{49}$/;
const SCIM_MARK = 'mw_scim_';
const SCIM_FORM = /^mw_scim_[0-9A-Za-z]{49}$/;
const CHECKSUM_LENGTH = 6;
/** What is kept and shown of a key: its kind and six characters, of 43. */
const PREFIX_LENGTH = MARKS.person.length + 6;

/** A new key. */
export function newKey(kind: keyof typeof MARKS = 'person'): string {
  return secretWith(MARKS[kind]);
}

/** What a company's directory sends, in the form of a key: `mw_scim_…`. */
export function newScimToken(): string {
  return secretWith(SCIM_MARK);
}

/** Whether a text can be a key at all: a typing error is told without asking the database. */
export function isKey(text: string): boolean {
  return FORM.test(text) && endsInChecksum(text);
}

/** As {@link isKey}, of {@link newScimToken}. */
export function isScimToken(text: string): boolean {
  return SCIM_FORM.test(text) && endsInChecksum(text);
}

export function prefixOf(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

function secretWith(mark: string): string {
  const text = mark + base62(BigInt(`0x${randomBytes(32).toString('hex')}`), 43);
  return text + checksum(text);
}

function endsInChecksum(text: string): boolean {
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
