// The signature scheme of the Standard Webhooks specification, version 1 (https://www.standardwebhooks.com).
import type { HookRequest } from '../integration-provider.js';
import { headerOf, isOfNow, isSigned } from './signatures.js';

const PREFIX = 'whsec_';

/** The secrets of {@link isStandardWebhook}. */
export const SIGNING_SECRET = {
  form: /^(whsec_)?(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  words: 'Base64, with or without whsec_ before it',
};

/** Whether a secret says of itself that it signs by this scheme. */
export function isSigningSecret(secret: string): boolean {
  return secret.startsWith(PREFIX);
}

/**
 * Whether one of the secrets (Base64, with or without `whsec_`) signed `id.timestamp.body`, at most five minutes ago or ahead.
 * `webhook-signature` is a list, separated by spaces, as the sender may exchange secrets too.
 */
export async function isStandardWebhook(request: HookRequest, secrets: readonly string[]): Promise<boolean> {
  const id = headerOf(request.headers, 'webhook-id');
  const timestamp = headerOf(request.headers, 'webhook-timestamp');
  const signatures = headerOf(request.headers, 'webhook-signature');
  if (!id || !timestamp || !signatures || !isOfNow(timestamp, request.receivedAt)) return false;
  const digests = signatures.split(' ').map((one) => (one.startsWith('v1,') ? bytesOf(one.slice(3)) : null));
  const keys = secrets.map((one) => bytesOf(isSigningSecret(one) ? one.slice(PREFIX.length) : one));
  return isSigned(
    keys.filter((key) => key !== null),
    [`${id}.${timestamp}.`, request.body],
    digests,
  );
}

/** Null for what is not Base64 to the last character: Buffer.from leaves out what it cannot read. */
function bytesOf(base64: string): Buffer | null {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(base64) && base64.length % 4 === 0 ? Buffer.from(base64, 'base64') : null;
}
