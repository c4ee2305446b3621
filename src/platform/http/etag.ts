// Validators of answers (RFC 9110 §8.8.3, §13.1.2).
import { hash } from 'node:crypto';

/** The weak tag of an answer, its JSON: the same for the same answer, whatever brought it about. */
export function weakTag(json: string): string {
  return `W/"${hash('sha256', json, 'base64url').slice(0, 22)}"`;
}

/** Whether a client has what the tag stands for, by the weak comparison that `If-None-Match` asks for. */
export function has(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = (one: string) => one.trim().replace(/^W\//, '');
  const given = (ifNoneMatch ?? '').split(',').map(opaque);
  return given.includes(opaque(tag)) || given.includes('*');
}

/** Whether a tag is among those of `If-Match`, by the strong comparison that it asks for (RFC 9110 §13.1.1). */
export function matches(ifMatch: string, tag: string): boolean {
  const given = ifMatch.split(',').map((one) => one.trim());
  return given.includes('*') || (!tag.startsWith('W/') && given.includes(tag));
}
