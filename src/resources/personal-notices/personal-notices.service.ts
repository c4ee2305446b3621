import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Env } from '../../platform/config/env.js';
import { Sealing } from '../../platform/config/sealing.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { addressOf } from '../../platform/egress/addresses.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import type { ChangeNoticesDto, PushSubscriptionDto } from './personal-notices.dto.js';
import {
  DELETE_OLDEST,
  LOCK_MEMBER,
  LOOK_AGAIN,
  READ,
  type SettingsRow,
  SUBSCRIBE,
  TAKE_FROM_OTHERS,
  TEST,
  UNSUBSCRIBE,
  WRITE,
} from './personal-notices.sql.js';
import type { NoticesView, PushState } from './personal-notices.view.js';
import { type Channel, ownerOfNotices } from './notice-settings.entity.js';
import type { Subscription } from './push-subscription.entity.js';
import { VapidKeys } from './vapid-keys.js';

/** Browsers of one member. */
const MOST_BROWSERS = 10;

/** Why there is nothing to test, by the channel. */
const NOTHING: Record<Channel, string> = {
  push: 'channel push has no browser: allow notices in one first (POST /v1/notices/push).',
  hook: 'channel hook has no hookUrl: set one first (PUT /v1/notices).',
  email: 'channel email leads nowhere: this service sends no e-mail, or you have no address.',
};

/** What a member is told outside of the page, and where (reference §21). What sends it stands in src/work/personal-notices. */
@Injectable()
export class PersonalNoticesService {
  private readonly networks: readonly string[];
  private readonly sendsMail: boolean;

  constructor(
    private readonly database: Database,
    private readonly sealing: Sealing,
    private readonly keys: VapidKeys,
    { variables }: Env,
  ) {
    this.networks = variables.WEBHOOK_NETWORKS ?? [];
    this.sendsMail = variables.SMTP_URL !== undefined;
  }

  read(auth: AuthContext): Promise<NoticesView> {
    return this.readBy(this.database.read, auth);
  }

  /** Replaces all of it: what is not given is off. Throws 400 for an address that is not allowed, and for a channel that leads nowhere. */
  async replace(auth: AuthContext, tx: UnitOfWork, given: ChangeNoticesDto): Promise<NoticesView> {
    const { needsYou = [], finished = [], failed = [], quiet = null, detail = false } = given;
    if (quiet !== null && quiet.from === quiet.to) {
      throw new ApiError('invalid_field', 'quiet must end at another time than it begins.', { param: 'quiet' });
    }
    const address = given.hookUrl == null ? null : addressOf('hookUrl', given.hookUrl, this.networks);
    this.checkChannels({ needsYou, finished, failed }, address, auth);
    const hookUrl = address === null ? null : this.seal(auth, address);
    await tx.run(WRITE({ auth, needsYou, finished, failed, hookUrl, quiet, detail }));
    await tx.run(LOOK_AGAIN({ auth }));
    return this.readBy(tx, auth);
  }

  /** Adds a browser, or says that it is still there. At most ten: the one that has said so longest ago goes. */
  async subscribe(auth: AuthContext, tx: UnitOfWork, given: PushSubscriptionDto): Promise<PushState> {
    const endpoint = addressOf('endpoint', given.endpoint, this.networks);
    const { p256dh, auth: secret } = given.keys;
    const subscription: Subscription = { endpoint, keys: { p256dh, auth: secret } };
    const digest = digestOf(endpoint);
    await tx.run(LOCK_MEMBER({ auth }));
    await tx.run(TAKE_FROM_OTHERS({ auth, digest }));
    await tx.run(SUBSCRIBE({ auth, id: newId(), digest, subscription: this.seal(auth, JSON.stringify(subscription)) }));
    await tx.run(DELETE_OLDEST({ auth, most: MOST_BROWSERS }));
    return (await this.readBy(tx, auth)).push;
  }

  /** Throws 404 when the member has no such browser. */
  async unsubscribe(auth: AuthContext, tx: UnitOfWork, endpoint: string): Promise<PushState> {
    const digest = digestOf(URL.canParse(endpoint) ? new URL(endpoint).href : endpoint);
    if ((await tx.run(UNSUBSCRIBE({ auth, digest }))).length === 0) throw notFound('subscription', 'endpoint');
    return (await this.readBy(tx, auth)).push;
  }

  /** Leaves one test for each address of the channel. Resolves with how many; throws 400 when there is none. */
  async test(auth: AuthContext, tx: UnitOfWork, channel: Channel): Promise<number> {
    const reaches = channel !== 'email' || this.emailOf(auth) !== null;
    const made = reaches ? await tx.run(TEST[channel]({ auth, eventId: newId() })) : [];
    if (made.length === 0) throw new ApiError('invalid_field', NOTHING[channel], { param: 'channel' });
    return made.length;
  }

  private checkChannels(lists: Record<string, Channel[]>, hook: string | null, auth: AuthContext): void {
    for (const [param, channels] of Object.entries(lists)) {
      if (channels.includes('hook') && hook === null) {
        throw new ApiError('invalid_field', `${param} names hook, which needs a hookUrl.`, { param });
      }
      if (channels.includes('email') && this.emailOf(auth) === null) {
        const why = 'this service sends none (SMTP_URL), or you have no address';
        throw new ApiError('invalid_field', `${param} names email: ${why}.`, { param });
      }
    }
  }

  private async readBy(database: Sql, auth: AuthContext): Promise<NoticesView> {
    const [row] = await database.run(READ({ auth }));
    if (row === undefined) throw notFound('member');
    const { needsYou, finished, failed, quiet, detail, subscriptions } = row;
    return {
      needsYou: needsYou ?? [],
      finished: finished ?? [],
      failed: failed ?? [],
      hookUrl: this.hookOf(auth, row),
      quiet,
      detail: detail ?? false,
      push: { publicKey: this.keys.publicKey, subscriptions },
      email: this.emailOf(auth),
    };
  }

  private emailOf(auth: AuthContext): string | null {
    return this.sendsMail ? auth.user.email : null;
  }

  private seal({ workspaceId, userId }: AuthContext, secret: string): Buffer {
    return this.sealing.seal(ownerOfNotices(workspaceId, userId), secret);
  }

  /** Null also for one that was sealed under another SECRET_KEY: it has to be set anew. */
  private hookOf({ workspaceId, userId }: AuthContext, { hookUrl }: SettingsRow): string | null {
    try {
      return hookUrl === null ? null : this.sealing.open(ownerOfNotices(workspaceId, userId), hookUrl);
    } catch {
      return null;
    }
  }
}

const digestOf = (endpoint: string): Buffer => createHash('sha256').update(endpoint).digest();
