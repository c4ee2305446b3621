import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import type { Subscription } from '../../resources/personal-notices/push-subscription.entity.js';
import { VapidKeys } from '../../resources/personal-notices/vapid-keys.js';
import { WebhookEgress } from '../deliveries/webhook-egress.js';
import { type Content, plainText } from './content.js';
import { post } from './post.js';
import { notSent, type Sent } from './sent.js';

/** How long a push service keeps a notice for a browser that is not there. Seconds: a day. */
const KEPT_SECONDS = 86_400;

/** Sends a notice to a browser (Web Push, RFC 8030), encrypted for it alone (RFC 8291). */
@Injectable()
export class PushChannel {
  private readonly subject: string;

  constructor(
    private readonly egress: WebhookEgress,
    private readonly keys: VapidKeys,
    { variables }: Env,
  ) {
    this.subject = subjectOf(variables.PUBLIC_URL, variables.SMTP_FROM);
  }

  /** Never rejects. */
  async send(subscription: Subscription, content: Content): Promise<Sent> {
    const { kind, taskId, title, link } = content;
    const payload = JSON.stringify({ kind, taskId, title, link, text: plainText(content) });
    try {
      // Only where somebody takes notices in a browser.
      const { default: webPush } = await import('web-push');
      const details = webPush.generateRequestDetails(subscription, payload, {
        vapidDetails: { subject: this.subject, publicKey: this.keys.publicKey, privateKey: this.keys.privateKey },
        TTL: KEPT_SECONDS,
        urgency: kind === 'needs_you' ? 'high' : 'normal',
        contentEncoding: 'aes128gcm',
      });
      const headers = details.headers as Record<string, string | number>;
      return await post(this.egress, { url: new URL(details.endpoint), headers, body: details.body ?? '' });
    } catch {
      return notSent('failed', 'the subscription cannot be used');
    }
  }
}

/** Whom a push service may write to when something is wrong with what this installation sends. */
function subjectOf(publicUrl: string | undefined, from: string | undefined): string {
  if (publicUrl?.startsWith('https://') === true) return publicUrl;
  return `mailto:${from ?? 'nobody@millwright.invalid'}`;
}
