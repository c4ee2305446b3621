import { setTimeout as wait } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Chore } from '../../platform/chores/chore.js';
import { Env } from '../../platform/config/env.js';
import { Sealing } from '../../platform/config/sealing.js';
import { NOTICES } from '../../platform/fairness/shares.js';
import { WorkLoop } from '../../platform/jobs/work-loop.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { ownerOfNotices } from '../../resources/personal-notices/notice-settings.entity.js';
import type { Subscription } from '../../resources/personal-notices/push-subscription.entity.js';
import { contentOf } from './content.js';
import { HookChannel } from './hook-channel.js';
import { MailChannel } from './mail-channel.js';
import { type ClaimedNotice, NoticeClaims } from './notice-claims.js';
import { PushChannel } from './push-channel.js';
import { notSent, type Sent } from './sent.js';

/** Seconds before the attempts after the first one. */
const WAITS = [10, 60, 600];
const LONGEST = 3_600;
/** How long the end of the process waits for what it is sending. Milliseconds. */
const CLOSE_MS = 5_000;

/** Sends notices to people: each at most once (reference §21). At once when this process has written one, else each second. */
@Injectable()
export class NoticeSender implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Notices');
  private readonly counter;
  private readonly origin: string;
  private readonly sending = new Map<ClaimedNotice, Promise<void>>();
  private readonly loop = new WorkLoop({ at: 'notices', look: () => this.claim(), delayMs: 1, pauseMs: 20 });

  constructor(
    private readonly claims: NoticeClaims,
    private readonly sealing: Sealing,
    private readonly push: PushChannel,
    private readonly mail: MailChannel,
    private readonly hook: HookChannel,
    metrics: Metrics,
    { variables }: Env,
  ) {
    this.origin = variables.PUBLIC_URL ?? '';
    this.counter = metrics.counter('notices_total', 'Attempts to send a notice to a person.', 'channel', 'outcome');
  }

  /** There may be something to send. */
  @Interval(1000)
  wake(): void {
    void this.loop.wake();
  }

  @Chore({ every: 60_000 })
  async lose(): Promise<void> {
    const lost = await this.claims.lose();
    if (lost > 0) this.logger.warn(`${lost} notices were being sent by processes that ended: they may have arrived.`);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.end();
    const limit = new AbortController();
    await Promise.race([this.over(), wait(CLOSE_MS, undefined, limit).catch(() => undefined)]);
    limit.abort();
  }

  private async over(): Promise<void> {
    await Promise.all(this.sending.values());
  }

  private async claim(): Promise<void> {
    const places = NOTICES.atOnce - this.sending.size;
    if (places <= 0 || !(await this.claims.look())) return;
    const held = new Map<string, number>();
    for (const { workspaceId } of this.sending.keys()) held.set(workspaceId, (held.get(workspaceId) ?? 0) + 1);
    for (const notice of await this.claims.claim({ places, share: NOTICES.ofWorkspace, held })) this.begin(notice);
  }

  private begin(notice: ClaimedNotice): void {
    const over = this.send(notice).finally(() => {
      this.sending.delete(notice);
      this.wake();
    });
    this.sending.set(notice, over);
  }

  /** Never rejects. */
  private async send(notice: ClaimedNotice): Promise<void> {
    const { outcome, why, retryAfter } = await this.attempt(notice);
    const { channel, attempts } = notice;
    this.counter.inc({ channel, outcome });
    const next = outcome === 'again' ? WAITS[attempts - 1] : undefined;
    const delay = next === undefined ? null : Math.min(LONGEST, Math.max(next, retryAfter ?? 0));
    if (outcome !== 'sent') this.logger.warn(`A notice by ${channel} was not taken (${why}).`);
    try {
      await this.claims.record(notice, outcome === 'sent' ? 'sent' : delay === null ? 'failed' : 'pending', delay);
      if (outcome === 'gone' && channel === 'push') await this.claims.forgetBrowser(notice);
    } catch (error) {
      this.logger.warn(`What became of a notice was not recorded; it is not sent again: ${String(error)}`);
    }
  }

  /** Never rejects. */
  private async attempt(notice: ClaimedNotice): Promise<Sent> {
    const { channel, detail, email, hookUrl, subscription } = notice;
    const content = contentOf({ ...notice, question: detail === true ? notice.question : null }, this.origin);
    try {
      if (channel === 'email' && email !== null) return await this.mail.send(email, content, notice.id);
      if (channel === 'hook' && hookUrl !== null) return await this.hook.send(this.open(notice, hookUrl), content);
      if (channel === 'push' && subscription !== null) {
        return await this.push.send(JSON.parse(this.open(notice, subscription)) as Subscription, content);
      }
    } catch {
      return notSent('failed', 'its address cannot be read: SECRET_KEY is another one');
    }
    return notSent('failed', 'there is no address any more');
  }

  private open({ workspaceId, userId }: ClaimedNotice, sealed: Buffer): string {
    return this.sealing.open(ownerOfNotices(workspaceId, userId), sealed);
  }
}
