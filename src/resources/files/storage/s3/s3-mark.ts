// The mark of an installation in its bucket, as the file `installation` is in DATA_DIR (docs/decisions/0094).
import { ConfigurationError } from '../../../../platform/config/env.js';
import { type Bucket, statusOf } from './s3-client.js';

export const markKeyOf = ({ prefix }: Bucket): string => `${prefix}installation`;
const at = (bucket: Bucket) => ({ Bucket: bucket.name, Key: markKeyOf(bucket) });

/** What the bucket has as its mark; null where there is none. */
export async function markIn(bucket: Bucket): Promise<string | null> {
  try {
    const text = await bucket.request(async (client, { GetObjectCommand }) => {
      const { Body } = await client.send(new GetObjectCommand(at(bucket)));
      return Body?.transformToString();
    });
    return text?.trim() ?? '';
  } catch (error) {
    if (statusOf(error) === 404) return null;
    throw error;
  }
}

/** In place of the one that is there. */
export async function putMark(bucket: Bucket, mark: string): Promise<void> {
  await bucket.request((client, { PutObjectCommand }) =>
    client.send(new PutObjectCommand({ ...at(bucket), Body: `${mark}\n` })),
  );
}

/** Marks a bucket that has no mark. Rejects with {@link ConfigurationError} when it is the one of another installation. */
export async function joinBucket(bucket: Bucket, mark: string): Promise<void> {
  if ((await markIn(bucket)) === null) await putMark(bucket, mark);
  // Also after the mark was put: another installation may have done the same in this moment.
  if ((await markIn(bucket)) === mark) return;
  throw new ConfigurationError(
    `S3_BUCKET: the bucket of the installation that this database belongs to is expected, and the ${bucket.place}, S3_PREFIX '${bucket.prefix}', is the one of another installation: each would remove the files of the other. Set S3_BUCKET and S3_PREFIX to a place of its own. Where this installation was restored in place of the other one, and that one is stopped for good, 'millwright adopt --force' makes the bucket its own.`,
  );
}
