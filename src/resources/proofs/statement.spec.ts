import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkFact, COMMIT, PATCH, proofFacts, sha256 } from '../../../test/harness/proofs.js';
import { envelopeOf, preAuthEncoding } from './envelope.js';
import type { ProofFacts } from './proof-facts.js';
import { signerOf, thumbprintOf } from './signing-keys.js';
import { statementOf } from './statement.js';
import { workdirDigest } from '../../engine/checks/workdir-digest.js';

const GOLDEN = JSON.parse(readFileSync(new URL('../../../test/fixtures/proofs/golden.json', import.meta.url), 'utf8')) as { seed: string; keys: { keys: [{ x: string; kid: string }] }; proof: object }; // prettier-ignore
const AUDIT = { seq: 7, hash: 'ab'.repeat(32) };
const of = (given: Partial<ProofFacts> = {}) => statementOf(proofFacts(given), '0.1.0', AUDIT);

describe('The envelope of a proof (reference §26)', () => {
  it('signs as the example in the specification of DSSE does', () => {
    const signed = preAuthEncoding('http://example.com/HelloWorld', Buffer.from('hello world'));
    expect(signed.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
    const decimal = (text: string) => Buffer.from(BigInt(text).toString(16).padStart(64, '0'), 'hex').toString('base64url'); // prettier-ignore
    const key = createPublicKey({
      format: 'jwk',
      key: {
        kty: 'EC',
        crv: 'P-256',
        x: decimal('46950820868899156662930047687818585632848591499744589407958293238635476079160'),
        y: decimal('5640078356564379163099075877009565129882514886557779369047442380624545832820'),
      },
    });
    const sig = 'A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==';
    expect(verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(sig, 'base64'))).toBe(true);
  });

  it('counts bytes, not characters', () => {
    expect(preAuthEncoding('ü', Buffer.from('é€')).toString()).toBe('DSSEv1 2 ü 5 é€');
  });

  it('is, of the same facts and key, that of the reference implementation of DSSE', () => {
    const [{ x, kid }] = GOLDEN.keys.keys;
    expect(thumbprintOf(x)).toBe(kid);
    expect(envelopeOf(of(), signerOf(x, Buffer.from(GOLDEN.seed, 'hex')))).toEqual(GOLDEN.proof);
  });

  it('names a key as RFC 8037 does in its example', () => {
    expect(thumbprintOf('11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo')).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'); // prettier-ignore
  });
});

describe('The statement of a proof (reference §26)', () => {
  it('is one of in-toto, of the patch and the commit that it belongs to', () => {
    const { _type, subject, predicateType } = of();
    expect(_type).toBe('https://in-toto.io/Statement/v1');
    expect(predicateType).toBe('https://in-toto.io/attestation/test-result/v0.1');
    expect(subject).toEqual([
      { name: 'changes.patch', digest: { sha256: createHash('sha256').update(PATCH).digest('hex') } },
      { name: `git:${COMMIT}`, digest: { gitCommit: COMMIT } },
    ]);
    expect(of({ patchSha256: null }).subject.map(({ name }) => name)).toEqual([`git:${COMMIT}`]);
  });

  it('is of the workdir where there is no repository', () => {
    const workdirSha256 = workdirDigest([]);
    const { subject, predicate } = of({ repository: null, patchSha256: null, workdirSha256 });
    expect(subject).toEqual([{ name: 'workdir', digest: { sha256: workdirSha256 } }]);
    expect(predicate.configuration.map(({ name }) => name)).not.toContain('repository');
  });

  it('says with what the checks ran', () => {
    const { configuration } = of({
      model: 'acme/large 2',
      environment: null,
      agent: { slug: 'reviewer', version: 3 },
    }).predicate;
    expect(configuration).toEqual([
      { name: 'check/test', digest: { sha256: sha256('npm test') }, content: Buffer.from('npm test').toString('base64'), mediaType: 'text/x-shellscript', annotations: { required: true, protect: ['test/**', 'package.json'], network: false } },
      { name: 'check/lint', digest: { sha256: sha256('npm run lint') }, content: Buffer.from('npm run lint').toString('base64'), mediaType: 'text/x-shellscript', annotations: { required: false, protect: [], network: false } },
      { name: 'repository', uri: `git+https://github.com/acme/sum.git@${COMMIT}`, digest: { gitCommit: COMMIT } },
      { name: 'instructions', uri: 'millwright:agent/reviewer@3' },
      { name: 'agent', uri: 'pkg:generic/millwright@0.1.0' },
      { name: 'model', uri: 'millwright:model/acme%2Flarge%202' },
    ]); // prettier-ignore
  });

  it('counts the last round of each check after the turn, and shows all rounds', () => {
    const checks = [
      checkFact({ phase: 'before', status: 'passed' }),
      checkFact({ status: 'failed', exitCode: 1, protectedChanged: ['test/sum.test.js'] }),
      checkFact({ name: 'lint', required: false, status: 'timed_out', exitCode: null }),
      checkFact({ round: 1 }),
      checkFact({ name: 'lint', required: false, round: 1, status: 'failed', exitCode: 1 }),
    ];
    const { result, passedTests, failedTests, millwright } = of({ checks }).predicate;
    expect([result, passedTests, failedTests]).toEqual(['PASSED', ['test'], ['lint']]);
    expect(millwright.checks.map(({ name, phase, round, status }) => [name, phase, round, status])).toEqual([
      ['test', 'before', 0, 'passed'],
      ['test', 'after', 0, 'failed'],
      ['lint', 'after', 0, 'timed_out'],
      ['test', 'after', 1, 'passed'],
      ['lint', 'after', 1, 'failed'],
    ]);
    expect(millwright.checks[1]).toMatchObject({ exitCode: 1, durationMs: 1234, outputSha256: sha256('ok\n'), protectedChanged: ['test/sum.test.js'] }); // prettier-ignore
    expect(millwright.audit).toEqual(AUDIT);
  });

  it('shows no run of another command under the name of a check that counts', () => {
    const checks = [checkFact({ command: 'npm run old', status: 'failed', exitCode: 1 }), checkFact()];
    expect(of({ checks }).predicate.millwright.checks.map(({ status }) => status)).toEqual(['passed']);
  });

  it('counts no check that was taken away during the turn, and shows its runs', () => {
    const checks = [checkFact({ name: 'lint', status: 'failed', exitCode: 1 }), checkFact({ round: 1 })];
    const { result, passedTests, failedTests, millwright } = of({ checks, names: ['test'] }).predicate;
    expect([result, passedTests, failedTests]).toEqual(['PASSED', ['test'], []]);
    expect(millwright.checks.map(({ name }) => name)).toEqual(['lint', 'test']);
    expect(() => of({ checks })).toThrow('the result is passed, and that of the required checks is another');
  });

  it.each(['failed', 'timed_out', 'error'] as const)('is never PASSED while a required check is %s', (status) => {
    const checks = [checkFact({ status, exitCode: null })];
    expect(() => of({ checks, result: 'passed' })).toThrow('the result is passed, and that of the required checks is another'); // prettier-ignore
    expect(of({ checks, result: 'failed' }).predicate.result).toBe('FAILED');
  });

  const CONTRADICTIONS: [string, Partial<ProofFacts>][] = [
    ['there is a repository or a workdir', { workdirSha256: sha256('') }],
    ['there is a repository or a workdir', { repository: null, patchSha256: null }],
    ['a patch is one of a repository', { repository: null, workdirSha256: sha256('') }],
    ['a commit is named in full', { repository: { url: 'https://github.com/acme/sum.git', commit: 'd20ace7' } }],
    ['a digest has 64 hexadecimal digits', { patchSha256: 'AB'.repeat(32) }],
    ['a check has run after the turn', { checks: [checkFact({ phase: 'before' })] }],
    ['the result is failed', { result: 'failed' }],
  ];
  it.each(CONTRADICTIONS)('is made of no facts that contradict each other: %s', (sentence, given) => {
    expect(() => of(given)).toThrow(sentence);
  });
});

it('The digest of a workdir is one of its sorted listing, whatever the order it was read in (reference §26)', () => {
  const entries = [
    { mode: '100755', path: 'b/run.sh', sha256: sha256('b') },
    { mode: '100644', path: 'a', sha256: sha256('a') },
    { mode: '120000', path: Buffer.from('ü').toString('latin1'), sha256: sha256('a') },
  ];
  const listing = `100644 ${sha256('a')} a\0` + `100755 ${sha256('b')} b/run.sh\0` + `120000 ${sha256('a')} ü\0`;
  expect(workdirDigest(entries)).toBe(sha256(listing));
  expect(workdirDigest(entries.toReversed())).toBe(sha256(listing));
});
