import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { EventSubscriptions } from '../../platform/events/event-subscriptions.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Notices } from '../../platform/notices/notices.js';
import { EventReads } from './event-reads.js';
import type { Reader } from './feed.js';
import type { Subscription } from './subscription.js';
import { LOOK_AT_TASKS } from './task-batch.sql.js';
import { TaskFeed } from './task-feed.js';
import { LOOK_AT_WORKSPACES } from './workspace-batch.sql.js';
import { WorkspaceFeed } from './workspace-feed.js';

/** Milliseconds between two looks: what ends a stream is noticed within a second. */
const LOOK_MS = 750;
/** After the first batch once more: until then another process may not have heard what is followed here. */
const ANNOUNCED_MS = 50;
/** Streams of one statement. */
const TOGETHER = 500;

/**
 * All that follow events in this process. News comes by {@link EventSubscriptions}; and one look a second for all of them, two
 * statements, finds what no news has brought, and whose access has ended.
 */
@Injectable()
export class Streams implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Events');
  private readonly all = new Set<Subscription>();
  private looking = false;
  private failing = false;
  private stopping = false;

  constructor(
    private readonly subscriptions: EventSubscriptions,
    private readonly reads: EventReads,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    // The membership has ended already, and with it the credential: nobody has to look.
    this.notices.on('left', ({ workspaceId, userId }) => {
      for (const subscription of [...this.all]) {
        const { reader } = subscription.feed;
        if (reader.workspaceId === workspaceId && reader.userId === userId) subscription.end('unauthorized');
      }
    });
  }

  get size(): number {
    return this.all.size;
  }

  /** Bytes that wait for clients. */
  get waitingBytes(): number {
    return [...this.all].reduce((sum, { waitingBytes }) => sum + waitingBytes, 0);
  }

  /** Throws 503 when the process is told to stop. */
  requireRunning(): void {
    if (this.stopping) throw new ApiError('unavailable', 'This process is being stopped; ask again.');
  }

  /** Follows until {@link Subscription.over}. */
  subscribe(subscription: Subscription): void {
    if (this.stopping) return subscription.end('shutdown');
    const stop = this.subscriptions.subscribe(subscription.feed.followed, subscription);
    this.all.add(subscription);
    subscription.onOver(() => {
      this.all.delete(subscription);
      stop();
    });
    subscription.changed();
    setTimeout(() => subscription.changed(), ANNOUNCED_MS).unref();
  }

  /** Before the requests under way are waited for: these would not end by themselves. */
  onModuleDestroy(): void {
    this.stopping = true;
    for (const subscription of [...this.all]) subscription.end('shutdown');
  }

  /** What no event tells: the time, and what the look finds. */
  @Interval(LOOK_MS)
  async tick(now = performance.now()): Promise<void> {
    for (const subscription of this.all) subscription.tick(now);
    if (this.looking || this.all.size === 0) return;
    this.looking = true;
    try {
      await this.look();
      if (this.failing) this.logger.log('Events can be read again.');
      this.failing = false;
    } catch (error) {
      if (!this.failing) this.logger.warn(`The look at what streams follow failed: ${String(error)}`);
      this.failing = true;
    } finally {
      this.looking = false;
    }
  }

  private async look(): Promise<void> {
    const all = [...this.all];
    for (let from = 0; from < all.length; from += TOGETHER) {
      const some = all.slice(from, from + TOGETHER);
      await Promise.all([this.lookAtTasks(some), this.lookAtWorkspaces(some)]);
    }
    for (const subscription of all) subscription.looked();
  }

  private async lookAtTasks(all: Subscription[]): Promise<void> {
    const feeds = all.flatMap(({ feed }, n) => (feed instanceof TaskFeed ? [{ n, feed }] : []));
    if (feeds.length === 0) return;
    const rows = await this.reads.look(
      LOOK_AT_TASKS({
        ns: feeds.map(({ n }) => n),
        keyIds: feeds.map(({ feed }) => feed.reader.keyId),
        sessions: feeds.map(({ feed }) => feed.reader.session),
        taskIds: feeds.map(({ feed }) => feed.followed),
        known: feeds.map(({ feed }) => feed.lastEvent),
        policies: feeds.map(({ feed }) => feed.policyText),
      }),
    );
    for (const { n } of rows) all[n]?.changed();
  }

  private async lookAtWorkspaces(all: Subscription[]): Promise<void> {
    const following = all.flatMap((subscription) => {
      const { feed } = subscription;
      return feed instanceof WorkspaceFeed ? [{ subscription, feed, reader: nameOf(feed.reader) }] : [];
    });
    if (following.length === 0) return;
    // Two hundred streams may follow one workspace, and twenty have one key.
    const readers = new Map(following.map(({ feed, reader }) => [reader, feed.reader]));
    const asked = [...readers.values()];
    const rows = await this.reads.look(
      LOOK_AT_WORKSPACES({
        ns: asked.map((_, n) => n),
        keyIds: asked.map(({ keyId }) => keyId),
        sessions: asked.map(({ session }) => session),
      }),
    );
    const names = [...readers.keys()];
    const standing = new Map(rows.map(({ n, ...last }) => [names[n], last]));
    for (const { subscription, feed, reader } of following) {
      const last = standing.get(reader);
      if (last === undefined || feed.isBefore(last)) subscription.changed();
    }
  }
}

const nameOf = ({ keyId, session }: Reader): string => `${keyId} ${session?.toString('base64') ?? ''}`;
