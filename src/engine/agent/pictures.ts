// Pictures as models read them: decoded, scaled down and written anew, in threads of libvips (docs/decisions/0054).
import type Sharp from 'sharp';

/** Of the longer side, pixels: models scale down what is larger. */
const SIDE = 1_568;
/** A photograph of 48 megapixels is decoded; what says that it has more is not. */
const MOST_PIXELS = 50_000_000;
const SECONDS = 20;
/** Bytes of a picture that is sent: the least that a provider takes for one picture is 3.75 MB. */
const MOST_BYTES = 3_500_000;
const QUALITY = 85;

/** A file that no model can read. The message is a clause for the model. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError';
}

export interface Picture {
  mediaType: 'image/png' | 'image/jpeg';
  bytes: Buffer;
  width: number;
  height: number;
  /** As it was. */
  from: { width: number; height: number };
}

/** One at a time in a process: a picture takes up to 0.3 GB while it is decoded. */
let last: Promise<unknown> = Promise.resolve();

/**
 * The first picture of a PNG, JPEG, GIF or WebP file, upright, without the file's metadata. The same bytes make the same picture.
 * Rejects with {@link UnreadableFileError}.
 */
export function picture(file: Buffer): Promise<Picture> {
  const made = last.then(() => make(file));
  last = made.catch(() => undefined);
  return made;
}

async function make(file: Buffer): Promise<Picture> {
  const sharp = await loaded();
  try {
    // Reads the head alone.
    const { format, width, height } = await sharp(file, { limitInputPixels: false }).metadata();
    if (width * height > MOST_PIXELS) {
      const most = `at most ${(MOST_PIXELS / 1e6).toFixed(0)} million pixels are decoded`;
      throw new UnreadableFileError(`it has ${width} × ${height} pixels, and ${most}`);
    }
    const upright = sharp(file, { limitInputPixels: MOST_PIXELS, failOn: 'error' })
      .autoOrient()
      .resize({ width: SIDE, height: SIDE, fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: SECONDS });
    const from = { width, height };
    const png = format === 'jpeg' ? null : await upright.clone().png().toBuffer({ resolveWithObject: true });
    if (png !== null && png.data.length <= MOST_BYTES) {
      return { mediaType: 'image/png', bytes: png.data, width: png.info.width, height: png.info.height, from };
    }
    const flat = upright.flatten({ background: '#fff' }).jpeg({ quality: QUALITY });
    const { data, info } = await flat.toBuffer({ resolveWithObject: true });
    return { mediaType: 'image/jpeg', bytes: data, width: info.width, height: info.height, from };
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    throw new UnreadableFileError('it cannot be decoded as a picture', { cause: error });
  }
}

let loading: Promise<typeof Sharp> | undefined;

/** At the first picture: a service without pictures does not pay for it. */
function loaded(): Promise<typeof Sharp> {
  return (loading ??= import('sharp').then(
    ({ default: sharp }) => {
      // Bytes of strangers reach the decoders of four formats and no other.
      const formats = ['Png', 'Jpeg', 'Webp', 'Nsgif'];
      sharp.block({ operation: ['VipsForeignLoad'] });
      sharp.unblock({ operation: formats.map((name) => `VipsForeignLoad${name}`) });
      sharp.cache(false);
      sharp.concurrency(1);
      return sharp;
    },
    (error: unknown) => {
      loading = undefined;
      throw new UnreadableFileError('this service cannot decode pictures', { cause: error });
    },
  ));
}
