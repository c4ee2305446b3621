import { Injectable } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { type DomainEvent, OnEvent } from '../../platform/events/on-event.js';
import { NoticeSender } from './notice-sender.js';
import { TELL } from './notices.sql.js';

const KINDS: Record<string, string> = {
  'task.awaiting_input': 'needs_you',
  'task.completed': 'finished',
  'task.failed': 'failed',
};

/** Writes down whom to tell of an event: once, in the transaction in which the event counts as read. */
@Injectable()
export class NoticeWriter {
  constructor(private readonly sender: NoticeSender) {}

  /** One statement for each event. Where nobody wants to be told it writes nothing, and events share a transaction. */
  @OnEvent('task.awaiting_input', 'task.completed', 'task.failed')
  async tell({ id: eventId, type, taskId, data }: DomainEvent, tx: UnitOfWork): Promise<void | false> {
    const kind = KINDS[type];
    if (taskId === null || kind === undefined) return false;
    const interactionId = (data['interactionId'] as string | null | undefined) ?? null;
    const told = await tx.run(TELL({ taskId, eventId, kind, interactionId }));
    if (told.length === 0) return false;
    tx.afterCommit(() => this.sender.wake());
  }
}
