import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { EventNews } from '../../platform/events/event-news.js';
import { ApiError } from '../../platform/http/api-error.js';
import { EventReads } from './event-reads.js';
import type { Reader } from './feed.js';
import type { Follower } from './follower.js';
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
 * All that follow events in this process. News comes by {@link EventNews}; and one look a second for all of them, two
 * statements, finds what no news has brought, and whose access has ended.
 */
@Injectable()
export class Streams implements OnModuleDestroy {
  private readonly logger = new Logger('Events');
  private readonly all = new Set<Follower>();
  private looking = false;
  private failing = false;
  private stopping = false;

  constructor(
    private readonly news: EventNews,
    private readonly reads: EventReads,
  ) {}

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

  /** Follows until {@link Follower.over}. */
  follow(follower: Follower): void {
    if (this.stopping) return follower.end('shutdown');
    const stop = this.news.follow(follower.feed.followed, follower);
    this.all.add(follower);
    follower.onOver(() => {
      this.all.delete(follower);
      stop();
    });
    follower.changed();
    setTimeout(() => follower.changed(), ANNOUNCED_MS).unref();
  }

  /** Before the requests under way are waited for: these would not end by themselves. */
  onModuleDestroy(): void {
    this.stopping = true;
    for (const follower of [...this.all]) follower.end('shutdown');
  }

  /** What no event tells: the time, and what the look finds. */
  @Interval(LOOK_MS)
  async tick(now = performance.now()): Promise<void> {
    for (const follower of this.all) follower.tick(now);
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
    for (const follower of all) follower.looked();
  }

  private async lookAtTasks(all: Follower[]): Promise<void> {
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

  private async lookAtWorkspaces(all: Follower[]): Promise<void> {
    const following = all.flatMap((follower) => {
      const { feed } = follower;
      return feed instanceof WorkspaceFeed ? [{ follower, feed, reader: nameOf(feed.reader) }] : [];
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
    for (const { follower, feed, reader } of following) {
      const last = standing.get(reader);
      if (last === undefined || feed.isBefore(last)) follower.changed();
    }
  }
}

const nameOf = ({ keyId, session }: Reader): string => `${keyId} ${session?.toString('base64') ?? ''}`;
