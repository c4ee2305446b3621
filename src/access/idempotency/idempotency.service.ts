// Record and effect of a keyed request live in one transaction, so they exist together or not at all (reference §8).
import { Injectable } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { waitedForMembership } from '../auth/held-membership.js';
import { CLAIM, FIND, STORE } from './idempotency.sql.js';
import { type Answer, inProgress, type KeyedRequest, replayOf } from './keyed-request.js';

@Injectable()
export class IdempotencyService {
  /**
   * Performs a request unless it was performed before, in the transaction of its effect. Waits up to two seconds for one
   * with the same key that is still running. Throws 409 for another body, or when it is still running then.
   */
  async once(tx: UnitOfWork, request: KeyedRequest, perform: () => Promise<Answer>): Promise<Answer> {
    if (!(await this.claim(tx, request))) return this.replay(tx, request);
    const answer = await perform();
    await tx.runWithNext(STORE({ ...request, ...answer }));
    return answer;
  }

  private async claim(tx: UnitOfWork, request: KeyedRequest): Promise<boolean> {
    try {
      return (await tx.run(CLAIM(request))).length > 0;
    } catch (error) {
      const locked = (error as { code?: string }).code === '55P03';
      // The lock on the membership travels with the claim, and is no request with the same key.
      throw locked && !waitedForMembership(error) ? inProgress() : error;
    }
  }

  private async replay(tx: UnitOfWork, request: KeyedRequest): Promise<Answer> {
    const [found] = await tx.run(FIND(request));
    if (found === undefined) throw inProgress();
    return replayOf(found, found.fingerprint, request);
  }
}
