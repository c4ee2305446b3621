// The end of objects: those that nobody needs, and those of a workspace that is gone.
import type { _Object } from '@aws-sdk/client-s3';
import { severally } from '../../../../platform/fairness/severally.js';
import type { StoredBytes } from '../storage-driver.js';
import { type Bucket } from './s3-client.js';
import { type Keys, signOf } from './s3-keys.js';

const BATCH = 500;
/** Objects that are removed at once. */
const AT_ONCE = 8;
/** Milliseconds after its sign in which an object is deleted, or not at all: an upload of the same bytes waits longer (s3-upload.ts). */
const DELETE_WITHIN_MS = 20_000;
/** The age at which a sign is one of a killed process. Milliseconds. */
const SIGN_LEFT_OVER = 3_600_000;

/** Deletes all objects that are idle and that `unused` names. @returns how many. */
export async function deleteUnused(
  bucket: Bucket,
  keys: Keys,
  idleMs: number,
  unused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  let batch: StoredBytes[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const named = await unused(batch);
    await severally(named, AT_ONCE, async (bytes) => {
      if (await deleteIdle(bucket, keys.of(bytes), idleMs)) deleted += 1;
    });
    batch = [];
  };
  for await (const { Key = '', LastModified } of objects(bucket, keys.root)) {
    if (signal?.aborted === true) return deleted;
    const bytes = keys.read(Key);
    if (bytes === undefined) continue;
    const age = Date.now() - (LastModified?.getTime() ?? Date.now());
    if (bytes.isSign && age > SIGN_LEFT_OVER) await remove(bucket, Key);
    if (bytes.isSign || age <= idleMs) continue;
    batch.push({ workspaceId: bytes.workspaceId, sha256: bytes.sha256 });
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return deleted;
}

/**
 * Deletes an object that is still idle. Somebody may store the same bytes in this very moment, and S3 has no deletion on condition of a
 * time. So a sign is put beside it first; who stores looks for it afterwards, waits until it is gone, and stores once more when the
 * object is gone too. The times compared are both of the bucket's clock.
 * When the deletion fails, nobody knows whether the bucket still carries it out. Its sign then stays for longer than that can take:
 * who stores the same bytes waits, looks and ends the sign (s3-upload.ts), or a later sweep does.
 */
async function deleteIdle(bucket: Bucket, key: string, idleMs: number): Promise<boolean> {
  const sign = signOf(key);
  const began = performance.now();
  await bucket.request((client, { PutObjectCommand }) =>
    client.send(new PutObjectCommand({ Bucket: bucket.name, Key: sign, Body: '' })),
  );
  let deletes = false;
  try {
    const found = new Map<string | undefined, number>();
    for await (const { Key, LastModified } of objects(bucket, key)) found.set(Key, LastModified?.getTime() ?? 0);
    const [put, signed] = [found.get(key), found.get(sign)];
    const idle = put !== undefined && signed !== undefined && signed - put > idleMs;
    deletes = idle && performance.now() - began <= DELETE_WITHIN_MS;
  } finally {
    if (!deletes) await remove(bucket, sign);
  }
  if (!deletes) return false;
  await remove(bucket, key, 1);
  await remove(bucket, sign);
  return true;
}

/** Deletes all that lies below a prefix. */
export async function deleteBelow(bucket: Bucket, prefix: string): Promise<void> {
  let keys: string[] = [];
  const flush = async () => {
    await severally(keys, AT_ONCE, (key) => remove(bucket, key));
    keys = [];
  };
  for await (const { Key } of objects(bucket, prefix)) {
    if (Key !== undefined) keys.push(Key);
    if (keys.length === BATCH) await flush();
  }
  await flush();
}

/** One by one: not all makers delete several by one request. */
async function remove(bucket: Bucket, Key: string, attempts?: 1): Promise<void> {
  await bucket.request(
    (client, { DeleteObjectCommand }) => client.send(new DeleteObjectCommand({ Bucket: bucket.name, Key })),
    undefined,
    attempts,
  );
}

async function* objects(bucket: Bucket, Prefix: string): AsyncGenerator<_Object> {
  let ContinuationToken: string | undefined;
  do {
    const page = await bucket.request((client, { ListObjectsV2Command }) =>
      client.send(new ListObjectsV2Command({ Bucket: bucket.name, Prefix, ContinuationToken })),
    );
    yield* page.Contents ?? [];
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
}
