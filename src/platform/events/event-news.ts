import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type Follows, Notices } from '../notices/notices.js';

/** Milliseconds for which another process tells of what this one follows, and how often it is said again. */
const LIVES_MS = 15_000;
const RENEWED_MS = 5_000;
/** Ids of one notice: a payload of NOTIFY has fewer than 8,000 bytes. */
const TOGETHER = 150;
/** Of the JSON of one piece. */
const PIECE_BYTES = 7_000;

/** Something that is passed on while it happens and recorded nowhere: a part of an answer, some output of a command. */
export type Piece = Record<string, unknown>;

/** Who follows a task or a workspace. Neither may throw. */
export interface Follower {
  /** There may be new events. */
  changed(): void;
  /** Absent: pieces are not wanted. */
  passed?: (piece: Piece) => void;
}

/** Where the pieces of a task come from. */
export interface PieceSource {
  /** Somebody has begun to listen: passes on again what is at hand, from its beginning. */
  again(): void;
}

/**
 * Tells those who follow a task or a workspace that there may be new events, in this process by a call and in others by a notice. A
 * notice goes only where somebody has said that it is waited for: one for each write would cost every step a NOTIFY
 * (docs/decisions/0058). It may be lost. Who follows also looks each second.
 */
@Injectable()
export class EventNews implements OnModuleInit {
  private readonly followers = new Map<string, Set<Follower>>();
  private readonly sources = new Map<string, PieceSource>();
  /** What other processes follow, by their ids: until when, by `performance.now()`. */
  private readonly elsewhere = { changes: new Map<string, number>(), pieces: new Map<string, number>() };
  private renewedAt = 0;

  constructor(private readonly notices: Notices) {}

  onModuleInit(): void {
    const { notices } = this;
    notices.on('tasks', (ids, here) => {
      ids.forEach((id) => this.tell(id));
      const far = here ? ids.filter((id) => isAwaited(this.elsewhere.changes, id)) : [];
      if (far.length > 0) notices.passOn({ tasks: far });
    });
    notices.on('workspace', (id, here) => {
      this.tell(id);
      if (here && isAwaited(this.elsewhere.changes, id)) notices.passOn({ workspace: id });
    });
    notices.on('piece', (piece) => this.followers.get(piece.taskId)?.forEach(({ passed }) => passed?.(piece)));
    // Notices may have been missed, and who tells of what is followed here may be a new process.
    const missed = () => {
      this.announceAll();
      for (const id of this.followers.keys()) this.tell(id);
    };
    notices.on('follows', (follows) => this.heard(follows), missed);
  }

  /** Follows a task or a workspace until the returned function is called. */
  follow(id: string, follower: Follower): () => void {
    const all = this.followers.get(id) ?? new Set();
    this.followers.set(id, all.add(follower));
    this.announce([id], follower.passed !== undefined, false);
    return () => {
      all.delete(follower);
      if (all.size === 0 && this.followers.get(id) === all) this.followers.delete(id);
    };
  }

  /** A follower that takes pieces is ready for them: asks for those of a task that are at hand, from their beginning. */
  join(taskId: string): void {
    this.announce([taskId], true, true);
    this.sources.get(taskId)?.again();
  }

  /** Whether anybody wants the pieces of a task. Cheap: asked for each. */
  wantsPieces(taskId: string): boolean {
    if (isAwaited(this.elsewhere.pieces, taskId)) return true;
    const here = this.followers.get(taskId);
    if (here === undefined) return false;
    for (const { passed } of here) if (passed !== undefined) return true;
    return false;
  }

  /** Pieces of this task come from here until the returned function is called. */
  open(taskId: string, source: PieceSource): () => void {
    this.sources.set(taskId, source);
    return () => {
      if (this.sources.get(taskId) === source) this.sources.delete(taskId);
    };
  }

  /** Passes a piece on to those who want it. Of one that is too long for a notice `halves` makes two. */
  pass(taskId: string, piece: Piece, halves: (piece: Piece) => Piece[]): void {
    for (const follower of this.followers.get(taskId) ?? []) follower.passed?.(piece);
    if (isAwaited(this.elsewhere.pieces, taskId)) this.send(taskId, piece, halves);
  }

  /** Says again what is followed here, and forgets what others follow no more. */
  @Interval(1000)
  renew(): void {
    const now = performance.now();
    for (const known of Object.values(this.elsewhere)) {
      for (const [id, until] of known) if (until < now) known.delete(id);
    }
    if (now - this.renewedAt >= RENEWED_MS) this.announceAll();
  }

  private send(taskId: string, piece: Piece, halves: (piece: Piece) => Piece[]): void {
    if (Buffer.byteLength(JSON.stringify(piece)) <= PIECE_BYTES) {
      this.notices.passOn({ piece: { ...piece, taskId } });
    } else for (const half of halves(piece)) this.send(taskId, half, halves);
  }

  private announceAll(): void {
    this.renewedAt = performance.now();
    const wants = (id: string) => [...(this.followers.get(id) ?? [])].some(({ passed }) => passed !== undefined);
    const ids = [...this.followers.keys()];
    this.announce(ids.filter(wants), true, false);
    this.announce(ids.filter((id) => !wants(id)), false, false); // prettier-ignore
  }

  private announce(ids: string[], pieces: boolean, begins: boolean): void {
    for (let from = 0; from < ids.length; from += TOGETHER) {
      const follows = { ids: ids.slice(from, from + TOGETHER), pieces, begins };
      this.notices.passOn({ follows });
    }
  }

  private heard({ ids, pieces, begins }: Follows): void {
    const until = performance.now() + LIVES_MS;
    for (const id of ids) {
      this.elsewhere.changes.set(id, until);
      if (!pieces) continue;
      this.elsewhere.pieces.set(id, until);
      if (begins) this.sources.get(id)?.again();
    }
  }

  private tell(id: string): void {
    for (const follower of this.followers.get(id) ?? []) follower.changed();
  }
}

function isAwaited(known: Map<string, number>, id: string): boolean {
  // Empty where one process does all.
  if (known.size === 0) return false;
  const until = known.get(id);
  return until !== undefined && until >= performance.now();
}
