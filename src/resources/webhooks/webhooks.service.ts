import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Env } from '../../platform/config/env.js';
import { newSecret, Sealing } from '../../platform/config/sealing.js';
import { Database } from '../../platform/database/database.js';
import { addressOf } from '../../platform/egress/addresses.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { ProjectsService } from '../projects/projects.service.js';
import { checkPatterns } from './event-types.js';
import type { ChangeWebhookDto, CreateWebhookDto } from './webhook.dto.js';
import { ownerOfSecret, Webhook } from './webhook.entity.js';
import { CANCEL, GET, LIST, LOCK, LOCK_WORKSPACE, OTHERS, ROTATE, type WebhookRow } from './webhooks.sql.js';

/** Webhooks of one workspace. */
const MOST_WEBHOOKS = 20;
const updatedAt = () => 'now()';
const BY_HAND = { code: 'manual', message: 'Disabled on request.' } as const;

/** A webhook with its secret, which exists in this one answer. */
export interface MadeWebhook {
  webhook: WebhookRow;
  secret: string;
}

/** The webhooks of a workspace, for its owners and admins (reference §18). */
@Injectable()
export class WebhooksService {
  private readonly networks: readonly string[];

  constructor(
    private readonly database: Database,
    private readonly projects: ProjectsService,
    private readonly sealing: Sealing,
    private readonly extensions: ExtensionSet,
    env: Env,
  ) {
    this.networks = env.variables.WEBHOOK_NETWORKS ?? [];
  }

  /** Throws 404 unless it is the workspace's, as everything here that takes an id. */
  async get(auth: AuthContext, id: string): Promise<WebhookRow> {
    const [row] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    return row ?? missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest) {
    return page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
  }

  /** Throws 400 for a type that nobody brings and an address that is not allowed, 404 for a project that is not there, 409 for one too many or one that is there. */
  async create(auth: AuthContext, tx: UnitOfWork, given: CreateWebhookDto): Promise<MadeWebhook> {
    const { url, types, description = null, projectId = null } = given;
    checkPatterns(types, this.extensions);
    const address = addressOf('url', url, this.networks);
    await this.holdProject(auth, tx, projectId);
    await tx.run(LOCK_WORKSPACE({ auth }));
    const others = await checkOthers(auth, tx, address, null);
    if (others.count >= MOST_WEBHOOKS) {
      throw new ApiError('too_many_webhooks', `A workspace has at most ${MOST_WEBHOOKS} webhooks; delete one first.`);
    }
    const id = newId();
    const made = this.newSecret(id);
    const { workspaceId, userId: createdBy } = auth;
    const fields = { id, workspaceId, url, address, description, types, projectId, ...made.stored, createdBy };
    await tx.manager.getRepository(Webhook).insert(fields);
    return { webhook: await read(auth, tx, id), secret: made.secret };
  }

  /** Changes what is given; nothing given changes nothing. Throws as {@link create}. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, given: ChangeWebhookDto): Promise<WebhookRow> {
    checkPatterns(given.types, this.extensions);
    const address = given.url === undefined ? null : addressOf('url', given.url, this.networks);
    // Project and workspace before the webhook, as a create locks them; the webhook's own 404 is told first all the same.
    const seen = given.projectId == null || (await this.projects.hold(auth, tx, given.projectId));
    if (address !== null) await tx.run(LOCK_WORKSPACE({ auth }));
    const before = await lock(auth, tx, id);
    if (!seen) throw notFound('project', 'projectId');
    const moved = address !== null && address !== before.address;
    if (moved) await checkOthers(auth, tx, address, id);
    const { status, ...fields } = given;
    if (Object.values(fields).some((value) => value !== undefined)) {
      // Another address has not failed yet.
      const fresh = moved ? { address, failingSince: null, failedAttempts: 0 } : {};
      await tx.manager.getRepository(Webhook).update({ id }, { ...fields, ...fresh, updatedAt });
    }
    if (status !== undefined && status !== before.status) await setStatus(tx, id, status);
    return read(auth, tx, id);
  }

  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const webhooks = tx.manager.getRepository(Webhook);
    // Its deliveries are never sent from here on; a chore deletes them.
    const { affected } = isUuid(id) ? await webhooks.delete({ id, workspaceId: auth.workspaceId }) : { affected: 0 };
    if (affected !== 1) missing();
  }

  /** A new secret. The former one signs too for `overlapSeconds`. */
  async rotate(auth: AuthContext, tx: UnitOfWork, id: string, overlapSeconds: number): Promise<MadeWebhook> {
    const { id: known } = await lock(auth, tx, id);
    const { secret, stored } = this.newSecret(known);
    await tx.run(ROTATE({ id: known, overlapSeconds, ...stored }));
    return { webhook: await read(auth, tx, known), secret };
  }

  private newSecret(id: string) {
    const secret = newSecret();
    return {
      secret,
      stored: { secret: this.sealing.seal(ownerOfSecret(id), secret), secretPrefix: secret.slice(0, 12) },
    };
  }

  private async holdProject(auth: AuthContext, tx: UnitOfWork, projectId: string | null): Promise<void> {
    if (projectId === null || (await this.projects.hold(auth, tx, projectId))) return;
    throw notFound('project', 'projectId');
  }
}

/** How many webhooks there are beside one. The caller holds the workspace. Throws 409 `webhook_exists`. */
async function checkOthers(auth: AuthContext, tx: UnitOfWork, address: string, id: string | null) {
  const [others = { count: 0, taken: false }] = await tx.run(OTHERS({ auth, address, id }));
  if (!others.taken) return others;
  throw new ApiError('webhook_exists', 'A webhook of this workspace has this url already; change or delete that one.');
}

async function setStatus(tx: UnitOfWork, id: string, status: WebhookRow['status']): Promise<void> {
  const webhooks = tx.manager.getRepository(Webhook);
  if (status === 'disabled') await webhooks.update({ id }, { status, disabledReason: BY_HAND, updatedAt });
  // Enabling makes up for nothing: what was written while it was being disabled goes too.
  await tx.run(CANCEL({ ids: [id] }));
  if (status === 'disabled') return;
  await webhooks.update({ id }, { status, disabledReason: null, failingSince: null, failedAttempts: 0, updatedAt });
}

async function lock(auth: AuthContext, tx: UnitOfWork, id: string): Promise<WebhookRow> {
  const [row] = isUuid(id) ? await tx.run(LOCK({ auth, id })) : [];
  return row ?? missing();
}

async function read(auth: AuthContext, tx: UnitOfWork, id: string): Promise<WebhookRow> {
  const [row] = await tx.run(GET({ auth, id }));
  return row ?? missing();
}

function missing(): never {
  throw notFound('webhook');
}
