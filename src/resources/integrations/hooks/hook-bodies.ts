import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../../../platform/http/api-error.js';
import { readBody } from '../../../platform/http/read-body.js';

const MIB = 1024 * 1024;
/** Of one delivery: as much as GitHub sends. Bytes. */
const LONGEST = 25 * MIB;
/** Of all that this process has in memory. */
const TOGETHER = 64 * MIB;

/** A body of which pieces are still to come. */
interface Arriving {
  bytes: number;
  readonly given: AbortController;
}

/**
 * The bodies of deliveries in memory. Anybody can send them, for who sent one is known when all of it is there. Where they are too many,
 * the longest that is still arriving is refused: slow large ones do not keep out the small ones that providers send.
 */
@Injectable()
export class HookBodies {
  private readonly arriving = new Set<Arriving>();
  private bytes = 0;

  /** Reads a body and has it in memory while `use` runs. Throws 413 above 25 MiB, 503 when there is no room, 400 for one that ends early. */
  async hold<T>(req: Request, use: (body: Buffer) => Promise<T>): Promise<T> {
    const one: Arriving = { bytes: 0, given: new AbortController() };
    this.arriving.add(one);
    try {
      const body = await readBody(req, {
        most: LONGEST,
        inWords: '25 MiB',
        onPiece: (bytes) => this.grow(one, bytes),
        signal: one.given.signal,
      });
      this.arriving.delete(one);
      return await use(body);
    } finally {
      this.release(one);
    }
  }

  private grow(one: Arriving, bytes: number): void {
    one.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes <= TOGETHER) return;
    const longest = [...this.arriving].reduce((a, b) => (b.bytes > a.bytes ? b : a), one);
    this.release(longest);
    longest.given.abort(
      new ApiError('unavailable', 'The service has as many deliveries in memory as it takes; send it again.'),
    );
  }

  private release(one: Arriving): void {
    this.arriving.delete(one);
    this.bytes -= one.bytes;
    one.bytes = 0;
  }
}
