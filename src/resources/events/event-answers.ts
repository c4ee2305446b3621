import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { EventStream, LIMIT, type StreamOptions, type Words } from './event-stream.js';
import type { Ending, Feed } from './feed.js';
import { STREAM_HEADERS } from './frames.js';
import { LongPoll, type Polled } from './long-poll.js';
import { OpenStreams } from './open-streams.js';
import { Streams } from './streams.js';

/** Gives a feed to a client, in one of the two forms. */
@Injectable()
export class EventAnswers {
  constructor(
    private readonly open: OpenStreams,
    private readonly streams: Streams,
  ) {}

  /** Takes the place of a stream. Throws 429 and 503; before anything is looked up, for both may stand for long. */
  place(owner: { workspaceId: string; keyId: string }, res: Response): () => void {
    this.streams.requireRunning();
    const leave = this.open.take(owner);
    // A client that has gone already closes nothing any more.
    if (res.destroyed) leave();
    else res.once('close', leave);
    return leave;
  }

  /** Answers with a stream, or to HEAD with what would begin one. */
  stream(res: Response, feed: Feed, words: Words, options: StreamOptions = {}): void {
    if (res.req.method === 'HEAD') res.writeHead(200, { ...STREAM_HEADERS, ...words.headers }).end();
    else if (!res.destroyed) this.streams.subscribe(new EventStream(feed, res, words, options));
  }

  /**
   * Answers in JSON.
   * @param check throws what the first look at the feed has shown to be wrong with its position.
   */
  async json(
    res: Response,
    feed: Feed,
    { limit = LIMIT, wait = 0 }: { limit?: number; wait?: number },
    check: () => void,
  ): Promise<void> {
    const first = await feed.next(limit);
    check();
    const now = typeof first === 'string' ? first : { batch: first, position: feed.position };
    const mayWait = wait > 0 && res.req.method !== 'HEAD' && !res.destroyed;
    const waits = mayWait && typeof now !== 'string' && now.batch.shown.length === 0;
    const { batch, position } = required(waits ? await this.waited(res, feed, limit, wait) : now);
    const events = batch.shown.map(({ event }) => event);
    if (!res.destroyed) res.json({ events, position, caughtUp: batch.caughtUp });
  }

  private waited(res: Response, feed: Feed, limit: number, seconds: number): Promise<Polled | Ending> {
    const poll = new LongPoll(feed, limit, seconds * 1000);
    res.once('close', () => poll.leave());
    this.streams.subscribe(poll);
    return poll.answer();
  }
}

function required(found: Polled | Ending): Polled {
  if (found === 'gone') throw notFound('task');
  if (found === 'unauthorized') {
    throw new ApiError('invalid_credential', 'The credential was ended, or its owner is no member any more.');
  }
  return found;
}
