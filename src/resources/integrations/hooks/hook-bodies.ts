import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../../platform/http/api-error.js';
import { readBody } from '../../../platform/http/read-body.js';
import { HOOKS } from '../../../platform/fairness/shares.js';
import { KeyedSemaphore } from '../../../platform/fairness/keyed-semaphore.js';

const MIB = 1024 * 1024;
/** Of one delivery: as much as GitHub sends. Bytes. */
const LONGEST = 25 * MIB;
/** Of all that this process has in memory. */
const TOGETHER = 64 * MIB;

/** A body that is still arriving, or has arrived and waits for its turn. */
interface Waiting {
  readonly connectionId: string;
  bytes: number;
  readonly given: AbortController;
}

/**
 * The bodies of deliveries in memory. Anybody can send them, for who sent one is known when all of it is there. Where they are too many,
 * the longest that is not in use yet of the connection with the most bytes is refused: a flood to one connection, and slow large bodies,
 * do not keep out the small ones that providers send to others.
 *
 * The bodies of one connection are used a few at a time. A turn begins when the body is there, so that slow senders have none.
 */
@Injectable()
export class HookBodies {
  private readonly waiting = new Set<Waiting>();
  private readonly turns = new KeyedSemaphore(HOOKS.ofConnection);
  private bytes = 0;

  /** Reads a body and has it in memory while `use` runs. Throws 413 above 25 MiB, 503 when there is no room, 400 for one that ends early. */
  async hold<T>(connectionId: string, req: Request, use: (body: Buffer) => Promise<T>): Promise<T> {
    const one: Waiting = { connectionId, bytes: 0, given: new AbortController() };
    this.waiting.add(one);
    try {
      const body = await readBody(req, {
        most: LONGEST,
        inWords: '25 MiB',
        onPiece: (bytes) => this.grow(one, bytes),
        signal: one.given.signal,
      });
      const end = await this.turns.acquire(connectionId, one.given.signal);
      try {
        one.given.signal.throwIfAborted();
        this.waiting.delete(one);
        return await use(body);
      } finally {
        end();
      }
    } finally {
      this.release(one);
    }
  }

  private grow(one: Waiting, bytes: number): void {
    one.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes <= TOGETHER) return;
    const refused = this.longestOfMost() ?? one;
    this.release(refused);
    refused.given.abort(
      new ApiError('unavailable', 'The service has as many deliveries in memory as it takes; send it again.'),
    );
  }

  private longestOfMost(): Waiting | undefined {
    const sums = new Map<string, number>();
    for (const { connectionId, bytes } of this.waiting) {
      sums.set(connectionId, (sums.get(connectionId) ?? 0) + bytes);
    }
    const [most] = [...sums].sort(([, a], [, b]) => b - a)[0] ?? [];
    const own = [...this.waiting].filter(({ connectionId }) => connectionId === most);
    return own.sort((a, b) => b.bytes - a.bytes)[0];
  }

  private release(one: Waiting): void {
    this.waiting.delete(one);
    this.bytes -= one.bytes;
    one.bytes = 0;
  }
}
