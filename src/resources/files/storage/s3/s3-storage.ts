// Bytes in a bucket of S3, or of another maker's service that speaks as S3 does (docs/operating.md, "Files in S3").
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { OnApplicationShutdown } from '@nestjs/common';
import { DataDir } from '../../../../platform/config/data-dir.js';
import { Env } from '../../../../platform/config/env.js';
import { Plugin } from '../../../../platform/plugins/plugin.js';
import {
  type ArrivingBytes,
  type ByteRange,
  BytesGoneError,
  StorageDriver,
  type StoredBytes,
} from '../storage-driver.js';
import { Bucket, statusOf } from './s3-client.js';
import { Keys } from './s3-keys.js';
import { joinBucket, markIn, markKeyOf, putMark } from './s3-mark.js';
import { reading } from './s3-reading.js';
import { tryBucket } from './s3-trial.js';
import { deleteBelow, deleteUnused } from './s3-unused.js';
import { abortUploads, upload } from './s3-upload.js';
import { clearSpool, spooled } from './spool.js';

/** How old an upload in parts is when its writer is gone beyond doubt. Milliseconds. */
const LEFT_OVER = 24 * 3_600_000;
/** Milliseconds for the answer to readiness, and for how long it holds. */
const [PATIENCE_MS, HOLDS_MS] = [1_500, 5_000];

/** `<prefix>files/<workspace>/<first two digits>/<sha256>`: equal bytes of one workspace are stored once. */
@Plugin(StorageDriver, 's3')
export class S3Storage extends StorageDriver implements OnApplicationShutdown {
  private opened: { bucket: Bucket; keys: Keys } | undefined;
  private readonly spool: string;
  private answered: { at: number; answer: Promise<boolean> } | undefined;

  constructor(
    private readonly env: Env,
    dataDir: DataDir,
  ) {
    super();
    this.spool = join(dataDir.path, 'spool');
  }

  /** Not in the constructor: the class exists in every process, the bucket only where it is used. */
  private get place(): { bucket: Bucket; keys: Keys } {
    if (this.opened === undefined) {
      const bucket = new Bucket(this.env);
      this.opened = { bucket, keys: new Keys(bucket.prefix) };
    }
    return this.opened;
  }

  override async begin(installation: string | null): Promise<void> {
    const { bucket, keys } = this.place;
    await tryBucket(bucket, keys);
    if (installation !== null) await joinBucket(bucket, installation);
    await clearSpool(this.spool);
  }

  /** The mark of the installation that the bucket belongs to; null where it has none. */
  async installation(): Promise<string | null> {
    return markIn(this.place.bucket);
  }

  /** From here on the bucket is the one of this installation, and of no other. */
  async takeFor(installation: string): Promise<void> {
    await putMark(this.place.bucket, installation);
  }

  override get lastingPlace(): string {
    const { bucket, keys } = this.place;
    return `s3://${bucket.name}/${keys.root}`;
  }

  override answers(): Promise<boolean> {
    const now = performance.now();
    if (this.answered === undefined || now - this.answered.at > HOLDS_MS) {
      this.answered = { at: now, answer: this.ask().then(() => true, () => false) }; // prettier-ignore
    }
    return this.answered.answer;
  }

  private async ask(): Promise<void> {
    const { bucket } = this.place;
    const abortSignal = AbortSignal.timeout(PATIENCE_MS);
    // A list of one object at most.
    const Prefix = markKeyOf(bucket);
    await bucket.request(
      (client, { ListObjectsV2Command }) =>
        client.send(new ListObjectsV2Command({ Bucket: bucket.name, Prefix }), { abortSignal }),
      abortSignal,
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.bucket.close();
  }

  async put(workspaceId: string, content: ArrivingBytes): Promise<void> {
    const { bucket, keys } = this.place;
    await spooled(this.spool, content, (parts) =>
      upload(bucket, keys.of({ workspaceId, sha256: content.sha256 }), parts),
    );
  }

  async open(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; stream: Readable }> {
    const found = await this.get(workspaceId, sha256, range);
    const { start, end } = range ?? { start: 0, end: found.size - 1 };
    const wanted = { start, end, sha256: range === undefined ? sha256 : null };
    const stream = reading(found.body, wanted, async (rest) => (await this.get(workspaceId, sha256, rest)).body);
    return { size: end - start + 1, stream };
  }

  override async sizeOf(bytes: StoredBytes): Promise<number | null> {
    const { bucket, keys } = this.place;
    try {
      const { ContentLength = 0 } = await bucket.request((client, { HeadObjectCommand }) =>
        client.send(new HeadObjectCommand({ Bucket: bucket.name, Key: keys.of(bytes) })),
      );
      return ContentLength;
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  private async get(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; body: Readable }> {
    const { bucket, keys } = this.place;
    const at = { Bucket: bucket.name, Key: keys.of({ workspaceId, sha256 }) };
    const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
    try {
      const { Body, ContentLength = 0 } = await bucket.request((client, { GetObjectCommand }) =>
        client.send(new GetObjectCommand({ ...at, ...Range })),
      );
      return { size: ContentLength, body: Body as Readable };
    } catch (error) {
      // Without the right to list, a bucket says 403 of what is not there; the boot has seen that this one may be listed.
      if (statusOf(error) === 404) throw new BytesGoneError(`There are no bytes ${sha256}.`, { cause: error });
      throw error;
    }
  }

  async removeUnused(
    idleMs: number,
    unused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
    signal?: AbortSignal,
  ): Promise<number> {
    const { bucket, keys } = this.place;
    await clearSpool(this.spool);
    const aborted = await abortUploads(bucket, keys.root, LEFT_OVER, signal);
    return aborted + (await deleteUnused(bucket, keys, idleMs, unused, signal));
  }

  async removeAll(workspaceId: string): Promise<void> {
    const { bucket, keys } = this.place;
    await abortUploads(bucket, keys.ofWorkspace(workspaceId), 0);
    await deleteBelow(bucket, keys.ofWorkspace(workspaceId));
  }
}
