import { Injectable, Logger } from '@nestjs/common';
import { Sealing } from '../../../platform/config/sealing.js';
import { Database } from '../../../platform/database/database.js';
import type { Sql } from '../../../platform/database/sql.js';
import { LastingKeys } from '../../../platform/installation/lasting-keys.js';
import { Catalogue } from '../catalogue/catalogue.js';
import { ownerOf } from '../connection.entity.js';
import { GET_SECRETS, type SecretsRow } from '../connections.sql.js';
import type { HookRequest, IntegrationProvider } from '../integration-provider.js';
import { HookLog } from './hook-log.js';

/** Who sent a delivery, for sure. */
export interface Sender {
  connectionId: string;
  workspaceId: string;
  slug: string;
  provider: IntegrationProvider;
}

/** Finds out whether a delivery was signed with a secret of its connection (reference §13). */
@Injectable()
export class HookVerifier {
  private readonly logger = new Logger('hooks');
  private readonly decoyOf: (text: string) => Buffer;

  constructor(
    private readonly database: Database,
    private readonly catalogue: Catalogue,
    private readonly sealing: Sealing,
    private readonly log: HookLog,
    keys: LastingKeys,
  ) {
    this.decoyOf = keys.mac('decoys');
  }

  /** Null for a delivery that is not signed, not fresh, or not of a connection that exists: the sender is not told which. */
  async senderOf(connectionId: string, request: HookRequest): Promise<Sender | null> {
    const [row] = await this.database.read.run(GET_SECRETS({ id: connectionId }));
    const provider = row === undefined ? undefined : this.catalogue.get(row.slug);
    if (row === undefined || provider === undefined) {
      await this.verifyDecoy(connectionId, request);
      this.log.count(null, 'unknown_connection');
      return null;
    }
    const { slug, workspaceId } = row;
    const opened = this.open(row);
    if (opened === null) {
      await this.verifyDecoy(connectionId, request);
      this.log.note('unreadable_secret', { connectionId, slug });
      return null;
    }
    if (await provider.verify(request, opened)) return { connectionId, workspaceId, slug, provider };
    this.log.note('bad_signature', { connectionId, slug });
    return null;
  }

  /** The secrets of a connection that are taken, the newest first; null when they cannot be decrypted, or there is no such connection. */
  async secretsOf(sql: Sql, connectionId: string): Promise<string[] | null> {
    const [row] = await sql.run(GET_SECRETS({ id: connectionId }));
    return row === undefined ? null : this.open(row);
  }

  /**
   * Does for a connection that does not exist what it would do for one that does, of a provider that belongs to the id for ever. An
   * answer that comes sooner would tell which ids exist.
   */
  private async verifyDecoy(connectionId: string, request: HookRequest): Promise<void> {
    const digest = this.decoyOf(`decoy ${connectionId}`);
    const all = this.catalogue.list();
    const { slug = '' } = all[digest.readUInt32BE(0) % all.length] ?? {};
    await this.catalogue.get(slug)?.verify(request, [`whsec_${digest.toString('base64')}`]);
  }

  private open({ id, secret, previousSecret }: SecretsRow): string[] | null {
    try {
      const sealed = previousSecret === null ? [secret] : [secret, previousSecret];
      return sealed.map((one) => this.sealing.open(ownerOf(id), one));
    } catch {
      this.logger.error(
        `The secret of connection ${id} cannot be decrypted: it was made under another SECRET_KEY. Give it a new one with 'integration rotate'.`,
      );
      return null;
    }
  }
}
