import { readdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { environmentsCheck } from '../../src/operator/doctor/environments.check.js';
import { findings } from '../harness/doctor.js';
import { temporaryFolder } from '../harness/service.js';

describe('What doctor says of builds (reference §25)', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('is how tasks get their folders on this file system, and it leaves nothing behind', async () => {
    const shares = () => {
      const file = join(folder.path, 'tried');
      try {
        execFileSync('bash', ['-c', 'echo x >"$0" && cp --reflink=always "$0" "$0.copy"', file], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      } finally {
        execFileSync('rm', ['-f', file, `${file}.copy`]);
      }
    };
    const expected = shares() ? 'reflinks' : 'shares no blocks';
    const found = await findings([environmentsCheck], { env: { DATA_DIR: folder.path } });
    expect(found).toMatchObject([{ name: 'environments', status: 'ok', detail: expect.stringContaining(expected) }]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is nothing where no task runs', async () => {
    expect(await findings([environmentsCheck], { env: { DATA_DIR: folder.path, ROLE: 'api' } })).toEqual([]);
  });
});
