// The data folder and the free space of the file systems that the service writes to.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { type Check, fail, ok, warn } from './check.js';
import { reasonOf } from './words.js';

/** Below so many times the reserve the disk is about to be full. */
const NEAR = 2;

export const diskCheck: Check = {
  name: 'disk',
  async run({ dataDir, env }) {
    if (dataDir === null) {
      return [warn('disk', 'DATA_DIR does not exist.', 'Set DATA_DIR to the folder of the service, or start the service, which makes it.')];
    }
    try {
      await access(dataDir.path, constants.W_OK);
    } catch (error) {
      return [fail('disk', `DATA_DIR cannot be written to: ${reasonOf(error)}`, 'Give it to the user that runs the service, and mount it writable.')];
    }
    const space = new DiskSpace(env, dataDir);
    await space.measure();
    const { free, reserve } = space.scarcest;
    const detail = `${mib(free)} are free where there is the least; the reserve is ${mib(reserve)}.`;
    if (space.state !== 'enough') {
      return [fail('disk', `The disk is full. ${detail}`, 'Make space: below the reserve new data is 503 storage_full and queued runs wait.')];
    }
    if (reserve === 0) return [warn('disk', detail, 'Set DISK_RESERVE_BYTES: without a reserve a full disk stops the embedded database.')];
    if (free < reserve * NEAR) return [warn('disk', detail, 'Make space soon: at the reserve new data is refused.')];
    return [ok('disk', detail)];
  },
}; // prettier-ignore

function mib(bytes: number): string {
  return bytes < 2 ** 30 ? `${Math.round(bytes / 2 ** 20)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
