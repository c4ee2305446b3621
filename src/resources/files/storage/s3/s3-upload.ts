// Spooled bytes into the bucket: small ones at once, others in parts, of which nothing is left when one fails.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bucket, type S3Failure, statusOf } from './s3-client.js';
import { signOf } from './s3-keys.js';
import type { Part } from './spool.js';

/** Parts of one file that are sent at once. They are streams: a part takes no memory of its size. */
const AT_ONCE = 3;
/** Milliseconds: how often, and for how long, an upload waits for the sign of a removal of the same bytes. The removal gives up before (s3-unused.ts). */
const [LOOK_MS, SIGN_MS] = [200, 60_000];
/** How often bytes that were removed in the same moment are sent. */
const TRIES = 3;

interface At {
  Bucket: string;
  Key: string;
}

/** When it resolves the object is there, whole, and nobody is removing it. When it rejects no part is left. */
export async function upload(bucket: Bucket, key: string, parts: Part[]): Promise<void> {
  const at = { Bucket: bucket.name, Key: key };
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  for (let tries = 1; tries <= TRIES; tries++) {
    const [first, second] = parts;
    if (first !== undefined && second === undefined) await putWhole(bucket, at, first);
    else await putParts(bucket, at, parts);
    if (await isKept(bucket, at, size)) return;
  }
  throw new Error(`The bytes of ${key} were removed ${TRIES} times while they were stored.`);
}

async function putWhole(bucket: Bucket, at: At, { size, sha256, read }: Part): Promise<void> {
  await bucket.request((client, { PutObjectCommand }) =>
    client.send(new PutObjectCommand({ ...at, Body: read(), ContentLength: size, ChecksumSHA256: sha256 })),
  );
}

async function putParts(bucket: Bucket, at: At, parts: Part[]): Promise<void> {
  const { UploadId } = await bucket.request((client, { CreateMultipartUploadCommand }) =>
    client.send(new CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: 'SHA256' })),
  );
  const upload = { ...at, UploadId };
  try {
    const Parts = await sendParts(bucket, upload, parts);
    await complete(bucket, upload, Parts);
  } catch (error) {
    // What cannot be aborted now is found by the sweep.
    await abort(bucket, upload).catch(() => undefined);
    throw error;
  }
}

type Upload = At & { UploadId: string | undefined };
interface Sent {
  PartNumber: number;
  ETag: string | undefined;
  ChecksumSHA256: string;
}

async function sendParts(bucket: Bucket, upload: Upload, parts: Part[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  const failed = new AbortController();
  let next = 0;
  const loop = async () => {
    for (let n = next++; n < parts.length && !failed.signal.aborted; n = next++) {
      const { size, sha256: ChecksumSHA256, read } = parts[n] as Part;
      const PartNumber = n + 1;
      const { ETag } = await bucket.request(
        (client, { UploadPartCommand }) =>
          client.send(
            new UploadPartCommand({ ...upload, PartNumber, Body: read(), ContentLength: size, ChecksumSHA256 }),
            { abortSignal: failed.signal },
          ),
        failed.signal,
      );
      sent[n] = { PartNumber, ETag, ChecksumSHA256 };
    }
  };
  // All have ended before the upload is aborted: a part that arrives after that would stay.
  await Promise.all(Array.from({ length: AT_ONCE }, () => loop().catch((error: unknown) => failed.abort(error))));
  if (failed.signal.aborted) throw failed.signal.reason as Error;
  return sent;
}

async function complete(bucket: Bucket, upload: Upload, Parts: Sent[]): Promise<void> {
  let attempts = 0;
  try {
    await bucket.request((client, { CompleteMultipartUploadCommand }) => {
      attempts += 1;
      return client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    });
  } catch (error) {
    // The answer to an attempt before was lost, and it had worked: whether the object is there is looked at next.
    if (attempts === 1 || (error as S3Failure).name !== 'NoSuchUpload') throw error;
  }
}

async function abort(bucket: Bucket, upload: Upload): Promise<void> {
  await bucket.request((client, { AbortMultipartUploadCommand }) =>
    client.send(new AbortMultipartUploadCommand(upload)),
  );
}

/**
 * Whether the object is there, with nobody removing it. A removal puts a sign beside it first and looks at its time after that
 * (s3-unused.ts). So an object that is there without a sign stays: whoever comes later finds it young.
 */
async function isKept(bucket: Bucket, { Bucket, Key }: At, size: number): Promise<boolean> {
  const began = performance.now();
  for (;;) {
    const { Contents = [] } = await bucket.request((client, { ListObjectsV2Command }) =>
      client.send(new ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: 2 })),
    );
    const found = Contents.find((one) => one.Key === Key);
    if (found !== undefined && found.Size !== size)
      throw new Error(`The object ${Key} has ${found.Size} bytes in place of ${size}.`);
    if (!Contents.some((one) => one.Key === signOf(Key))) return found !== undefined;
    if (performance.now() - began < SIGN_MS) await sleep(LOOK_MS);
    else {
      // Who put it was killed, or its deletion had no answer: it is over.
      await bucket.request((client, { DeleteObjectCommand }) =>
        client.send(new DeleteObjectCommand({ Bucket, Key: signOf(Key) })),
      );
    }
  }
}

/** Aborts uploads in parts that began longer than `ageMs` ago. @returns how many. */
export async function abortUploads(
  bucket: Bucket,
  prefix: string,
  ageMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let aborted = 0;
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  while (signal?.aborted !== true) {
    const page = await bucket
      .request((client, { ListMultipartUploadsCommand }) =>
        client.send(new ListMultipartUploadsCommand({ Bucket: bucket.name, Prefix: prefix, ...from })),
      )
      .catch((error: unknown) => {
        // Some makers abort them by themselves, and list none.
        if (statusOf(error) === 501 || (error as S3Failure).name === 'NotImplemented') return null;
        throw error;
      });
    for (const { Key, UploadId, Initiated } of page?.Uploads ?? []) {
      if (Key === undefined || Initiated === undefined || Date.now() - Initiated.getTime() < ageMs) continue;
      await abort(bucket, { Bucket: bucket.name, Key, UploadId });
      aborted += 1;
    }
    if (page?.IsTruncated !== true) break;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
  return aborted;
}
