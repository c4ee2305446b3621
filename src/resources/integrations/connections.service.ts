import { Injectable } from '@nestjs/common';
import { recordOperator } from '../../access/audit/record.js';
import { forOperator, OperatorError } from '../../access/auth/operator-error.js';
import { Env } from '../../platform/config/env.js';
import { newSecret, Sealing } from '../../platform/config/sealing.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
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
  type LockedConnection,
  NEWEST_OF,
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
export type ListedConnection = Omit<ConnectionRow, 'verdict' | 'userId'> & { state: ConnectionState } & Address;

/** A connection as those see it who keep it. */
export type ShownConnection = Omit<ConnectionRow, 'userName' | 'userEmail'> & Address;
/** With its secret, which exists in this one answer. */
export interface MadeConnection {
  connection: ShownConnection;
  secret: string;
}

/** What an operator does about a rule that is broken. */
const ADVICE = {
  connection_exists:
    "'integration list' shows its id. Give it a new secret with 'integration rotate', or end it with 'integration disconnect'.",
} as const;

const NO_DELIVERY = { verdict: null, lastDeliveryAt: null };

const DISCONNECTED = {
  code: 'integration_disconnected',
  message: 'The connection that brings its events was removed.',
} as const;

/** Longer than any that a provider makes. Visible ASCII: it is copied from one page to another. */
const SECRET = /^[\x21-\x7e]{8,500}$/;

/**
 * Connections to providers: a workspace's or a user's own, one of each provider (reference §13). What takes a transaction is the rules,
 * which requests and the operator's verbs follow.
 */
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
  connect(wanted: NewConnection): Promise<Connected> {
    const { workspaceId, userId, slug } = wanted;
    if (this.catalogue.get(slug) === undefined) {
      const known = this.catalogue.list().map((one) => one.slug);
      throw new OperatorError(`There is no integration '${slug}'. Known: ${known.join(', ')}.`);
    }
    const connected = this.transactions.open(async (tx) => {
      if (userId !== null && (await tx.run(HOLD_MEMBER({ workspaceId, userId }))).length === 0) {
        throw new OperatorError(`This user is not a member of this workspace; add it with 'member add'.`);
      }
      const made = await this.make(tx, wanted);
      await recordOperator(tx, workspaceId, 'integration.connect', { type: 'connection', id: made.connection.id });
      return connectedOf(made);
    });
    return forOperator(connected, ADVICE);
  }

  /**
   * Makes a connection in a transaction that holds the member whose own it is. Throws 400 for a secret, and 409 `connection_exists`.
   * @param slug of a provider in the catalogue.
   */
  async make(
    tx: UnitOfWork,
    { workspaceId, userId, slug, secret = newSecret() }: NewConnection,
  ): Promise<MadeConnection> {
    this.checkSecret(slug, secret);
    const id = newId();
    const sealed = this.sealing.seal(ownerOf(id), secret);
    const [made] = await tx.run(CONNECT({ id, workspaceId, userId, slug, secret: sealed }));
    if (made === undefined) {
      const whose = userId === null ? 'of the workspace' : 'of this member';
      throw new ApiError('connection_exists', `There is a connection ${whose} to '${slug}' already.`);
    }
    const connection = { ...made, userId, verdict: null, lastDeliveryAt: null, ...this.address(id) };
    return { connection, secret };
  }

  /** Those of a workspace and of its members. */
  async list(workspaceId: string): Promise<ListedConnection[]> {
    const rows = await this.transactions.run(LIST({ workspaceId }));
    return rows.map(({ verdict, userId: _whose, ...row }) => ({
      ...row,
      state: stateOf({ verdict }),
      ...this.address(row.id),
    }));
  }

  /**
   * Gives a connection a new secret. The one of before is taken too for `overlapSeconds`; the one before that no more.
   * Throws {@link OperatorError}.
   */
  rotate(id: string, overlapSeconds: number, secret?: string): Promise<Connected> {
    const rotated = this.transactions.open(async (tx) => {
      const [locked] = isUuid(id) ? await tx.run(LOCK({ id })) : [];
      if (locked === undefined) return missing(id);
      const made = await this.renew(tx, locked, overlapSeconds, secret);
      await recordOperator(tx, locked.workspaceId, 'integration.rotate', { type: 'connection', id: locked.id });
      return connectedOf(made);
    });
    return forOperator(rotated, ADVICE);
  }

  /** What {@link rotate} does, in a transaction that has locked the connection. Throws 400 for a secret. */
  async renew(
    tx: UnitOfWork,
    { id, slug, userId }: LockedConnection,
    overlapSeconds: number,
    secret = newSecret(),
  ): Promise<MadeConnection> {
    this.checkSecret(slug, secret);
    const sealed = this.sealing.seal(ownerOf(id), secret);
    const overlap = overlapSeconds === 0 ? null : overlapSeconds;
    const [row] = await tx.run(ROTATE({ id, secret: sealed, overlapSeconds: overlap }));
    if (row === undefined) throw notFound('connection');
    const [newest = NO_DELIVERY] = await tx.run(NEWEST_OF({ id }));
    return { connection: { ...row, userId, ...newest, ...this.address(id) }, secret };
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

  /** Ends it with its log and pauses the automations that are bound to it. The caller holds its lock. */
  async end(tx: UnitOfWork, id: string): Promise<void> {
    for (const automation of await tx.run(LOCK_BOUND({ connectionId: id })))
      await this.records.pause(tx, automation, DISCONNECTED);
    await tx.manager.getRepository(Connection).delete({ id });
  }

  /** Where the provider delivers to. */
  address(id: string): Address {
    const path = `/hooks/${id}`;
    const { PUBLIC_URL } = this.env.variables;
    return { path, url: PUBLIC_URL === undefined ? null : PUBLIC_URL + path };
  }

  private checkSecret(slug: string, secret: string): void {
    if (!SECRET.test(secret)) throw invalidSecret('A secret has 8 to 500 visible ASCII characters.');
    const { name, secret: own } = this.catalogue.get(slug)?.describe() ?? {};
    if (own?.form.test(secret) === false) throw invalidSecret(`A secret of ${name} is ${own.words}.`);
  }
}

function invalidSecret(message: string): ApiError {
  return new ApiError('invalid_field', message, { param: 'secret' });
}

function connectedOf({ connection, secret }: MadeConnection): Connected {
  const { id, path, url, previousSecretUntil } = connection;
  return { id, path, url, secret, previousSecretUntil };
}

function missing(id: string): never {
  throw new OperatorError(`There is no connection '${id}'; 'integration list' shows the ids.`);
}
