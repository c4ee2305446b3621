import { createHash, createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { verifyProof } from '@millwright/sdk';
import { Proofs } from '../../src/resources/proofs/proofs.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { PATCH, proofFacts } from '../harness/proofs.js';
import { temporaryFolder } from '../harness/service.js';

const PATH = '/.well-known/millwright.jwks.json';
const FIRST = 'the first secret of the tests, at least 32 bytes';
const SECOND = 'the second secret of the tests, at least 32 bytes';

interface KeySet {
  keys: { kty: string; crv: string; x: string; kid: string; use: string; alg: string }[];
}
type Shown = { generation: number; kid: string };

// In this order: each test goes on where the one before has ended.
describe('Keys that proofs are signed with (reference §26)', () => {
  const room = temporaryFolder();
  const DATA_DIR = join(room.path, 'data');
  let db: TestDatabase;
  let service: TestApp;
  let member: Member;
  const proofs: { envelope: object; keys: KeySet }[] = [];

  const boot = (env: Record<string, string>) => bootApp({ db, env: { DATA_DIR, ...env } });
  const keySet = async () => (await new Client(service.url).get<KeySet>(PATH)).body;
  const make = () => service.app.get(Proofs, { strict: false }).make(proofFacts({ workspace: member.workspace }));
  const operator = (env: Record<string, string>) => new Operator({ db }, { DATA_DIR, ...env });

  beforeAll(async () => {
    db = await createDatabase();
    service = await boot({ SECRET_KEY: FIRST });
    member = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await service.close();
    await db.drop();
    room.remove();
  });

  it('are read without a credential, and may be kept for five minutes', async () => {
    const { status, headers, body } = await new Client(service.url).get<KeySet>(PATH);
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('x-ratelimit-limit')).toBeNull();
    const [key, ...more] = body.keys;
    expect(more).toEqual([]);
    const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: key?.x });
    const kid = createHash('sha256').update(members).digest('base64url');
    expect(key).toEqual({ kty: 'OKP', crv: 'Ed25519', x: expect.stringMatching(/^[\w-]{43}$/), kid, use: 'sig', alg: 'EdDSA' }); // prettier-ignore
    expect((await new Client(service.url, 'no-key-at-all').get(PATH)).body).toEqual(body);
  });

  it('sign the Pre-Authentication Encoding of DSSE, with the seal of the workspace that is current', async () => {
    const hash = 'ab'.repeat(32);
    await db.query(`INSERT INTO audit_chains (workspace_id, seq, hash) VALUES ($1, 7, decode($2, 'hex'))
      ON CONFLICT (workspace_id) DO UPDATE SET seq = 7, hash = excluded.hash`, [member.workspace.id, hash]); // prettier-ignore
    const envelope = await make();
    const [key] = (await keySet()).keys;
    const [signature] = envelope.signatures;
    expect([envelope.payloadType, signature?.keyid]).toEqual(['application/vnd.in-toto+json', key?.kid]);
    const body = Buffer.from(envelope.payload, 'base64');
    const signed = Buffer.concat([Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${body.length} `), body]);
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key?.x ?? '' }, format: 'jwk' });
    expect(verify(null, signed, publicKey, Buffer.from(signature?.sig ?? '', 'base64'))).toBe(true);
    const { predicate } = JSON.parse(body.toString()) as { predicate: { millwright: { audit: object } } };
    expect(predicate.millwright.audit).toEqual({ seq: 7, hash });
    const proven = await verifyProof(envelope, { patch: PATCH, origin: service.url });
    expect(proven.verified).toBe(true);
    proofs.push({ envelope, keys: await keySet() });
  });

  it('are followed by the next one: it signs, the earlier one stays, and the log of the installation says so', async () => {
    const line = operator({ SECRET_KEY: FIRST });
    const [before] = (await keySet()).keys;
    const { rotated } = await line.json<{ rotated: Shown }>('signing-key', 'rotate');
    expect(rotated.generation).toBe(2);
    const { keys } = await line.json<{ keys: Shown[] }>('signing-key', 'list');
    expect(keys.map(({ generation, kid }) => [generation, kid])).toEqual([[2, rotated.kid], [1, before?.kid]]); // prettier-ignore
    expect((await keySet()).keys.map(({ kid }) => kid)).toEqual([rotated.kid, before?.kid]);
    expect(await db.query('SELECT generation FROM signing_keys WHERE seed IS NOT NULL')).toEqual([{ generation: 2 }]);
    expect(
      await db.query(`SELECT workspace_id, actor_id, target_id FROM audit_log WHERE action = 'signing-key.rotate'`),
    ).toEqual([{ workspace_id: '00000000-0000-0000-0000-000000000000', actor_id: null, target_id: rotated.kid }]);
    const envelope = await make();
    expect(envelope.signatures.map(({ keyid }) => keyid)).toEqual([rotated.kid]);
    proofs.push({ envelope, keys: await keySet() });
    expect(await line.run('signing-key', 'rotate')).toMatch(/^Key 3, [\w-]{43}, signs proofs from now on\./);
  });

  it('stay what they are under a new SECRET_KEY: proofs of before verify, and new ones have the same key', async () => {
    const before = await keySet();
    await service.close();
    const both = { SECRET_KEY: SECOND, SECRET_KEY_PREVIOUS: FIRST };
    await operator(both).run('secret-key', 'rotate');
    service = await boot({ SECRET_KEY: SECOND });
    expect(await keySet()).toEqual(before);
    for (const { envelope } of proofs) await verifyProof(envelope, { patch: PATCH, keys: await keySet() });
    const envelope = await make();
    expect(envelope.signatures.map(({ keyid }) => keyid)).toEqual([before.keys[0]?.kid]);
    await verifyProof(envelope, { patch: PATCH, keys: before });
  });

  it('come back with a backup: proofs of before verify there, and the same key signs', async () => {
    const before = await keySet();
    const [backup, there] = [join(room.path, 'backup'), join(room.path, 'there')];
    await operator({ SECRET_KEY: SECOND }).run('backup', backup);
    const copy = await emptyDatabase();
    const env = { DATA_DIR: there, SECRET_KEY: SECOND };
    await new Operator({ db: copy }, env).run('restore', backup);
    const restored = await bootApp({ db: copy, env });
    try {
      const origin = restored.url;
      for (const { envelope } of proofs) await verifyProof(envelope, { patch: PATCH, origin });
      const envelope = await restored.app
        .get(Proofs, { strict: false })
        .make(proofFacts({ workspace: member.workspace }));
      expect((await verifyProof(envelope, { patch: PATCH, keys: before })).keyId).toBe(before.keys[0]?.kid);
    } finally {
      await restored.close();
      await copy.drop();
    }
  });

  it('have a next one that whoever has read the former SECRET_KEY does not know', async () => {
    await operator({ SECRET_KEY: SECOND }).run('signing-key', 'rotate');
    const [newest] = (await keySet()).keys;
    // The same generation under the former secret.
    const other = await createDatabase();
    const former = await bootApp({ db: other, env: { SECRET_KEY: FIRST } });
    try {
      for (let n = 2; n <= 4; n += 1) await new Operator({ db: other }, { SECRET_KEY: FIRST }).run('signing-key', 'rotate'); // prettier-ignore
      const [known] = (await new Client(former.url).get<KeySet>(PATH)).body.keys;
      expect(known?.x).toMatch(/./);
      expect(known?.x).not.toBe(newest?.x);
    } finally {
      await former.close();
      await other.drop();
    }
  });

  it('stay in public where the private half was lost with its secret, and the next proof says what to do', async () => {
    const before = await keySet();
    await db.query(`UPDATE signing_keys SET seed = '\\x00'`);
    await expect(make()).rejects.toThrow(`'signing-key rotate' begins the next one`);
    expect(await keySet()).toEqual(before);
    for (const { envelope } of proofs) await verifyProof(envelope, { keys: await keySet() });
    await operator({ SECRET_KEY: SECOND }).run('signing-key', 'rotate');
    await verifyProof(await make(), { patch: PATCH, origin: service.url });
  });

  it('have a next one where the secret was lost for good, and the public halves of before', async () => {
    const before = await keySet();
    await service.close();
    const lost = { SECRET_KEY: 'a third secret of the tests, at least 32 bytes' };
    await operator(lost).run('adopt', '--secret');
    service = await boot(lost);
    const { keys } = await keySet();
    expect(keys.slice(1)).toEqual(before.keys);
    const { keyId } = await verifyProof(await make(), { patch: PATCH, origin: service.url });
    expect(keyId).toBe(keys[0]?.kid);
    for (const { envelope } of proofs) await verifyProof(envelope, { patch: PATCH, origin: service.url });
  });
});
