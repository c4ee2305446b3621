import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDir } from './data-dir.js';
import { readEnv } from './env.js';
import { keyIdOf, Sealing } from './sealing.js';
import { forgetPreviousSecret, replaceSecret } from './secret-file.js';
import { Secrets } from './secrets.js';

const [FIRST, SECOND, THIRD] = ['first', 'second', 'third'].map((name) => `the ${name} secret, of 32 bytes or more`) as [string, string, string]; // prettier-ignore

function secretsOf(SECRET_KEY: string, SECRET_KEY_PREVIOUS?: string): Secrets {
  return new Secrets(readEnv({ SECRET_KEY, ...(SECRET_KEY_PREVIOUS && { SECRET_KEY_PREVIOUS }) }), {
    path: '',
    temporary: false,
    remove: () => undefined,
  });
}
const sealingOf = (...secrets: [string, string?]) => new Sealing(secretsOf(...secrets));

describe('Sealed bytes (reference §16)', () => {
  it('are read with their secret, for their owner, and in no other way', () => {
    const sealed = sealingOf(FIRST).seal('connection 1', 'the value');
    expect(sealingOf(FIRST).open('connection 1', sealed)).toBe('the value');
    expect(() => sealingOf(FIRST).open('connection 2', sealed)).toThrow();
    expect(() => sealingOf(SECOND).open('connection 1', sealed)).toThrow();
    expect(() => sealingOf(FIRST).open('connection 1', sealed.subarray(0, 20))).toThrow();
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
    expect(() => sealingOf(FIRST).open('connection 1', changed)).toThrow();
  });

  it('name no key while there is one secret: the version before reads them', () => {
    const sealed = sealingOf(FIRST).seal('x', 'the value');
    expect([keyIdOf(sealed), sealed.length]).toEqual([null, 12 + 16 + 'the value'.length]);
  });

  it('name their key while there are two, and both processes read what the other one has sealed', () => {
    const [before, after] = [sealingOf(FIRST, SECOND), sealingOf(SECOND, FIRST)];
    for (const [from, to] of [[before, after], [after, before]] as const) {
      const sealed = from.seal('x', 'the value');
      expect(keyIdOf(sealed)).toBe(from.keyId);
      expect(to.opened('x', sealed)).toEqual({ text: 'the value', keyId: from.keyId });
    }
    expect(before.keyId).toBe(after.previousKeyId);
    expect(before.keyId).toMatch(/^[0-9a-f]{8}$/);
    expect(() => sealingOf(THIRD, FIRST).open('x', after.seal('x', 'the value'))).toThrow();
  }); // prettier-ignore

  it('of before there were ids are read with either secret', () => {
    const sealed = sealingOf(FIRST).seal('x', 'the value');
    expect(sealingOf(SECOND, FIRST).open('x', sealed)).toBe('the value');
    expect(sealingOf(FIRST, SECOND).open('x', sealed)).toBe('the value');
    expect(() => sealingOf(SECOND, THIRD).open('x', sealed)).toThrow();
  });

  it('are read also when a nonce happens to begin as one that names a key', () => {
    const sealing = sealingOf(SECOND, FIRST);
    const nonce = Buffer.concat([sealing.header, randomBytes(4)]);
    const cipher = createCipheriv('aes-256-gcm', secretsOf(FIRST).current.key('encryption'), nonce).setAAD(Buffer.from('x')); // prettier-ignore
    const text = Buffer.concat([cipher.update('the value'), cipher.final()]);
    expect(sealing.open('x', Buffer.concat([nonce, cipher.getAuthTag(), text]))).toBe('the value');
  });
});

describe('A generated secret that is replaced while a process runs (reference §16)', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millwright-secret-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const secrets = () => {
    const env = readEnv({ DATA_DIR: folder });
    return new Secrets(env, new DataDir(env));
  };
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');

  it('seals with the new one at once, and reads what others have sealed with it', () => {
    const [running, another, late] = [secrets(), secrets(), secrets()].map((one) => new Sealing(one)) as [Sealing, Sealing, Sealing]; // prettier-ignore
    const sealed = running.seal('x', 'of before');
    const before = secrets().mark;
    replaceSecret(folder);
    const renewed = new Sealing(secrets());
    expect(secrets().mark).not.toBe(before);
    expect(running.open('x', renewed.seal('x', 'of after'))).toBe('of after');
    expect(keyIdOf(another.seal('x', 'of after'))).toBe(renewed.keyId);
    expect(renewed.open('x', sealed)).toBe('of before');
    // It has read this from its row while the rest was done.
    forgetPreviousSecret(folder);
    expect([late.open('x', renewed.seal('x', 'of after')), late.open('x', sealed)]).toEqual(['of after', 'of before']);
  });

  it('is replaced once, until the one before is forgotten', () => {
    secrets();
    const first = file('secret.key');
    replaceSecret(folder);
    const second = file('secret.key');
    replaceSecret(folder);
    expect([file('secret.key'), file('secret.key.previous')]).toEqual([second, first]);
    forgetPreviousSecret(folder);
    expect(secrets().previous).toBeNull();
    replaceSecret(folder);
    expect(file('secret.key.previous')).toBe(second);
  });

  it('is replaced still where a first attempt was killed after it had kept the one before', () => {
    secrets();
    const first = file('secret.key');
    replaceSecret(folder);
    // As it was between the two files.
    writeFileSync(join(folder, 'secret.key'), first);
    expect(secrets().previous).toBeNull();
    replaceSecret(folder);
    expect([file('secret.key.previous'), file('secret.key') === first]).toEqual([first, false]);
  });
});
