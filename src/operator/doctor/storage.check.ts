// The storage that STORAGE names: writes a file, reads it and removes it, through the driver.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { DataDir } from '../../platform/config/data-dir.js';
import { marksOf } from '../../platform/installation/installation.js';
import { LocalStorage } from '../../resources/files/storage/local/local-storage.js';
import { S3Storage } from '../../resources/files/storage/s3/s3-storage.js';
import { type ArrivingBytes, StorageDriver, TRIAL_WORKSPACES } from '../../resources/files/storage/storage-driver.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { notBrought, withPlugins } from './plugins.js';
import { inMs, reasonOf } from './words.js';

const NAME = 'storage';
const BYTES = 64 * 1024;

export const storageCheck: Check = {
  name: NAME,
  async run(at) {
    const { STORAGE } = at.env.variables;
    if (STORAGE === 'local') {
      if (at.dataDir === null) return [warn(NAME, 'There is no DATA_DIR to store in.', 'See the line about the disk.')];
      const local = new LocalStorage(at.dataDir);
      // Made here it would belong to the user of this command, perhaps root, and the service could not write there.
      return existsSync(local.incoming) ? [await tried(local, STORAGE)] : [ok(NAME, 'local: nothing is stored yet.')];
    }
    if (STORAGE === 's3') return [await inBucket(at)];
    return withPlugins(at, StorageDriver, async (found) => {
      const driver = found.get(STORAGE);
      return [driver === undefined ? notBrought(NAME, STORAGE) : await tried(driver, STORAGE)];
    });
  },
};

async function inBucket({ env, dataDir, database }: Examination): Promise<Finding> {
  // What passes through lies on this machine for a moment.
  const s3 = new S3Storage(env, dataDir ?? ({ path: join(tmpdir(), 'millwright-doctor') } as DataDir));
  try {
    await s3.begin(null);
    const marks = await database.then(({ sql }) => marksOf(sql)).catch(() => null);
    const found = await s3.installation();
    if (marks !== null && found !== null && found !== marks.mark && dataDir?.temporary !== true) {
      return fail(
        NAME,
        's3: the bucket is the one of another installation.',
        'Set S3_BUCKET and S3_PREFIX to the place of this one: the service does not start with that. See "Files in S3" in docs/operating.md.',
      );
    }
    return await tried(s3, 's3');
  } catch (error) {
    return fail(NAME, `s3: ${reasonOf(error)}`, 'See "Files in S3" in docs/operating.md.');
  } finally {
    await s3.onApplicationShutdown();
  }
}

async function tried(driver: StorageDriver, name: string): Promise<Finding> {
  // Of its own for each trial: two at once do not remove each other's.
  const workspaceId = TRIAL_WORKSPACES + randomBytes(6).toString('hex');
  const bytes = randomBytes(BYTES);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const began = performance.now();
  try {
    await driver.put(workspaceId, arriving(bytes, sha256));
    const { stream } = await driver.open(workspaceId, sha256);
    if (!bytes.equals(await buffer(stream))) throw new Error('what was read is not what was written');
  } catch (error) {
    return fail(NAME, `${name}: a file cannot be stored: ${reasonOf(error)}`, 'See to the place where it stores: rights, space, mount.');
  } finally {
    await driver.removeAll(workspaceId).catch(() => undefined);
  }
  const gone = await driver.open(workspaceId, sha256).then(
    ({ stream }) => !stream.destroy().destroyed,
    () => true,
  );
  const took = inMs(performance.now() - began);
  if (!gone) return fail(NAME, `${name}: a file that was deleted can still be read.`, 'See to the rights of deletion where it stores.');
  return ok(NAME, `${name}: a file of 64 KiB was written, read and deleted in ${took}.`);
} // prettier-ignore

function arriving(bytes: Buffer, sha256: string): ArrivingBytes {
  return {
    sha256,
    size: bytes.length,
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(bytes);
    },
  };
}
