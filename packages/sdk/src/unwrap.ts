// Webhooks as their receiver sees them: Standard Webhooks 1.0 (reference §18).

/** What the service posts: ids, status and your own metadata, never content. */
export interface WebhookEvent {
  /** The event's: the same at every attempt. */
  id: string;
  /** Such as `task.completed`. */
  type: string;
  timestamp: string;
  data: { taskId?: string | null; seq?: number | null; [field: string]: unknown };
}

/** The request is not one of the service, or is too old. Answer 400, and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** Of a `Headers` object, or of Node's requests. */
export type ReceivedHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/**
 * Verifies a request and gives its event.
 * @param rawBody as it was received: parsed and written again it has another signature.
 * @param secrets `whsec_…`; several while one is rotated.
 * @param options `toleranceSeconds`: how far the sender's clock may be from this one.
 */
export async function unwrap(
  rawBody: string | Uint8Array,
  headers: ReceivedHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300 }: { toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const given = header(headers, 'webhook-signature').split(' ');
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || age > toleranceSeconds) refuse('Its timestamp is too far from the clock of this machine.');
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const signatures = given.filter((one) => one.startsWith('v1,')).map((one) => bytesOf(one.slice(3)));
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await keyOf(secret);
    // Compared by the runtime, in a time that says nothing.
    for (const signature of signatures) {
      if (signature !== null && (await crypto.subtle.verify('HMAC', key, signature, signed))) return eventOf(body);
    }
  }
  return refuse('No signature of it is by one of these secrets.');
} // prettier-ignore

function eventOf(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
  } catch {
    return refuse('Its body is no JSON.');
  }
}

function keyOf(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes === null || bytes.length === 0) throw new TypeError('A secret of a webhook is `whsec_` and base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

function header(headers: ReceivedHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' && value !== '' ? value : refuse(`It has no header ${name}.`);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function refuse(why: string): never {
  throw new WebhookVerificationError(`This request is not taken for a webhook. ${why}`);
}
