// What lies in a zip that the service has checked (APPNOTE.TXT §4.3).

export interface ZippedFile {
  path: string;
  size: number;
  read: () => Promise<Uint8Array<ArrayBuffer>>;
}

const [END, ENTRY] = [0x06054b50, 0x02014b50];

/** The files by their paths. Throws for what is no zip. */
export function filesIn(zip: Uint8Array<ArrayBuffer>): ZippedFile[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  let end = zip.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== END) end--;
  if (end < 0) throw new Error('This is no zip.');
  const files: ZippedFile[] = [];
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== ENTRY) throw new Error('The zip is damaged.');
    const [method, packed, size] = [view.getUint16(at + 10, true), view.getUint32(at + 20, true), view.getUint32(at + 24, true)]; // prettier-ignore
    const [name, extra, comment] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true)]; // prettier-ignore
    const local = view.getUint32(at + 42, true);
    const path = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
    if (path.endsWith('/') || path.startsWith('__MACOSX/') || path.endsWith('.DS_Store')) continue;
    const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    files.push({ path, size, read: () => inflated(zip.subarray(begin, begin + packed), method) });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function inflated(bytes: Uint8Array<ArrayBuffer>, method: number): Promise<Uint8Array<ArrayBuffer>> {
  if (method === 0) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
