import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/sql.js';
import { Turns } from '../../platform/http/turns.js';
import type { Ending, Reader } from './feed.js';
import { STANDS_STILL } from './viewer.sql.js';

/** Of the four connections for events, a workspace has so many at once. */
const OF_WORKSPACE = 2;

/** Reads events, a few batches at once: two hundred streams of one workspace must not keep those of another waiting. */
@Injectable()
export class EventReads {
  private readonly turns = new Turns(OF_WORKSPACE);

  constructor(private readonly database: Database) {}

  async run<Row>(workspaceId: string, query: Query<Row>): Promise<Row[]> {
    const end = await this.turns.take(workspaceId);
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
