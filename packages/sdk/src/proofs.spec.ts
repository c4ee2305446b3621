import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConnectionError } from './errors.js';
import { preAuthEncoding, ProofError, verifyProof } from './proofs.js';

interface Golden {
  seed: string;
  patch: string;
  keys: { keys: [Record<'kty' | 'crv' | 'x' | 'kid' | 'use' | 'alg', string>] };
  proof: Envelope;
  otherSpelling: Envelope;
}
interface Envelope {
  payloadType: string;
  payload: string;
  signatures: [{ keyid: string; sig: string }, ...{ keyid: string; sig: string }[]];
}

const GOLDEN = JSON.parse(readFileSync(new URL('../../../test/fixtures/proofs/golden.json', import.meta.url), 'utf8')) as Golden; // prettier-ignore
const { patch, keys, proof, otherSpelling } = GOLDEN;
const KID = keys.keys[0].kid;
const KEY = createPrivateKey({
  key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(GOLDEN.seed, 'hex')]),
  format: 'der',
  type: 'pkcs8',
});

/** A proof by the key of the golden one, of anything. */
function signed(statement: unknown, payloadType = 'application/vnd.in-toto+json', key: KeyObject = KEY): Envelope {
  const body = Buffer.from(typeof statement === 'string' ? statement : JSON.stringify(statement));
  const sig = sign(null, preAuthEncoding(payloadType, body), key).toString('base64');
  return { payloadType, payload: body.toString('base64'), signatures: [{ keyid: KID, sig }] };
}
const statement = () => JSON.parse(Buffer.from(proof.payload, 'base64').toString()) as Record<string, unknown> & { predicate: Record<string, unknown> }; // prettier-ignore
const refusal = (of: object | string, options: Parameters<typeof verifyProof>[1] = { keys }) =>
  verifyProof(of, options).then(
    () => 'verified',
    (error: unknown) => (error instanceof ProofError ? error.message : error),
  );

describe('A proof that another program has made (reference §26)', () => {
  it('verifies, with its patch', async () => {
    const proven = await verifyProof(proof, { patch, keys });
    expect([proven.verified, proven.keyId, proven.patch]).toEqual([true, KID, 'matches']);
    expect(proven.statement).toEqual(statement());
    expect(proven.summary).toBe(
      'PASSED: test (failed before), lint passed. Turn 1 of task 01a2047b-2b2f-71b6-93df-54922585c41e, ended 2026-11-29T23:00:00.000Z, on changes.patch (sha256 45ccd217914f3398…) and git:d20ace7968ba43c0219f62d71334c1095bab1602. The patch that was given is the one that was checked.',
    );
  });

  it('verifies as text, with keys as text and a patch as bytes', async () => {
    const given = { patch: new TextEncoder().encode(patch), keys: JSON.stringify(keys) };
    expect((await verifyProof(JSON.stringify(proof, null, 2), given)).patch).toBe('matches');
  });

  it('verifies in another spelling: Base64 of URLs, fields that are not known, a signature of somebody else', async () => {
    const { statement, patch: compared, summary } = await verifyProof(otherSpelling, { keys });
    expect(statement.predicate.millwright.workspace).toBe('mühle');
    expect(compared).toBe('not given');
    expect(summary).toMatch(/No patch was given, so it is proven of no file of yours\.$/);
  });

  it('is told apart from one with no patch', async () => {
    const { subject, ...rest } = statement() as unknown as { subject: object[] };
    const without = signed({ ...rest, subject: subject.slice(1) });
    expect((await verifyProof(without, { keys })).patch).toBe('none');
    expect(await refusal(without, { keys, patch })).toContain('It is of no patch, and one was given.');
  });

  it('of a failure verifies, and says so', async () => {
    const { predicate, ...rest } = statement();
    const checks = (predicate['millwright'] as { checks: object[] }).checks;
    const failing = { ...(predicate['millwright'] as object), checks: checks.map((one) => ({ ...one, protectedChanged: ['test/a.js'] })) }; // prettier-ignore
    const failed = { ...predicate, result: 'FAILED', passedTests: [], failedTests: ['test', 'lint'], millwright: failing }; // prettier-ignore
    const { summary } = await verifyProof(signed({ ...rest, predicate: failed }), { keys });
    expect(summary).toMatch(/^FAILED: test, lint \(not required\) failed\./);
    expect(summary).toContain('1 protected path was changed, and put back for the checks.');
  });
});

describe('A proof is refused with a sentence', () => {
  const without = (name: string) => Object.fromEntries(Object.entries(proof).filter(([one]) => one !== name));
  const predicate = (given: object) => signed({ ...statement(), predicate: { ...statement().predicate, ...given } });
  const loose = (base64: string) =>
    base64.replace(/(.)==$/, (_all, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}==`);
  const CASES: [string, () => unknown, string][] = [
    ['that is no JSON', () => '{', 'The proof is no JSON.'],
    ['that is a list', () => [], 'The proof is no DSSE envelope.'],
    ['without a payload', () => without('payload'), 'Its payload is no Base64.'],
    ['without a payloadType', () => without('payloadType'), 'has no payloadType.'],
    ['without a signature', () => ({ ...proof, signatures: [] }), 'has no signature.'],
    ['whose signature names no key', () => ({ ...proof, signatures: [{ sig: proof.signatures[0].sig }] }), 'by no key of this set.'],
    ['whose signature names another key', () => ({ ...proof, signatures: [{ ...proof.signatures[0], keyid: 'x' }] }), 'by no key of this set.'],
    ['with the signature of another', () => ({ ...proof, signatures: [otherSpelling.signatures[1]] }), 'Its signature does not hold'],
    ['whose signature ends in bits that mean nothing', () => ({ ...proof, signatures: [{ keyid: KID, sig: loose(proof.signatures[0].sig) }] }), 'A signature of it is no Base64.'],
    ['of another payload', () => ({ ...proof, payload: otherSpelling.payload }), 'Its signature does not hold'],
    ['of another payloadType', () => signed(statement(), 'application/json'), 'Its payloadType is application/json'],
    ['of another _type', () => signed({ ...statement(), _type: 'https://in-toto.io/Statement/v0.1' }), 'Its _type is https://in-toto.io/Statement/v0.1'],
    ['of another predicateType', () => signed({ ...statement(), predicateType: 'https://slsa.dev/provenance/v1' }), 'Its predicateType is https://slsa.dev'],
    ['without a subject', () => signed({ ...statement(), subject: [] }), 'Its statement is none of checks.'],
    ['with another result', () => predicate({ result: 'WARNED' }), 'Its statement is none of checks.'],
    ['without checks', () => predicate({ millwright: {} }), 'Its statement is none of checks.'],
    ['whose payload is no JSON', () => signed('x'), 'Its payload is no JSON.'],
    ['whose payload begins with a mark', () => signed(`\uFEFF${JSON.stringify(statement())}`), 'Its payload is no JSON.'],
  ]; // prettier-ignore
  it('as the cases say that clients in other languages try: test/fixtures/proofs/cases.json', () => {
    const shared = new URL('../../../test/fixtures/proofs/cases.json', import.meta.url);
    const cases = CASES.map(([title, of, refused]) => ({ title, proof: of(), refused }));
    expect(JSON.parse(readFileSync(shared, 'utf8'))).toEqual(JSON.parse(JSON.stringify(cases)));
  });

  it.each(CASES)('%s', async (_what, of, sentence) => {
    expect(await refusal(of() as object)).toContain(sentence);
  });

  it('with a patch that is another', async () => {
    expect(await refusal(proof, { keys, patch: `${patch}\n` })).toMatch(/is not the one that was checked: its SHA-256 is [0-9a-f]{64}, and the proof names 45ccd2/); // prettier-ignore
  });

  it('with keys that are none', async () => {
    const [key] = keys.keys;
    const sentences: [object | string, string][] = [
      ['[', 'The key set is no JSON.'],
      [{}, 'The key set has no keys.'],
      [{ keys: [] }, 'by no key of this set.'],
      [{ keys: [{ ...key, use: 'enc' }] }, 'by no key of this set.'],
      [{ keys: [{ ...key, x: `B${key.x.slice(1)}` }] }, 'A key of the set is not the one that its kid names.'],
    ];
    for (const [set, sentence] of sentences) expect(await refusal(proof, { keys: set })).toContain(sentence);
  });

  it('with a service that has no keys', async () => {
    const answers = (response: Response) => () => Promise.resolve(response);
    const asked = verifyProof(proof, { origin: 'http://a.test/', fetch: answers(new Response('', { status: 502 })) });
    await expect(asked).rejects.toThrow(ConnectionError);
    await expect(asked).rejects.toThrow('http://a.test/.well-known/millwright.jwks.json does not answer with keys: HTTP 502'); // prettier-ignore
    const found = await verifyProof(proof, { origin: 'http://a.test', fetch: answers(Response.json(keys)) });
    expect(found.verified).toBe(true);
  });
});
