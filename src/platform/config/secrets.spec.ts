import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, type Env, readEnv } from './env.js';
import { DataDir } from './data-dir.js';
import { SECRET_FILE } from './secret-file.js';
import { Secrets } from './secrets.js';

describe('The generated secret (reference §16)', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millwright-secret-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const secrets = (given: Record<string, string> = {}) => {
    const env: Env = readEnv({ DATA_DIR: folder, ...given });
    return new Secrets(env, new DataDir(env));
  };
  /** What tells that the database was made. */
  const makeDatabase = () => {
    mkdirSync(join(folder, 'postgres', 'data'), { recursive: true });
    writeFileSync(join(folder, 'postgres', 'data', 'PG_VERSION'), '18\n');
  };

  it('is made once, and found again', () => {
    const { mark } = secrets();
    makeDatabase();
    expect(secrets().mark).toBe(mark);
    expect(readFileSync(join(folder, SECRET_FILE), 'utf8')).toMatch(/^[\w-]{64}$/);
  });

  it('is not made anew for a database that has lost its own: nothing would know the keys in it', () => {
    makeDatabase();
    expect(() => secrets()).toThrow(ConfigurationError);
    expect(() => secrets()).toThrow(/^SECRET_KEY: .*secret\.key is gone: bring it back, or set SECRET_KEY/);
    expect(existsSync(join(folder, SECRET_FILE))).toBe(false);
    expect(secrets({ SECRET_KEY: 'x'.repeat(32) }).mark).toMatch(/^[0-9a-f]{64}$/);
  });
});
