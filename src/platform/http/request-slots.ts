import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ARRIVALS, REQUESTS } from '../fairness/shares.js';
import { ApiError } from './api-error.js';
import { networkOf } from './network.js';
import { type Notes, notesOf } from './request-notes.js';
import { KeyedSemaphore } from '../fairness/keyed-semaphore.js';

/** After an answer of so many bytes a workspace has few reads at once for a while: each of 1 MiB takes the event loop 10 ms. */
const LONG_BYTES = 128 * 1024;
const LONG_MS = 1_000;
/** How long a request waits for its turn, in milliseconds. */
const PATIENCE_MS = 10_000;
/** Milliseconds. Longer than any statement (30 s, `connectionOptions`): nothing of the request is under way any more. */
const LOST_MS = 40_000;

/**
 * How many requests of one workspace a process works on at once; the others wait, the one that waits longest is next. Without
 * it 400 requests of one workspace took all connections and the event loop, and another workspace's request waited 0.4 s, then
 * five seconds, and was 503 (docs/decisions/0045). Each rejects with 503 when the turn does not come in time, which its own workspace
 * alone can bring about.
 */
@Injectable()
export class RequestSlots {
  private readonly arriving = new KeyedSemaphore(ARRIVALS.ofCredential, ARRIVALS.inRound);
  private readonly addresses = new KeyedSemaphore(ARRIVALS.ofAddress, ARRIVALS.inRound);
  private readonly reading = new KeyedSemaphore((workspaceId) =>
    this.readsLong(workspaceId) ? REQUESTS.longReads : REQUESTS.reads,
  );
  /** Until when the next answers of a workspace may be long. */
  private readonly longUntil = new Map<string, number>();
  private readonly writing = new KeyedSemaphore(REQUESTS.writes);
  private readonly parsing = new KeyedSemaphore(REQUESTS.parsed);

  /**
   * Resolves when a request may be looked at: who sends it, and whether they may. Its turn ends with {@link arrived}, or with its answer
   * when it is refused. 600 connections whose every request is refused would else have all connections to the database
   * (docs/decisions/0075).
   */
  async arrive(req: Request, res: Response): Promise<void> {
    const address = networkOf(req.ip ?? '');
    const credential = req.headers.authorization ?? req.headers.cookie;
    const notes = notesOf(req);
    const own = credential === undefined ? undefined : await taken(this.arriving, `${address} ${credential}`);
    const ends = own === undefined ? [] : [own];
    notes.arriving = () => ends.forEach((end) => end());
    // Before the wait for the second turn: the client may leave meanwhile, and may have left already.
    res.once('close', () => this.closed(req));
    if (res.destroyed) this.closed(req);
    const shared = await taken(this.addresses, address);
    if (notes.arriving === undefined) shared();
    else ends.push(shared);
    requireClient(res);
  }

  /** For the guard that lets a request in. May be called again. */
  arrived(req: Request): void {
    const notes = notesOf(req);
    notes.arriving?.();
    notes.arriving = undefined;
  }

  /** Resolves when a read may go on. Its turn ends when its answer is given to the connection ({@link watch}). */
  async read(req: Request, res: Response): Promise<void> {
    const notes = notesOf(req);
    if (notes.workspaceId === undefined) return;
    notes.reading = await taken(this.reading, notes.workspaceId);
    if (res.destroyed) endRead(notes);
    requireClient(res);
  }

  /**
   * Ends the turn of a read with its answer, and not with the end of the connection: a client that closes at once would have all it asks for
   * under way at once, and one that reads slowly would keep others of its workspace waiting.
   * @param response from which those of the application inherit: a property of each one made a GET 3 % slower.
   */
  watch(response: Response): void {
    const answer = Reflect.get(response, 'end') as (this: Response, ...args: unknown[]) => Response;
    const answered = (res: Response) => this.answered(res);
    response.end = function (this: Response, ...args: unknown[]) {
      answered(this);
      return answer.apply(this, args);
    } as Response['end'];
  }

  /**
   * Carries out the transaction of a request in a turn. Around the transaction and not around the request: a duplicate that waits for
   * the first of its key has no turn.
   */
  async write<T>(req: Request, res: Response, work: () => Promise<T>): Promise<T> {
    const { workspaceId } = notesOf(req);
    if (workspaceId === undefined) return work();
    const end = await taken(this.writing, workspaceId);
    try {
      requireClient(res);
      return await work();
    } finally {
      end();
    }
  }

  private answered(res: Response): void {
    const notes = notesOf(res.req);
    if (notes.reading === undefined) return;
    if (Number(res.getHeader('Content-Length')) > LONG_BYTES) {
      this.longUntil.set(notes.workspaceId as string, performance.now() + LONG_MS);
    }
    endRead(notes);
  }

  private closed(req: Request): void {
    this.arrived(req);
    const notes = notesOf(req);
    const { reading } = notes;
    if (reading === undefined) return;
    // A handler that takes @Res may find its client gone and answer nothing.
    const lost = setTimeout(() => endRead(notes), LOST_MS).unref();
    notes.reading = () => {
      clearTimeout(lost);
      reading();
    };
  }

  private readsLong(workspaceId: string): boolean {
    const until = this.longUntil.get(workspaceId);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.longUntil.delete(workspaceId);
    return false;
  }

  /** Parses a body in a turn: of several long ones of a workspace one in each round of the event loop. */
  async parse<T>(req: Request, parse: () => T): Promise<T> {
    const end = await taken(this.parsing, notesOf(req).workspaceId ?? '');
    try {
      return parse();
    } finally {
      end();
    }
  }
}

/** Nothing is done for a client that did not wait, and nobody reads this. */
function requireClient(res: Response): void {
  if (res.destroyed) throw new ApiError('invalid_body', 'The client left before its request had its turn.');
}

/** A body that waits is in memory, so none waits for ever. */
function taken(turns: KeyedSemaphore, key: string): (() => void) | Promise<() => void> {
  return (
    turns.tryAcquire(key) ??
    turns.acquire(key, undefined, PATIENCE_MS).catch(() => {
      throw new ApiError(
        'unavailable',
        'Too many requests of this workspace or address are under way; send this one again.',
      );
    })
  );
}

function endRead(notes: Notes): void {
  notes.reading?.();
  notes.reading = undefined;
}
