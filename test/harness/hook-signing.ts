// Deliveries of real shape (test/fixtures/hooks), signed as their providers sign: by the provider's own library where there is one,
// else by its published rule.
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sign as signGithub } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';

const FOLDER = fileURLToPath(new URL('../fixtures/hooks', import.meta.url));

export interface HookFixture {
  slug: string;
  name: string;
  /** Null for a handshake. */
  event: string | null;
  deliveryId: string | null;
  /** All but those of the signature. */
  headers: Record<string, string>;
  body: object;
}

export interface SignedDelivery {
  headers: Record<string, string>;
  body: Buffer;
}

export const HOOK_FIXTURES: readonly HookFixture[] = readdirSync(FOLDER).flatMap((slug) =>
  readdirSync(join(FOLDER, slug)).map((file) => {
    const text = readFileSync(join(FOLDER, slug, file), 'utf8');
    return { slug, name: basename(file, '.json'), ...(JSON.parse(text) as Omit<HookFixture, 'slug' | 'name'>) };
  }),
);

/** One delivery by its folder and file, such as `github`, `push`. */
export function hookFixture(slug: string, name: string): HookFixture {
  const found = HOOK_FIXTURES.find((one) => one.slug === slug && one.name === name);
  if (found === undefined) throw new Error(`There is no test/fixtures/hooks/${slug}/${name}.json.`);
  return found;
}

/** A delivery as its provider sends it at a time. Of GitLab, a secret with `whsec_` is a signing token, else a secret token. */
export async function signHook(fixture: HookFixture, secret: string, at = new Date()): Promise<SignedDelivery> {
  // Linear says in the body when it sent it.
  const value = fixture.slug === 'linear' ? { ...fixture.body, webhookTimestamp: at.getTime() } : fixture.body;
  const body = Buffer.from(JSON.stringify(value));
  return { body, headers: { ...fixture.headers, ...(await signatureOf(fixture, body, secret, at)) } };
}

async function signatureOf(
  fixture: HookFixture,
  body: Buffer,
  secret: string,
  at: Date,
): Promise<Record<string, string>> {
  const hex = () => createHmac('sha256', secret).update(body).digest('hex');
  const seconds = String(Math.floor(at.getTime() / 1000));
  switch (fixture.slug) {
    case 'github':
      return { 'x-hub-signature-256': await signGithub(secret, body.toString()) };
    case 'gitlab':
      return secret.startsWith('whsec_')
        ? standardWebhook(fixture.headers['idempotency-key'] ?? '', body, secret, at)
        : { 'x-gitlab-token': secret };
    case 'jira':
      return { 'x-hub-signature': `sha256=${hex()}` };
    case 'linear':
      return { 'linear-signature': hex() };
    case 'pagerduty':
      return { 'x-pagerduty-signature': `v1=${hex()}` };
    case 'sentry':
      return { 'sentry-hook-signature': hex() };
    case 'slack': {
      const signature = createHmac('sha256', secret).update(`v0:${seconds}:`).update(body).digest('hex');
      return { 'x-slack-request-timestamp': seconds, 'x-slack-signature': `v0=${signature}` };
    }
    case 'webhook':
      return standardWebhook(fixture.headers['webhook-id'] ?? '', body, secret, at);
    default:
      throw new Error(`No rule for signatures of ${fixture.slug} is known.`);
  }
}

function standardWebhook(id: string, body: Buffer, secret: string, at: Date): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}
