// Proofs: what the checks of a task said, signed by the service (reference §26). Nothing of it needs the service but its keys.
import { bytesOf, type Bytes, sha256, utf8 } from './bytes.js';
import { ConnectionError } from './errors.js';
import { type ProofStatement, statementIn } from './statement.js';
import { summaryOf } from './summary.js';

/** Something does not fit: the proof proves nothing. The message says what. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
}

/** Whose keys are trusted: a set that you have kept, or the service that is asked for its own. */
export type ProofKeys =
  | {
      /** What `/.well-known/millwright.jwks.json` answers, or its text. */
      keys: object | string;
      origin?: never;
    }
  | {
      /** Where the service is, such as `https://millwright.example.com`. */
      origin: string;
      keys?: never;
      fetch?: typeof globalThis.fetch;
    };

export interface Proven {
  verified: true;
  statement: ProofStatement;
  /** The key that has signed it. */
  keyId: string;
  /** Whether the patch that was given is the one that was checked; `not given` says nothing of any patch. */
  patch: 'matches' | 'not given' | 'none';
  /** What was proven, in words. */
  summary: string;
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

/**
 * Verifies a proof and gives what it says. That may be FAILED: look at `statement.predicate.result`.
 * @param proof the envelope, or its text: what is in `proof.json`. @param options `patch`: the bytes of `changes.patch`.
 * Throws {@link ProofError} where anything does not fit, and {@link ConnectionError} where the keys cannot be had.
 *
 * @example
 * ```ts
 * const { statement, summary } = await verifyProof(proof, { patch, origin: 'https://millwright.example.com' });
 * ```
 */
export async function verifyProof(
  proof: object | string,
  options: ProofKeys & { patch?: string | Uint8Array },
): Promise<Proven> {
  const { payloadType, payload, signatures } = envelopeIn(typeof proof === 'string' ? parsed(proof, 'The proof') : proof);
  const keys = await keysIn(options.origin === undefined ? options.keys : await keysOf(options.origin, options.fetch));
  // What is verified are these bytes, and no others are read below.
  const keyId = await signedBy(preAuthEncoding(payloadType, payload), signatures, keys);
  if (payloadType !== PAYLOAD_TYPE) refuse(`Its payloadType is ${payloadType}, and that of a statement is ${PAYLOAD_TYPE}.`);
  const statement = statementIn(parsed(textIn(payload), 'Its payload'), refuse);
  const patch = await compared(statement, options.patch);
  return { verified: true, statement, keyId, patch, summary: summaryOf(statement, patch) };
} // prettier-ignore

/** The Pre-Authentication Encoding of DSSE 1.0.2. */
export function preAuthEncoding(type: string, body: Uint8Array): Bytes {
  const head = utf8(`DSSEv1 ${utf8(type).length} ${type} ${body.length} `);
  const all = new Uint8Array(head.length + body.length);
  all.set(head);
  all.set(body, head.length);
  return all;
}

interface Signature {
  keyid: string;
  sig: Bytes;
}

/** Fields that it does not know are left alone, as DSSE wants it. */
function envelopeIn(value: unknown): { payloadType: string; payload: Bytes; signatures: Signature[] } {
  const { payloadType, payload, signatures } = objectIn(value, 'The proof is no DSSE envelope.');
  if (typeof payloadType !== 'string') return refuse('Its envelope has no payloadType.');
  if (!Array.isArray(signatures) || signatures.length === 0) return refuse('Its envelope has no signature.');
  return {
    payloadType,
    payload: bytesOf(payload) ?? refuse('Its payload is no Base64.'),
    signatures: signatures.map((one: unknown) => {
      const { keyid, sig } = objectIn(one, 'A signature of it is none.');
      return {
        keyid: typeof keyid === 'string' ? keyid : '',
        sig: bytesOf(sig) ?? refuse('A signature of it is no Base64.'),
      };
    }),
  };
}

/** Resolves with the key of a signature that holds. Others are passed over: the service's own always names its key. */
async function signedBy(signed: Bytes, signatures: readonly Signature[], keys: Map<string, Bytes>): Promise<string> {
  for (const { keyid, sig } of signatures) {
    const raw = keys.get(keyid);
    if (raw === undefined) continue;
    const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify']);
    if (await crypto.subtle.verify('Ed25519', key, sig, signed)) return keyid;
  }
  const known = signatures.some(({ keyid }) => keys.has(keyid));
  return refuse(known ? 'Its signature does not hold: it was changed, or signed by somebody else.' : 'It is signed by no key of this set.');
} // prettier-ignore

/** Those of a JWK Set (RFC 7517) that proofs are signed with, by their names. Keys of other kinds are left alone. */
async function keysIn(given: object | string): Promise<Map<string, Bytes>> {
  const { keys } = objectIn(typeof given === 'string' ? parsed(given, 'The key set') : given, 'The key set is none.');
  if (!Array.isArray(keys)) return refuse('The key set has no keys.');
  const found = new Map<string, Bytes>();
  for (const one of keys as unknown[]) {
    const { kty, crv, x, kid, use, alg } = objectIn(one, 'A key of the set is none.');
    if (kty !== 'OKP' || crv !== 'Ed25519' || use !== 'sig' || alg !== 'EdDSA') continue;
    const raw = bytesOf(x);
    if (typeof kid !== 'string' || raw?.length !== 32 || kid !== (await thumbprintOf(String(x)))) {
      refuse('A key of the set is not the one that its kid names.');
    } else found.set(kid, raw);
  }
  return found;
}

/** RFC 7638, with the members that RFC 8037 names. */
async function thumbprintOf(x: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', utf8(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

async function keysOf(origin: string, fetch: typeof globalThis.fetch = globalThis.fetch): Promise<string> {
  const url = `${origin.replace(/\/+$/, '')}/.well-known/millwright.jwks.json`;
  try {
    // A key that has signed just now may be newer than what a cache has.
    const response = await fetch(url, { headers: { 'cache-control': 'no-cache' } });
    if (response.ok) return await response.text();
    throw new Error(`HTTP ${response.status}`);
  } catch (cause) {
    throw new ConnectionError(`${url} does not answer with keys: ${(cause as Error).message}`, { cause });
  }
}

async function compared({ subject }: ProofStatement, patch: string | Uint8Array | undefined): Promise<Proven['patch']> {
  const named = subject.find(({ name }) => name === 'changes.patch')?.digest['sha256'];
  if (patch === undefined) return named === undefined ? 'none' : 'not given';
  if (named === undefined) return refuse('It is of no patch, and one was given.');
  const given = await sha256(typeof patch === 'string' ? utf8(patch) : patch);
  return given === named ? 'matches' : refuse(`The patch that was given is not the one that was checked: its SHA-256 is ${given}, and the proof names ${named}.`);
} // prettier-ignore

function textIn(payload: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
  } catch {
    return refuse('Its payload is no text.');
  }
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(`${what} is no JSON.`);
  }
}

function objectIn(value: unknown, otherwise: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return refuse(otherwise);
}

function refuse(why: string): never {
  throw new ProofError(`This proof proves nothing. ${why}`);
}
