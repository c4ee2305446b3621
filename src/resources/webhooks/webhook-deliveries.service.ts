import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { Notices } from '../../platform/notices/notices.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { momentOf } from '../../platform/text/instant.js';
import { checkPatterns, checkType, TEST_EVENT } from './event-types.js';
import type { ListDeliveriesQuery, RecoverWebhookDto } from './webhook.dto.js';
import {
  type DeliveryRow,
  GET,
  HAS,
  HOLD_TASK,
  LIST,
  RECOVER,
  REDELIVER,
  TEST,
  type WholeDeliveryRow,
} from './webhook-deliveries.sql.js';

/** The log of a webhook's deliveries, and the deliveries that people ask for (reference §18). */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
    private readonly extensions: ExtensionSet,
  ) {}

  /** Newest first. Throws 404 unless the webhook is the workspace's, as everything here. */
  async list(auth: AuthContext, webhookId: string, page: PageRequest<ListDeliveriesQuery>) {
    const { status = null, type = null, taskId = null } = page.query;
    checkType(type, this.extensions);
    if (!isUuid(webhookId)) return missing('webhook');
    // An id that is none is nobody's.
    const known = taskId === null || isUuid(taskId);
    const filter = { status, type, taskId };
    const rows = known ? await this.database.read.run(LIST({ auth, webhookId, ...filter, ...page.place })) : [];
    if (rows.length === 0 && (await this.database.read.run(HAS({ auth, webhookId }))).length === 0) missing('webhook');
    return page.cut(rows, byCreation);
  }

  async get(auth: AuthContext, webhookId: string, id: string): Promise<WholeDeliveryRow> {
    return this.find(this.database.read, auth, webhookId, id);
  }

  /** A new delivery of the same event, whatever became of the old one; to a disabled webhook it is cancelled at once. */
  async redeliver(auth: AuthContext, tx: UnitOfWork, webhookId: string, id: string): Promise<DeliveryRow> {
    const { taskId, eventType } = await this.find(tx, auth, webhookId, id);
    if (taskId !== null && eventType !== 'task.deleted' && (await tx.run(HOLD_TASK({ taskId }))).length === 0) {
      // With the task its deliveries are gone.
      return missing('delivery');
    }
    const [made] = await tx.run(REDELIVER({ auth, webhookId, id, newId: newId() }));
    return this.asked(tx, made ?? missing('delivery'));
  }

  /** One attempt with an event of its own, to a disabled webhook too. */
  async test(auth: AuthContext, tx: UnitOfWork, webhookId: string): Promise<DeliveryRow> {
    if (!isUuid(webhookId)) return missing('webhook');
    const eventId = newId();
    const data = { webhookId: webhookId.toLowerCase(), taskId: null, seq: null };
    const body = JSON.stringify({ id: eventId, type: TEST_EVENT, timestamp: new Date().toISOString(), data });
    const [made] = await tx.run(TEST({ auth, webhookId, id: newId(), eventId, body }));
    return this.asked(tx, made ?? missing('webhook'));
  }

  /** One delivery of each event since a time that the webhook has neither got nor waits for. Resolves with how many. */
  async recover(
    auth: AuthContext,
    tx: UnitOfWork,
    webhookId: string,
    { since, types }: RecoverWebhookDto,
  ): Promise<number> {
    checkPatterns(types, this.extensions);
    if (!isUuid(webhookId) || (await tx.run(HAS({ auth, webhookId }))).length === 0) return missing('webhook');
    const values = { auth, webhookId, since: momentOf(since) ?? new Date(), narrow: types?.join(',') ?? null };
    const made = await tx.run(RECOVER(values));
    if (made.length > 0) this.ring(tx, webhookId);
    return made.length;
  }

  private async find(
    sql: Pick<UnitOfWork, 'run'>,
    auth: AuthContext,
    webhookId: string,
    id: string,
  ): Promise<WholeDeliveryRow> {
    const [row] = isUuid(webhookId) && isUuid(id) ? await sql.run(GET({ auth, webhookId, id })) : [];
    return row ?? missing('delivery');
  }

  private asked(tx: UnitOfWork, made: DeliveryRow): DeliveryRow {
    this.ring(tx, made.id);
    return made;
  }

  /** Wakes the senders after the commit. They would find it within a second by themselves. */
  private ring(tx: UnitOfWork, id: string): void {
    tx.afterCommit(() => this.notices.send({ webhook: id }));
  }
}

function missing(what: 'webhook' | 'delivery'): never {
  throw notFound(what);
}
