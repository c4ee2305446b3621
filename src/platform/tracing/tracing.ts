import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Collector, Span, SpanFacts } from './collector.js';

export type { Span };

/**
 * The spans of this process (reference §16): request → transaction → run → step → tool. Parents are given, not found: without a
 * store that follows each promise, tracing that is off costs nothing (docs/decisions/0043).
 */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  /** @param collector null while tracing is off. */
  constructor(private readonly collector: Collector | null) {}

  get on(): boolean {
    return this.collector !== null;
  }

  /** Undefined while tracing is off. */
  begin(name: string, facts?: SpanFacts): Span | undefined {
    return this.collector?.begin(name, facts);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.collector?.stop();
  }
}
