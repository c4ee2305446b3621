import type { IncomingHttpHeaders } from 'node:http';
import { Plugin } from '../../../platform/plugins/plugin.js';
import {
  type HookRequest,
  type IntegrationDescription,
  IntegrationProvider,
  type Parsed,
} from '../integration-provider.js';
import { eventList, eventOf, handshake, textAt } from './payload.js';
import { headerOf, hexDigest, isOfNow, isSigned, signed } from './signatures.js';

/** How Slack calls the messages of a type of channel in its list of events. */
const MESSAGES: Record<string, string> = {
  channel: 'channels',
  group: 'groups',
  im: 'im',
  mpim: 'mpim',
  app_home: 'app_home',
};

const DESCRIPTION: IntegrationDescription = {
  slug: 'slack',
  name: 'Slack',
  description: 'Mentions, messages, reactions and channels of a Slack workspace.',
  category: 'messaging',
  triggerEvents: eventList({
    app_mention: 'The app was mentioned in a message.',
    message: {
      channels: 'A message in a public channel. `event.subtype` and `event.bot_id` tell those of people from others.',
      groups: 'A message in a private channel.',
      im: 'A direct message.',
      mpim: 'A message to several people.',
      app_home: 'A message in the app itself.',
    },
    app_home_opened: 'Somebody opened the home of the app.',
    reaction_added: 'A reaction was added to a message.',
    reaction_removed: 'A reaction was taken back.',
    channel_created: 'A channel was created.',
    channel_rename: 'A channel was renamed.',
    channel_archive: 'A channel was archived.',
    channel_unarchive: 'A channel is no longer archived.',
    channel_deleted: 'A channel was deleted.',
    member_joined_channel: 'Somebody joined a channel.',
    member_left_channel: 'Somebody left a channel.',
    file_created: 'A file was created.',
    file_shared: 'A file was shared.',
    file_deleted: 'A file was deleted.',
    pin_added: 'Something was pinned in a channel.',
    pin_removed: 'Something is no longer pinned in a channel.',
    link_shared: 'A link to a domain of the app was posted.',
    team_join: 'Somebody joined the workspace.',
    user_change: 'The profile of somebody was changed.',
    emoji_changed: 'An emoji of the workspace was added or removed.',
    app_uninstalled: 'The app was uninstalled.',
    tokens_revoked: 'Tokens of the app were revoked.',
  }),
  signsId: true,
  form: 'Slack sends slash commands and interactive messages so; they are not taken. Enter this address under Event Subscriptions alone.',
};

/**
 * The Events API (docs.slack.dev, "Verifying requests from Slack", "Using the Events API"). Slash commands and interactive messages
 * are forms, not JSON, and are not taken.
 */
@Plugin(IntegrationProvider, 'slack')
export class SlackProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  async verify({ headers, body, receivedAt }: HookRequest, secrets: readonly string[]) {
    const timestamp = headerOf(headers, 'x-slack-request-timestamp') ?? '';
    if (!isOfNow(timestamp, receivedAt)) return false;
    const digest = hexDigest(headerOf(headers, 'x-slack-signature'), 'v0=');
    return isSigned(secrets, [`v0:${timestamp}:`, body], [digest]);
  }

  parseEvent(_headers: IncomingHttpHeaders, payload: unknown): Parsed {
    const type = textAt(payload, 'type');
    if (type === 'url_verification') {
      const challenge = textAt(payload, 'challenge');
      if (challenge !== undefined) return handshake({ challenge });
      return {
        type: 'malformed',
        fault: 'A url_verification of Slack has a text as its challenge, and this one has none.',
      };
    }
    const deliveryId = textAt(payload, 'event_id');
    // Such as app_rate_limited: about the deliveries, not about what happened.
    if (type !== 'event_callback') return eventOf(deliveryId, type);
    const event = textAt(payload, 'event', 'type');
    const channel = textAt(payload, 'event', 'channel_type') ?? '';
    return eventOf(deliveryId, event, event === 'message' ? MESSAGES[channel] : undefined);
  }

  override testDelivery(secret: string, at: Date) {
    const timestamp = String(Math.floor(at.getTime() / 1000));
    const text = JSON.stringify({ type: 'url_verification', challenge: 'test' });
    const headers = {
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signed(secret, `v0:${timestamp}:${text}`)}`,
    };
    return { headers, body: Buffer.from(text) };
  }
}
