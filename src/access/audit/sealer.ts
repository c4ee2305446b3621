import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { LOCKS } from '../../platform/database/locks.js';
import { Transactions } from '../../platform/database/transactions.js';
import { SEAL, TRY_LOCK, UNSEALED } from './chain.sql.js';
import { BEGINNING, sealOf } from './seal.js';

const BATCH = 500;

/** Seals the rows of the audit log, each with the seal of the one before it in its workspace (reference §14). */
@Injectable()
export class Sealer {
  constructor(private readonly transactions: Transactions) {}

  /** Resolves with the number of sealed rows. */
  @Chore({ every: 4_000, lock: LOCKS.sealing })
  async seal(signal?: AbortSignal): Promise<number> {
    let sealed = 0;
    for (let batch = BATCH; batch === BATCH && signal?.aborted !== true; sealed += batch) batch = await this.sealSome();
    return sealed;
  }

  /** In one transaction, one at a time: the ends of the chains are read and moved in it. */
  private sealSome(): Promise<number> {
    return this.transactions.open(async (tx) => {
      const [lock] = await tx.run(TRY_LOCK());
      const rows = lock?.locked === true ? await tx.run(UNSEALED({ limit: BATCH })) : [];
      if (rows.length === 0) return 0;
      const ends = new Map<string, { seq: number; hash: Buffer }>();
      const sealed = rows.map(({ lastSeq, lastHash, ...row }) => {
        const stored = { seq: lastSeq ?? 0, hash: lastHash === null ? BEGINNING : Buffer.from(lastHash, 'hex') };
        const last = ends.get(row.workspaceId) ?? stored;
        const seq = last.seq + 1;
        const hash = sealOf(last.hash, { ...row, seq });
        ends.set(row.workspaceId, { seq, hash });
        return { ...row, seq, hash };
      });
      await tx.run(
        SEAL({
          workspaceIds: sealed.map((row) => row.workspaceId),
          times: sealed.map(({ at }) => at.toISOString()),
          ids: sealed.map(({ id }) => id),
          seqs: sealed.map(({ seq }) => seq),
          hashes: sealed.map(({ hash }) => hash.toString('hex')),
        }),
      );
      return rows.length;
    });
  }
}
