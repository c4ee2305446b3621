// A proof, its patch and the key set, each changed in many ways: none verifies.
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LONG, numbers, SEED } from '../../../test/harness/numbers.js';
import { preAuthEncoding, ProofError, verifyProof } from './proofs.js';

interface Envelope {
  payloadType: string;
  payload: string;
  signatures: { keyid: string; sig: string }[];
}
type Jwk = Record<string, string>;
interface Given {
  proof: string;
  keys: string;
  patch: Buffer;
}

const GOLDEN = JSON.parse(readFileSync(new URL('../../../test/fixtures/proofs/golden.json', import.meta.url), 'utf8')) as { seed: string; patch: string; keys: { keys: [Jwk] }; proof: Envelope }; // prettier-ignore
const PROOF = GOLDEN.proof;
const [JWK] = GOLDEN.keys.keys;
const BODY = Buffer.from(PROOF.payload, 'base64');
const SIGNATURE = Buffer.from(PROOF.signatures[0]?.sig ?? '', 'base64');
const OWN = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(GOLDEN.seed, 'hex')]),
  format: 'der',
  type: 'pkcs8',
});
const OTHER = generateKeyPairSync('ed25519');
const OTHER_X = String(OTHER.publicKey.export({ format: 'jwk' }).x);
const OTHER_KID = createHash('sha256').update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: OTHER_X })).digest('base64url'); // prettier-ignore
const TYPE = PROOF.payloadType;
/** Of the group of Ed25519 (RFC 8032): added to half of a signature it is another one of the same equation. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

const random = numbers(SEED);
const below = (limit: number): number => Math.floor(random() * limit);
const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T;

const withEnvelope = (given: Partial<Envelope>): Partial<Given> => ({ proof: JSON.stringify({ ...PROOF, ...given }) });
const withSignature = (given: { keyid?: string; sig?: string }) => withEnvelope({ signatures: [{ keyid: String(JWK['kid']), sig: String(PROOF.signatures[0]?.sig), ...given }] }); // prettier-ignore
const withBody = (body: Buffer) => withEnvelope({ payload: body.toString('base64') });
const withKey = (given: Jwk): Partial<Given> => ({ keys: JSON.stringify({ keys: [{ ...JWK, ...given }] }) });
const signedBy = (key: KeyObject, bytes: Buffer | Uint8Array): string => sign(null, bytes, key).toString('base64');

function bytesChanged(bytes: Buffer): Buffer {
  const at = below(bytes.length);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  const flipped = Buffer.from(bytes);
  flipped[at] = (bytes[at] ?? 0) ^ (1 << below(8));
  return oneOf([
    flipped,
    Buffer.concat([head, tail.subarray(1)]),
    Buffer.concat([head, Buffer.from([32 + below(95)]), tail]),
    Buffer.concat([head, bytes.subarray(below(at + 1), at), tail]),
    head,
  ]);
}
const textChanged = (text: string): string => bytesChanged(Buffer.from(text)).toString('latin1');

/** Another value in one place of a statement. */
function valueChanged(value: unknown): unknown {
  if (Array.isArray(value)) {
    const at = below(value.length + 1);
    if (at === value.length) return [...(value as unknown[]), value[0] ?? 'x'];
    return random() < 0.2 ? value.toSpliced(at, 1) : value.with(at, valueChanged(value[at]));
  }
  if (typeof value === 'object' && value !== null) {
    const [name, one] = oneOf(Object.entries(value));
    return { ...value, [name]: valueChanged(one) };
  }
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return value === 'FAILED' ? 'PASSED' : `${String(value)}x`;
}

function scalarMoved(): Buffer {
  const [r, s] = [SIGNATURE.subarray(0, 32), Buffer.from(SIGNATURE.subarray(32)).reverse()];
  const moved = (BigInt(`0x${s.toString('hex')}`) + ORDER * BigInt(1 + below(14))).toString(16).padStart(64, '0');
  return Buffer.concat([r, Buffer.from(moved.slice(-64), 'hex').reverse()]);
}

const statement = () => JSON.parse(BODY.toString()) as Record<string, unknown>;
/** By the right key, of something else. */
function signedAs(type: string, body: Buffer): Partial<Given> {
  return withEnvelope({ payloadType: type, payload: body.toString('base64'), signatures: [{ keyid: String(JWK['kid']), sig: signedBy(OWN, preAuthEncoding(type, body)) }] }); // prettier-ignore
}

const KINDS: Record<string, () => Partial<Given>> = {
  'the text of the proof': () => ({ proof: textChanged(JSON.stringify(PROOF)) }),
  'bytes of the payload': () => withBody(bytesChanged(BODY)),
  'a value of the statement': () => withBody(Buffer.from(JSON.stringify(valueChanged(statement())))),
  'the white space of the statement': () => withBody(Buffer.from(JSON.stringify(statement(), null, 1 + below(4)))),
  'bytes of the signature': () => withSignature({ sig: bytesChanged(SIGNATURE).toString('base64') }),
  'the scalar of the signature': () => withSignature({ sig: scalarMoved().toString('base64') }),
  'a signature of zeros': () => withSignature({ sig: Buffer.alloc(oneOf([0, 32, 63, 64, 65])).toString('base64') }),
  'the keyid': () => withSignature({ keyid: oneOf(['', OTHER_KID, textChanged(String(JWK['kid']))]) }),
  'the payloadType': () => withEnvelope({ payloadType: oneOf(['application/json', '', TYPE.toUpperCase(), textChanged(TYPE)]) }), // prettier-ignore
  'what the right key has signed: the payload alone, or other lengths': () =>
    withSignature({ sig: signedBy(OWN, oneOf([BODY, Buffer.from(PROOF.payload), preAuthEncoding('', BODY), Buffer.concat([Buffer.from(`DSSEv1 ${TYPE.length + 1} ${TYPE}  ${BODY.length} `), BODY])])) }), // prettier-ignore
  'what the right key has signed: another type': () => signedAs(oneOf(['text/plain', 'application/json', 'application/vnd.in-toto']), BODY), // prettier-ignore
  'what the right key has signed: no statement of checks': () => {
    const name = oneOf(['_type', 'subject', 'predicateType', 'predicate']);
    return signedAs(TYPE, Buffer.from(JSON.stringify({ ...statement(), [name]: oneOf(['', [], {}, null]) })));
  },
  'who has signed': () => withSignature({ sig: signedBy(OTHER.privateKey, preAuthEncoding(TYPE, BODY)) }),
  'who has signed, under its own name': () => withSignature({ keyid: OTHER_KID, sig: signedBy(OTHER.privateKey, preAuthEncoding(TYPE, BODY)) }), // prettier-ignore
  'the text of the key set': () => ({ keys: textChanged(JSON.stringify(GOLDEN.keys)) }),
  'the key': () => withKey({ x: oneOf([OTHER_X, bytesChanged(Buffer.from(String(JWK['x']), 'base64url')).toString('base64url')]) }), // prettier-ignore
  'the key with its name': () => withKey({ x: OTHER_X, kid: OTHER_KID }),
  'what the key is for': () => withKey(oneOf([{ use: 'enc' }, { alg: 'ES256' }, { crv: 'X25519' }, { kty: 'EC' }, { kid: OTHER_KID }])), // prettier-ignore
  'the key set, which is empty': () => ({ keys: '{"keys":[]}' }),
  'the patch': () => ({ patch: oneOf([bytesChanged(Buffer.from(GOLDEN.patch)), Buffer.from(GOLDEN.patch.replaceAll('\n', '\r\n')), Buffer.from(GOLDEN.patch.trimEnd()), Buffer.alloc(0)]) }), // prettier-ignore
};

const WHOLE: Given = {
  proof: JSON.stringify(PROOF),
  keys: JSON.stringify(GOLDEN.keys),
  patch: Buffer.from(GOLDEN.patch),
};

/** Whether nothing was changed but how it is written, which is no other proof. Read here once more, and more leniently. */
function isTheSame({ proof, keys, patch }: Given): boolean {
  try {
    const { payloadType, payload, signatures } = JSON.parse(proof) as Envelope;
    const sameProof =
      payloadType === TYPE &&
      BODY.equals(Buffer.from(payload, 'base64')) &&
      signatures.some(({ keyid, sig }) => keyid === JWK['kid'] && SIGNATURE.equals(Buffer.from(sig, 'base64')));
    const set = JSON.parse(keys) as { keys: Jwk[] };
    const sameKey = set.keys.some((one) => Object.entries(JWK).every(([name, value]) => one[name] === value));
    return sameProof && sameKey && patch.equals(WHOLE.patch);
  } catch {
    return false;
  }
}

it(`Of many mutations of a proof, its patch and its keys none verifies: seed ${SEED} (reference §26)`, async () => {
  expect((await verifyProof(WHOLE.proof, { keys: WHOLE.keys, patch: WHOLE.patch })).verified).toBe(true);
  expect(isTheSame(WHOLE)).toBe(true);
  const tried = new Map<string, number>();
  const wrong: object[] = [];
  for (let n = 0; n < (LONG ? 100_000 : 1_000);) {
    const [kind, mutate] = oneOf(Object.entries(KINDS));
    const given = { ...WHOLE, ...mutate() };
    if (isTheSame(given)) continue;
    n += 1;
    tried.set(kind, (tried.get(kind) ?? 0) + 1);
    const outcome = await verifyProof(given.proof, { keys: given.keys, patch: given.patch }).catch((error: unknown) => error); // prettier-ignore
    if (!(outcome instanceof ProofError)) wrong.push({ kind, ...given, outcome });
  }
  expect(wrong).toEqual([]);
  expect([...tried.keys()].sort()).toEqual(Object.keys(KINDS).sort());
});
