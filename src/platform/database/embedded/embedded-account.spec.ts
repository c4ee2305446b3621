import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseAccount, finish, spawnAs } from './embedded-account.js';

const passwd = (...names: string[]) =>
  [
    'root:x:0:0:root:/root:/bin/sh',
    ...names.map((name, i) => `${name}:x:${101 + i}:${201 + i}::/:/bin/false`),
    '',
  ].join('\n');

describe('the user that the embedded PostgreSQL runs as', () => {
  it('is oneself for an ordinary user', () => {
    expect(databaseAccount('/', passwd('postgres'), 1000)).toBeNull();
  });

  it('is postgres, else nobody, for root', () => {
    expect(databaseAccount('/', passwd('nobody', 'postgres'), 0)).toEqual({ name: 'postgres', uid: 102, gid: 202 });
    expect(databaseAccount('/', passwd('daemon', 'nobody'), 0)).toEqual({ name: 'nobody', uid: 102, gid: 202 });
  });

  it("is for root the owner of an ordinary user's folder, when it is a user of this machine", () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-'));
    const { uid } = statSync(folder);
    const own = `owner:x:${uid || 4321}:4321::/:/bin/sh\n`;
    try {
      if (uid === 0) chownSync(folder, 4321, 4321);
      expect(databaseAccount(folder, passwd('postgres') + own, 0)?.name).toBe('owner');
      expect(databaseAccount(folder, passwd('postgres'), 0)?.name).toBe('postgres');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is never root under another name', () => {
    expect(() => databaseAccount('/', 'postgres:x:0:0::/:/bin/sh\n', 0)).toThrow('cannot run as root');
  });

  it('says what to do when root has neither', () => {
    expect(() => databaseAccount('/', passwd('daemon'), 0)).toThrow(/useradd.*ordinary user.*DATABASE_URL/);
  });

  it('is told nothing of our environment', async () => {
    const child = spawnAs(null, ['/bin/sh', '-c', 'env | cut -d= -f1 | sort >&2'], ['ignore', 'ignore', 'pipe']);
    const { code, said } = await finish(child);
    expect(code).toBe(0);
    expect(said.split('\n').filter((name) => name !== '_')).toEqual(['LC_ALL', 'PATH', 'PWD']);
  });
});
