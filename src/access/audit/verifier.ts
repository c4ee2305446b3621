import { Injectable } from '@nestjs/common';
import { Transactions } from '../../platform/database/transactions.js';
import { INSTALLATION } from './audit-entry.entity.js';
import { ANCHOR, BEYOND, type Chain, CHAINS, SLICE, type SliceRow } from './chain.sql.js';
import { BEGINNING, sealOf } from './seal.js';

const ROWS = 2_000;

/** The first row of a chain that is not as it was sealed. `id` is null where a row is missing. */
export interface Broken {
  seq: number;
  id: string | null;
  reason: string;
}

/** A chain as it was found; `workspace` is null for the installation itself. Compare `seq` and `hash` with copies of them that you keep elsewhere. */
export interface VerifiedChain {
  workspace: string | null;
  /** Rows that were read: dropped months have none. */
  rows: number;
  seq: number;
  hash: string | null;
  broken: Broken | null;
}

/** Walks the chains of the audit log (reference §14), while the service writes or not. */
@Injectable()
export class AuditVerifier {
  constructor(private readonly transactions: Transactions) {}

  /** @param walked is called with how many rows were read so far. */
  async verify(walked: (rows: number) => void = () => undefined): Promise<VerifiedChain[]> {
    const found: VerifiedChain[] = [];
    let before = 0;
    for (const chain of await this.transactions.run(CHAINS({ only: null }))) {
      const { rows, broken } = await this.walk(chain, (rows) => walked(before + rows));
      before += rows;
      // A workspace that was deleted meanwhile loses its rows.
      if (broken !== null && (await this.transactions.run(CHAINS({ only: chain.workspaceId }))).length === 0) continue;
      found.push({ workspace: chain.slug, rows, seq: chain.seq, hash: chain.hash, broken });
    }
    return found;
  }

  private async walk(
    { workspaceId, seq: end, hash: endHash }: Chain,
    walked: (rows: number) => void,
  ): Promise<{ rows: number; broken: Broken | null }> {
    let rows = 0;
    let last = { seq: 0, hash: BEGINNING, at: null as Date | null, id: INSTALLATION };
    for (;;) {
      const slice = await this.transactions.run(SLICE({ ...last, workspaceId, end, limit: ROWS }));
      for (const row of slice) {
        const broken = brokenAt(row, last);
        if (broken !== null) return { rows, broken };
        rows += 1;
        last = { seq: row.seq, hash: Buffer.from(row.hash, 'hex'), at: row.at, id: row.id };
      }
      walked(rows);
      if (slice.length < ROWS) break;
    }
    return { rows, broken: await this.brokenEnd(workspaceId, last, { seq: end, hash: endHash }) };
  }

  private async brokenEnd(
    workspaceId: string,
    last: { seq: number; hash: Buffer },
    end: { seq: number; hash: string | null },
  ): Promise<Broken | null> {
    const [beyond] = await this.transactions.run(BEYOND({ workspaceId }));
    if (beyond !== undefined) return { ...beyond, reason: 'It stands behind the end of the chain.' };
    if (end.seq === last.seq && (end.hash === null || end.hash === last.hash.toString('hex'))) return null;
    if (end.seq === last.seq) return { seq: end.seq, id: null, reason: 'The end of the chain has another seal.' };
    const [anchor] = await this.transactions.run(ANCHOR({ workspaceId, seq: end.seq }));
    return anchor?.hash === end.hash ? null : missing(last.seq + 1, end.seq);
  }
}

/** Null for a row that follows from the one before it, or from one that was dropped with its month. */
function brokenAt(row: SliceRow, last: { seq: number; hash: Buffer }): Broken | null {
  const { seq, id } = row;
  if (seq === last.seq) return { seq, id, reason: 'Two rows have this place.' };
  const previous =
    seq === last.seq + 1 ? last.hash : row.anchorHash === null ? null : Buffer.from(row.anchorHash, 'hex');
  if (previous === null) return missing(last.seq + 1, seq - 1);
  if (sealOf(previous, row).toString('hex') === row.hash) return null;
  return { seq, id, reason: 'Its seal does not fit what it says, or the row before it.' };
}

function missing(first: number, last: number): Broken {
  const reason = first === last ? 'This row is missing.' : `The rows from here to ${last} are missing.`;
  return { seq: first, id: null, reason };
}
