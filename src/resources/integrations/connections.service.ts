import { Injectable } from '@nestjs/common';
import { recordOperator } from '../../access/audit/record.js';
import { OperatorError } from '../../access/auth/operator-error.js';
import { Env } from '../../platform/config/env.js';
import { newSecret, Sealing } from '../../platform/config/sealing.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { LOCK_BOUND } from '../automations/automations.sql.js';
import { RunRecords } from '../automations/run-records.js';
import { Catalogue } from './catalogue/catalogue.js';
import {
  CONNECT,
  type ConnectionRow,
  EXISTS,
  FOR_OWNER,
  HOLD_MEMBER,
  LIST,
  LOCK,
  LOCK_OF_USER,
  ROTATE,
} from './connections.sql.js';
import { LOG } from './hooks/hook-deliveries.sql.js';
import { Connection, ownerOf } from './connection.entity.js';
import { type ConnectionState, type Delivery, deliveryView, stateOf } from './integration.view.js';

interface NewConnection {
  workspaceId: string;
  /** Whose own it is; null for the workspace's. */
  userId: string | null;
  slug: string;
  /** What the provider signs with; made when not given. */
  secret?: string | undefined;
}

/** Where the provider delivers to: `url` is null without `PUBLIC_URL`. */
interface Address {
  path: string;
  url: string | null;
}
/** What an operator enters at the provider. */
export type Connected = { id: string } & Address & { secret: string; previousSecretUntil: Date | null };
export type ListedConnection = Omit<ConnectionRow, 'verdict'> & { state: ConnectionState } & Address;

const DISCONNECTED = {
  code: 'integration_disconnected',
  message: 'The connection that brings its events was removed.',
} as const;

/** Longer than any that a provider makes. Visible ASCII: it is copied from one page to another. */
const SECRET = /^[\x21-\x7e]{8,500}$/;

/** Connections to providers: a workspace's or a user's own, one of each provider (reference §13). The operator makes and ends them. */
@Injectable()
export class ConnectionsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly catalogue: Catalogue,
    private readonly sealing: Sealing,
    private readonly records: RunRecords,
    private readonly env: Env,
  ) {}

  /** Ends a member's own, with the membership. */
  async endOfUser(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
    for (const { id } of await tx.run(LOCK_OF_USER({ workspaceId, userId }))) await this.end(tx, id);
  }

  /**
   * The connection that an automation of this user is bound to: the user's own, if there is one, else the workspace's; undefined: none.
   * In a transaction the connection stays until its end.
   */
  async forOwner(sql: Sql, workspaceId: string, userId: string, slug: string): Promise<{ id: string } | undefined> {
    const [found] = await sql.run(FOR_OWNER({ workspaceId, userId, slug }));
    return found;
  }

  /** Throws {@link OperatorError}, also when there is one of this provider and user already. */
  async connect({ workspaceId, userId, slug, secret = newSecret() }: NewConnection): Promise<Connected> {
    if (this.catalogue.get(slug) === undefined) {
      const known = this.catalogue.list().map((one) => one.slug);
      throw new OperatorError(`There is no integration '${slug}'. Known: ${known.join(', ')}.`);
    }
    this.checkSecret(slug, secret);
    const id = newId();
    const sealed = this.sealing.seal(ownerOf(id), secret);
    return this.transactions.open(async (tx) => {
      if (userId !== null && (await tx.run(HOLD_MEMBER({ workspaceId, userId }))).length === 0) {
        throw new OperatorError(`This user is not a member of this workspace; add it with 'member add'.`);
      }
      const [made] = await tx.run(CONNECT({ id, workspaceId, userId, slug, secret: sealed }));
      if (made === undefined) {
        throw new OperatorError(
          `There is a connection to '${slug}' already; 'integration list' shows its id. Give it a new secret with 'integration rotate', or end it with 'integration disconnect'.`,
        );
      }
      await recordOperator(tx, workspaceId, 'integration.connect', { type: 'connection', id });
      return { id, ...this.address(id), secret, previousSecretUntil: null };
    });
  }

  /** Those of a workspace and of its members. */
  async list(workspaceId: string): Promise<ListedConnection[]> {
    const rows = await this.transactions.run(LIST({ workspaceId }));
    return rows.map(({ verdict, ...row }) => ({ ...row, state: stateOf({ verdict }), ...this.address(row.id) }));
  }

  /**
   * Gives a connection a new secret. The one of before is taken too for `overlapSeconds`; the one before that no more.
   * Throws {@link OperatorError}.
   */
  async rotate(id: string, overlapSeconds: number, secret = newSecret()): Promise<Connected> {
    return this.transactions.open(async (tx) => {
      const [locked] = isUuid(id) ? await tx.run(LOCK({ id })) : [];
      if (locked === undefined) return missing(id);
      this.checkSecret(locked.slug, secret);
      const sealed = this.sealing.seal(ownerOf(locked.id), secret);
      const overlap = overlapSeconds === 0 ? null : overlapSeconds;
      const [row] = await tx.run(ROTATE({ id: locked.id, secret: sealed, overlapSeconds: overlap }));
      if (row === undefined) return missing(id);
      await recordOperator(tx, locked.workspaceId, 'integration.rotate', { type: 'connection', id: locked.id });
      return { id: row.id, ...this.address(row.id), secret, previousSecretUntil: row.previousSecretUntil };
    });
  }

  /** Ends a connection with its log and pauses the automations that are bound to it. Throws {@link OperatorError}. */
  async disconnect(id: string): Promise<void> {
    await this.transactions.open(async (tx) => {
      const [locked] = isUuid(id) ? await tx.run(LOCK({ id })) : [];
      if (locked === undefined) return missing(id);
      await this.end(tx, locked.id);
      await recordOperator(tx, locked.workspaceId, 'integration.disconnect', { type: 'connection', id: locked.id });
    });
  }

  /** The last 100 entries of its log, the newest first. Throws {@link OperatorError}. */
  async deliveries(id: string): Promise<Delivery[]> {
    const known = isUuid(id) && (await this.transactions.run(EXISTS({ id }))).length > 0;
    return known ? (await this.transactions.run(LOG({ id }))).map(deliveryView) : missing(id);
  }

  /** The caller holds its lock. */
  private async end(tx: UnitOfWork, id: string): Promise<void> {
    for (const automation of await tx.run(LOCK_BOUND({ connectionId: id })))
      await this.records.pause(tx, automation, DISCONNECTED);
    await tx.manager.getRepository(Connection).delete({ id });
  }

  private checkSecret(slug: string, secret: string): void {
    if (!SECRET.test(secret)) throw new OperatorError('A secret has 8 to 500 visible ASCII characters.');
    const { name, secret: own } = this.catalogue.get(slug)?.describe() ?? {};
    if (own?.form.test(secret) === false) throw new OperatorError(`A secret of ${name} is ${own.words}.`);
  }

  private address(id: string): Address {
    const path = `/hooks/${id}`;
    const { PUBLIC_URL } = this.env.variables;
    return { path, url: PUBLIC_URL === undefined ? null : PUBLIC_URL + path };
  }
}

function missing(id: string): never {
  throw new OperatorError(`There is no connection '${id}'; 'integration list' shows the ids.`);
}
