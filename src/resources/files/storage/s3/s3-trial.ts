// The look at the bucket before the service boots: a write, a read and a delete.
import { createHash, randomBytes } from 'node:crypto';
import { ConfigurationError } from '../../../../platform/config/env.js';
import { StorageUnavailableError, TRIAL_WORKSPACES } from '../storage-driver.js';
import { type Bucket, type S3Failure, statusOf, wordsOf } from './s3-client.js';
import type { Keys } from './s3-keys.js';

const TEXT = 'Millwright looks whether it may write, read and delete here.';
const SHA256 = createHash('sha256').update(TEXT).digest('hex');
const RIGHTS =
  's3:PutObject, s3:GetObject, s3:DeleteObject and s3:AbortMultipartUpload on its objects, s3:ListBucket and s3:ListBucketMultipartUploads on itself';

/** Throws {@link ConfigurationError} with what the operator has to do. */
export async function tryBucket(bucket: Bucket, keys: Keys): Promise<void> {
  // What a killed process leaves there is unused, and the sweep removes it.
  const workspaceId = TRIAL_WORKSPACES + randomBytes(6).toString('hex');
  const at = { Bucket: bucket.name, Key: keys.of({ workspaceId, sha256: SHA256 }) };
  let step = 'written to';
  try {
    await bucket.request((client, { PutObjectCommand }) => client.send(new PutObjectCommand({ ...at, Body: TEXT })));
    step = 'read';
    const read = await bucket.request(async (client, { GetObjectCommand }) => {
      const { Body } = await client.send(new GetObjectCommand(at));
      return Body?.transformToString();
    });
    if (read !== TEXT) throw new Error('what was read is not what was written');
    step = 'listed';
    await bucket.request((client, { ListObjectsV2Command }) =>
      client.send(new ListObjectsV2Command({ Bucket: bucket.name, Prefix: at.Key, MaxKeys: 1 })),
    );
    step = 'deleted from';
    await bucket.request((client, { DeleteObjectCommand }) => client.send(new DeleteObjectCommand(at)));
  } catch (error) {
    throw new ConfigurationError(sentence(bucket, step, error), { cause: error });
  }
}

function sentence(bucket: Bucket, step: string, error: unknown): string {
  const { name } = error as S3Failure;
  const status = statusOf(error);
  const said = `(${wordsOf(error)})`;
  if (error instanceof StorageUnavailableError)
    return `S3_ENDPOINT: a storage that answers is expected. ${error.message}`;
  if (name === 'CredentialsProviderError') {
    return `AWS_ACCESS_KEY_ID: credentials for the ${bucket.place} are expected, from the environment, a profile, a web identity or the role of the machine ${said}.`;
  }
  if (name === 'InvalidAccessKeyId' || name === 'SignatureDoesNotMatch' || name === 'ExpiredToken') {
    return `AWS_ACCESS_KEY_ID: credentials that the ${bucket.place} accepts are expected ${said}.`;
  }
  if (name === 'NoSuchBucket' || status === 404)
    return `S3_BUCKET: a bucket that exists is expected; there is no ${bucket.place} ${said}.`;
  if (
    name === 'PermanentRedirect' ||
    name === 'AuthorizationHeaderMalformed' ||
    status === 301 ||
    /region/i.test(wordsOf(error))
  ) {
    return `S3_REGION: the region of the ${bucket.place} is expected ${said}.`;
  }
  if (status === 403)
    return `S3_BUCKET: the ${bucket.place} cannot be ${step}: the credentials need ${RIGHTS} ${said}.`;
  return `S3_BUCKET: the ${bucket.place} cannot be ${step} ${said}.`;
}
