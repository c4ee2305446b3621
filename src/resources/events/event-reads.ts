import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/sql.js';
import { EVENT_READS } from '../../platform/fairness/shares.js';
import { KeyedSemaphore } from '../../platform/fairness/keyed-semaphore.js';
import type { Ending, Reader } from './feed.js';
import { STANDS_STILL } from './viewer.sql.js';

/** Reads events, of each workspace a few batches at once. */
@Injectable()
export class EventReads {
  private readonly turns = new KeyedSemaphore(EVENT_READS);

  constructor(private readonly database: Database) {}

  async run<Row>(workspaceId: string, query: Query<Row>): Promise<Row[]> {
    const end = await this.turns.acquire(workspaceId);
    try {
      return await this.database.events.run(query);
    } finally {
      end();
    }
  }

  /** For a look at many streams, of all workspaces. */
  look<Row>(query: Query<Row>): Promise<Row[]> {
    return this.database.events.run(query);
  }

  /** Why a batch had no row. */
  async ending({ workspaceId, keyId, session }: Reader): Promise<Ending> {
    const stands = await this.run(workspaceId, STANDS_STILL({ keyId, session }));
    return stands.length === 0 ? 'unauthorized' : 'gone';
  }
}
