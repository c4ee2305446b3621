import { createHmac } from 'node:crypto';

interface Signed {
  id: string;
  /** Seconds since 1970: of the attempt. */
  timestamp: number;
  body: string;
}

/** The headers of Standard Webhooks 1.0: one signature for each secret, `whsec_` and base64. */
export function signedHeaders(secrets: readonly string[], { id, timestamp, body }: Signed): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}
