import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { Egress } from '../../platform/egress/egress.js';
import { byNameServers } from '../../platform/egress/name-servers.js';

/** How long a look-up may take, in milliseconds. */
const LOOKUP_MS = 5_000;

/** The way to addresses that workspaces name as webhooks (reference §18). Look-ups go side by side: one that hangs delays no other. */
@Injectable()
export class WebhookEgress extends Egress {
  constructor({ variables }: Env) {
    super(variables.WEBHOOK_NETWORKS ?? [], byNameServers, LOOKUP_MS, false);
  }
}
