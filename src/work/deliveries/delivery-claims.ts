import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { CANCEL } from '../../resources/webhooks/webhooks.sql.js';
import {
  CLAIM,
  type ClaimedDelivery,
  END_LEASES,
  HAND_BACK,
  LOOK,
  RECORD,
  type Result,
  TAKE_TURN,
} from './deliveries.sql.js';

/** How long a look may take, in milliseconds: one that hangs must not keep others from being made. */
const LIMIT_MS = 5_000;

interface Wanted {
  /** How many at most. */
  places: number;
  /** How many of them and of what this process has may be of one workspace. */
  share: number;
  /** What this process has, by workspace. */
  held: ReadonlyMap<string, number>;
}

/** Who has a delivery: look, claim, record, hand back. */
@Injectable()
export class DeliveryClaims {
  constructor(private readonly database: Database) {}

  /** Whether there may be something to claim. */
  async look(): Promise<boolean> {
    return (await this.database.polling.run(LOOK(), LIMIT_MS)).length > 0;
  }

  /**
   * Claims what is due. Two processes that claim at once could both count a workspace below its share. So they claim one after the other: the
   * first statement of the transaction takes a lock, and the second one, which counts, sees what the process before has committed.
   */
  async claim({ places, share, held }: Wanted): Promise<ClaimedDelivery[]> {
    const client = await this.database.claims.connect();
    let done = false;
    try {
      await client.query('BEGIN');
      await client.query(TAKE_TURN());
      const claim = CLAIM({ places, share, heldWorkspaces: [...held.keys()], heldCounts: [...held.values()] });
      const claimed = claim.rowsOf(await client.query(claim));
      await client.query('COMMIT');
      done = true;
      return claimed;
    } finally {
      // A connection whose transaction is open is closed, and PostgreSQL takes it back.
      client.release(!done);
    }
  }

  /** Resolves with the webhooks that have no future by this; what waited for them is cancelled. */
  async record(results: readonly Result[]): Promise<string[]> {
    const disabled = (await this.database.work.run(RECORD({ results }))).map(({ id }) => id);
    if (disabled.length > 0) await this.database.work.run(CANCEL({ ids: disabled }));
    return disabled;
  }

  async handBack(deliveries: readonly Pick<ClaimedDelivery, 'id' | 'epoch'>[]): Promise<void> {
    const [ids, epochs] = [deliveries.map(({ id }) => id), deliveries.map(({ epoch }) => epoch)];
    await this.database.work.run(HAND_BACK({ ids, epochs }));
  }

  /** When no other process can have one. */
  async endLeases(): Promise<void> {
    await this.database.polling.run(END_LEASES(), LIMIT_MS);
  }
}
