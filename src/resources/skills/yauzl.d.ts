// What is used of yauzl, which brings no types.
declare module 'yauzl' {
  import type { Readable } from 'node:stream';

  interface Entry {
    fileName: string;
    compressionMethod: number;
    uncompressedSize: number;
    externalFileAttributes: number;
    isEncrypted(): boolean;
  }
  interface ZipFile {
    entryCount: number;
    eachEntry(): AsyncIterable<Entry>;
    openReadStreamPromise(entry: Entry): Promise<Readable>;
  }
  interface Options {
    lazyEntries: true;
    strictFileNames: boolean;
  }
  const yauzl: { fromBufferPromise(bytes: Buffer, options: Options): Promise<ZipFile> };
  export default yauzl;
  export type { Entry, ZipFile };
}
