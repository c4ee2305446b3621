// A storage of snapshots in memory, for tests of folders alone.
import { createHash } from 'node:crypto';
import type { SnapshotObjects } from '../../src/engine/snapshots/snapshots.js';

type Blob = [string, number, number, number, number];

/** The storage of one workspace. */
export class MemoryObjects implements SnapshotObjects {
  readonly objects = new Map<string, Buffer>();
  private readonly blobs = new Map<string, unknown[]>();

  known(digests: string): Promise<string> {
    const asked = JSON.parse(digests) as string[];
    return Promise.resolve(JSON.stringify(asked.flatMap((sha) => (this.blobs.has(sha) ? [this.blobs.get(sha)] : []))));
  }

  put(bytes: Buffer, blobs: string | null): Promise<string> {
    const object = createHash('sha256').update(bytes).digest('hex');
    this.objects.set(object, Buffer.from(bytes));
    for (const [sha, ...place] of JSON.parse(blobs ?? '[]') as Blob[]) this.blobs.set(sha, [sha, object, ...place]);
    return Promise.resolve(object);
  }

  open(sha256: string): Promise<Buffer> {
    const found = this.objects.get(sha256);
    return found === undefined ? Promise.reject(new Error(`There is no object ${sha256}.`)) : Promise.resolve(found);
  }

  get bytes(): number {
    return [...this.objects.values()].reduce((sum, { length }) => sum + length, 0);
  }
}
