import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { Catalogue } from './catalogue/catalogue.js';
import { type ConnectDto, DAY_SECONDS, type RotateConnectionDto } from './connection.dto.js';
import { ConnectionsService, type MadeConnection, type ShownConnection } from './connections.service.js';
import type { Delivery } from './integration.view.js';
import { HookTest } from './hooks/hook-test.js';
import { LIST, LOCK } from './connections.sql.js';

/** A connection as a member sees it who may change it. */
export type KeptConnection = ShownConnection & {
  /** Whether {@link MemberConnections.test} works for its provider. */
  testable: boolean;
};
/** With its secret, which exists in this one answer. */
interface Made {
  connection: KeptConnection;
  secret: string;
}

/**
 * Connections as members keep them: the workspace's for its owners and admins, the own ones for each (reference §13). One that is neither
 * does not exist for the caller.
 */
@Injectable()
export class MemberConnections {
  constructor(
    private readonly database: Database,
    private readonly catalogue: Catalogue,
    private readonly connections: ConnectionsService,
    private readonly hooks: HookTest,
  ) {}

  /** Throws 404 for an integration that is not in the catalogue. */
  async list(auth: AuthContext, slug: string): Promise<KeptConnection[]> {
    this.check(slug);
    const rows = await this.database.read.run(LIST({ workspaceId: auth.workspaceId }));
    return rows
      .filter((row) => row.slug === slug && keeps(auth, row.userId))
      .map((row) => this.kept({ ...row, ...this.connections.address(row.id) }));
  }

  /** Throws 400 for a secret, 403 `role_not_allowed`, 404 and 409 `connection_exists`. */
  async connect(auth: AuthContext, tx: UnitOfWork, slug: string, { scope, secret }: ConnectDto): Promise<Made> {
    const userId = scope === 'user' ? auth.userId : null;
    this.check(slug);
    if (!keeps(auth, userId)) {
      throw new ApiError(
        'role_not_allowed',
        'Only an owner or admin connects the workspace; connect your own account.',
      );
    }
    return this.made(await this.connections.make(tx, { workspaceId: auth.workspaceId, userId, slug, secret }));
  }

  /** Throws 400 for a secret, and 404. */
  async rotate(
    auth: AuthContext,
    tx: UnitOfWork,
    slug: string,
    id: string,
    { overlapSeconds = DAY_SECONDS, secret }: RotateConnectionDto,
  ): Promise<Made> {
    const locked = await this.lock(auth, tx, slug, id);
    return this.made(await this.connections.renew(tx, locked, overlapSeconds, secret));
  }

  /** Ends it with its log, and pauses the automations that are bound to it. Throws 404. */
  async disconnect(auth: AuthContext, tx: UnitOfWork, slug: string, id: string): Promise<void> {
    const locked = await this.lock(auth, tx, slug, id);
    await this.connections.end(tx, locked.id);
  }

  /** Throws 404, and 409 `test_not_available`. */
  async test(auth: AuthContext, tx: UnitOfWork, slug: string, id: string): Promise<Delivery> {
    return this.hooks.run(tx, await this.lock(auth, tx, slug, id));
  }

  private async lock(auth: AuthContext, tx: UnitOfWork, slug: string, id: string) {
    this.check(slug);
    const [locked] = isUuid(id) ? await tx.run(LOCK({ id })) : [];
    const own = locked?.workspaceId === auth.workspaceId && locked.slug === slug && keeps(auth, locked.userId);
    if (!own) throw notFound('connection');
    return locked;
  }

  private kept(connection: ShownConnection): KeptConnection {
    return { ...connection, testable: this.hooks.isOffered(connection.slug) };
  }

  private made({ connection, secret }: MadeConnection): Made {
    return { connection: this.kept(connection), secret };
  }

  private check(slug: string): void {
    if (this.catalogue.get(slug) === undefined) throw notFound('integration');
  }
}

/** @param userId whose own connection it is; null for the workspace's. */
function keeps(auth: AuthContext, userId: string | null): boolean {
  return userId === null ? auth.seesEverything : userId === auth.userId;
}
