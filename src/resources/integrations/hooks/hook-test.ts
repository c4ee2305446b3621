import { Injectable } from '@nestjs/common';
import { newId } from '../../../platform/database/ids.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { ApiError } from '../../../platform/http/api-error.js';
import type { LockedConnection } from '../connections.sql.js';
import { Catalogue } from '../catalogue/catalogue.js';
import type { Verdict } from '../hook-delivery.entity.js';
import { HookThread } from '../hook-thread.js';
import type { Delivery } from '../integration.view.js';
import { NOTE } from './hook-deliveries.sql.js';
import { HookLog } from './hook-log.js';
import { HookVerifier } from './hook-verifier.js';

/**
 * Makes the handshake of a provider, signed with the connection's secret, and takes it as one that arrives: verified, read and noted in
 * the log (reference §13). It starts nothing. Whether the provider reaches the address is only seen by what it sends itself.
 */
@Injectable()
export class HookTest {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly verifier: HookVerifier,
    private readonly thread: HookThread,
    private readonly log: HookLog,
  ) {}

  /** Whether a provider has a handshake. */
  isOffered(slug: string): boolean {
    return this.catalogue.get(slug)?.testDelivery !== undefined;
  }

  /** For a caller who has locked the connection. Throws 409 `test_not_available` for a provider without a handshake. */
  async run(tx: UnitOfWork, { id: connectionId, slug, workspaceId }: LockedConnection): Promise<Delivery> {
    const verdict = await this.verdict(tx, connectionId, slug, workspaceId);
    const [noted] = await tx.run(NOTE({ id: newId(), connectionId, verdict, event: null, deliveryId: null }));
    this.log.count(slug, verdict);
    const at = (noted?.at ?? new Date()).toISOString();
    return { at, event: null, deliveryId: null, verdict, runIds: [] };
  }

  private async verdict(tx: UnitOfWork, connectionId: string, slug: string, workspaceId: string): Promise<Verdict> {
    const provider = this.catalogue.get(slug);
    if (provider?.testDelivery === undefined) {
      const name = provider?.describe().name ?? slug;
      const message = `${name} has no delivery that starts nothing; send one from there, and read the last deliveries.`;
      throw new ApiError('test_not_available', message);
    }
    const secrets = await this.verifier.secretsOf(tx, connectionId);
    if (secrets?.[0] === undefined) return 'unreadable_secret';
    const receivedAt = new Date();
    const sent = provider.testDelivery(secrets[0], receivedAt);
    if (!(await provider.verify({ ...sent, receivedAt }, secrets))) return 'bad_signature';
    const { payload } = await this.thread.read(sent.body, workspaceId);
    const parsed = provider.parseEvent(sent.headers, payload);
    if (parsed.type === 'handshake') return 'handshake';
    throw new Error(`The test delivery of ${slug} is no handshake, and might start something.`);
  }
}
