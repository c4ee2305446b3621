/** One frame of zstd, on a thread of libuv. */
export function compress(bytes: Buffer): Promise<Buffer>;
export function decompress(bytes: Buffer): Promise<Buffer>;
