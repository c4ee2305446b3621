import { Injectable } from '@nestjs/common';
import { WebhookEgress } from '../deliveries/webhook-egress.js';
import { type Content, slackText } from './content.js';
import { post } from './post.js';
import type { Sent } from './sent.js';

/** Sends a notice as JSON to an address of the person's, such as an incoming webhook of Slack, which shows `text`. */
@Injectable()
export class HookChannel {
  constructor(private readonly egress: WebhookEgress) {}

  /** Never rejects. */
  send(address: string, content: Content): Promise<Sent> {
    const { kind, taskId, title, link } = content;
    const body = JSON.stringify({ kind, taskId, title, link, text: slackText(content) });
    return post(this.egress, { url: new URL(address), headers: { 'content-type': 'application/json' }, body });
  }
}
