import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Metrics } from '../../platform/metrics/metrics.js';

const OF_KEY = 20;
const OF_WORKSPACE = 200;

/** Counts the streams of this process, with the requests that wait for events (reference §17). */
@Injectable()
export class OpenStreams {
  private readonly counts = new Map<string, number>();
  private open = 0;

  constructor(
    private readonly env: Env,
    metrics: Metrics,
  ) {
    metrics.gauge('event_streams', 'Open streams of events, and requests that wait for one.', null, () =>
      Promise.resolve([['', this.open]]),
    );
  }

  /** One more, until the returned function is called; that may be twice. Throws 429 `too_many_streams`. */
  take({ workspaceId, keyId }: { workspaceId: string; keyId: string }): () => void {
    this.refuse(keyId, OF_KEY, 'This credential');
    this.refuse(workspaceId, OF_WORKSPACE, 'This workspace');
    const { MAX_STREAMS } = this.env.variables;
    if (this.open >= MAX_STREAMS) throw tooMany('This service', MAX_STREAMS);
    const ids = [keyId, workspaceId];
    for (const id of ids) this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    this.open += 1;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.open -= 1;
      for (const id of ids) this.less(id);
    };
  }

  private less(id: string): void {
    const left = (this.counts.get(id) ?? 0) - 1;
    if (left > 0) this.counts.set(id, left);
    else this.counts.delete(id);
  }

  private refuse(id: string, most: number, whose: string): void {
    if ((this.counts.get(id) ?? 0) >= most) throw tooMany(whose, most);
  }
}

function tooMany(whose: string, most: number): ApiError {
  return new ApiError('too_many_streams', `${whose} has ${most} open streams; close one, or wait until one ends.`);
}
