import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Proven } from '@millwright/sdk';
import type { ProofFacts } from '../../src/resources/proofs/proof-facts.js';
import { Proofs } from '../../src/resources/proofs/proofs.js';
import { bootApp, useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { freePort } from '../harness/ports.js';
import { checkFact, PATCH, proofFacts } from '../harness/proofs.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const PATH = '/.well-known/millwright.jwks.json';

function installed(...programs: string[]): boolean {
  try {
    for (const program of programs) execFileSync(program, [program === 'openssl' ? 'version' : '--version']);
    return true;
  } catch {
    return false;
  }
}

describe('A proof, verified by the command (reference §19, §26)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-proofs-'));
  const service = useService(bootApp);
  let member: Member;
  beforeAll(async () => {
    member = await makeMember(service);
    put('proof.json', JSON.stringify(await prove()));
    put('changes.patch', PATCH);
    put('other.patch', `${PATCH}\n`);
    put('keys.json', JSON.stringify((await new Client(service.url).get(PATH)).body));
    put('no-keys.json', '{"keys":[]}');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const prove = (given: Partial<ProofFacts> = {}) =>
    service.app.get(Proofs, { strict: false }).make(proofFacts({ workspace: member.workspace, ...given }));
  // Without a key: nobody needs an account of the service.
  const verify = async (args: string[], url = 'http://127.0.0.1:1') => {
    const env = { PATH: process.env['PATH'], HOME: folder, MILLWRIGHT_URL: url };
    const command = new Command(spawn(process.execPath, [MW, 'verify', ...args], { cwd: folder, env }));
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const OFFLINE = ['--keys', 'keys.json'];

  it('needs no service with a file of keys, and says in one line what was proven', async () => {
    const { code, out, err } = await verify(['proof.json', '--patch', 'changes.patch', ...OFFLINE]);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^PASSED: test \(failed before\), lint passed\. Turn 1 of task .* The patch that was given is the one that was checked\.\n$/); // prettier-ignore
  });

  it('has its keys from a URL, or from the service that is set', async () => {
    const patch = ['proof.json', '--patch', 'changes.patch'];
    expect((await verify([...patch, '--keys', `${service.url}${PATH}`])).code).toBe(0);
    expect((await verify(patch, service.url)).code).toBe(0);
    const gone = `http://127.0.0.1:${await freePort()}`;
    expect(await verify(patch, gone)).toMatchObject({ code: 5, out: '', err: expect.stringContaining(`${gone}${PATH} does not answer with keys`) }); // prettier-ignore
    expect(await verify([...patch, '--keys', `${gone}/keys`])).toMatchObject({ code: 5, out: '', err: expect.stringContaining(`${gone}/keys does not answer with keys`) }); // prettier-ignore
  });

  it('says where no patch was given that it is proven of no file', async () => {
    const { code, out } = await verify(['proof.json', ...OFFLINE]);
    expect([code, out]).toEqual([0, expect.stringContaining('No patch was given')]);
  });

  it('prints JSON for programs', async () => {
    const { code, out } = await verify(['proof.json', '--patch', 'changes.patch', ...OFFLINE, '--json']);
    const { verified, patch, statement } = JSON.parse(out) as Proven;
    expect([code, verified, patch, statement.predicate.result]).toEqual([0, true, 'matches', 'PASSED']);
  });

  it('ends with 1 where anything does not fit, and says what', async () => {
    const envelope = await prove();
    const at = envelope.payload.length / 2;
    const changed = envelope.payload.slice(0, at) + (envelope.payload[at] === 'A' ? 'B' : 'A') + envelope.payload.slice(at + 1); // prettier-ignore
    put('changed.json', JSON.stringify({ ...envelope, payload: changed }));
    put('none.json', 'PASSED');
    const cases: [string[], string][] = [
      [['proof.json', '--patch', 'other.patch', ...OFFLINE], 'is not the one that was checked'],
      [['changed.json', ...OFFLINE], 'Its signature does not hold'],
      [['none.json', ...OFFLINE], 'The proof is no JSON.'],
      [['proof.json', '--keys', 'no-keys.json'], 'by no key of this set.'],
      [['proof.json', '--keys', 'none.json'], 'The key set is no JSON.'],
    ];
    for (const [args, sentence] of cases) {
      expect(await verify(args)).toEqual({ code: 1, out: '', err: expect.stringContaining(sentence) });
    }
    const { code, out } = await verify(['changed.json', ...OFFLINE, '--json']);
    expect([code, JSON.parse(out)]).toEqual([1, { error: { message: expect.stringContaining('does not hold') } }]);
  });

  it('ends with 1 for a proof of a failure, which verifies all the same', async () => {
    const checks = [checkFact({ status: 'failed', exitCode: 1 })];
    put('failed.json', JSON.stringify(await prove({ checks, result: 'failed' })));
    const { code, out, err } = await verify(['failed.json', '--patch', 'changes.patch', ...OFFLINE]);
    expect([code, out, err]).toEqual([1, expect.stringMatching(/^FAILED: test failed\. /), '']);
  });

  (installed('bash', 'jq', 'openssl') ? it : it.skip)('can be verified by hand, as docs/proofs.md does it', () => {
    const page = readFileSync(new URL('../../docs/proofs.md', import.meta.url), 'utf8');
    const [, block = ''] = /^By hand.*?^```bash\n(.*?)^```/ms.exec(page) ?? [];
    const byHand = (patch: string) => {
      put('millwright.jwks.json', readFileSync(join(folder, 'keys.json'), 'utf8'));
      put('changes.patch', patch);
      const { status, stdout } = spawnSync('bash', ['-e', '-c', block], { cwd: folder, encoding: 'utf8' });
      return { status, said: stdout };
    };
    expect(byHand(PATCH)).toEqual({ status: 0, said: 'Signature Verified Successfully\nchanges.patch: OK\n' });
    expect(byHand(`${PATCH}\n`)).toMatchObject({ status: 1 });
    put('changes.patch', PATCH);
  });

  it('ends with 2 for a line that is wrong', async () => {
    for (const args of [[], ['gone.json'], ['proof.json', '--keys', 'gone.json'], ['proof.json', '--key', 'x']]) {
      expect((await verify(args)).code).toBe(2);
    }
  });
});
