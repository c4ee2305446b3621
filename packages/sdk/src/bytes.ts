// Bytes and texts, with what browsers and Node both have.

export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

/** Of Base64 in the standard alphabet or that of URLs (RFC 4648), but only as it is written of them: null for anything else. */
export function bytesOf(base64: unknown): Bytes | null {
  if (typeof base64 !== 'string' || !/^([A-Za-z0-9+/]*|[\w-]*)={0,2}$/.test(base64)) return null;
  const standard = base64.replaceAll('-', '+').replaceAll('_', '/');
  try {
    const binary = atob(standard);
    // Its last character may have bits that mean nothing.
    if (btoa(binary).replace(/=+$/, '') !== standard.replace(/=+$/, '')) return null;
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** In hexadecimal. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
