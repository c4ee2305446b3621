import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Notices, partsOf, type Subscribed } from '../notices/notices.js';

/** Milliseconds for which a process knows what another one is subscribed to, and how often that is said again. */
const LIVES_MS = 15_000;
const RENEWED_MS = 5_000;
/** Of the JSON of one update. */
const UPDATE_BYTES = 7_000;

/** Something that is passed on while it happens and recorded nowhere: a part of an answer, some output of a command. */
export type LiveUpdate = Record<string, unknown>;

/** Who is subscribed to a task or a workspace. Neither may throw. */
export interface Subscriber {
  /** There may be new events. */
  changed(): void;
  /** Absent: updates are not wanted. */
  onUpdate?: (update: LiveUpdate) => void;
}

/** Where the updates of a task come from. */
export interface UpdateSource {
  /** Somebody has begun to listen: passes on again what is at hand, from its beginning. */
  again(): void;
}

/**
 * Tells those who follow a task or a workspace that there may be new events, in this process by a call and in others by a notice. A
 * notice goes only where somebody has said that it is waited for: one for each write would cost every step a NOTIFY
 * (docs/decisions/0058). It may be lost. A subscriber also looks each second.
 */
@Injectable()
export class EventSubscriptions implements OnModuleInit {
  private readonly subscribers = new Map<string, Set<Subscriber>>();
  private readonly sources = new Map<string, UpdateSource>();
  /** What other processes follow, by their ids: until when, by `performance.now()`. */
  private readonly elsewhere = { changes: new Map<string, number>(), updates: new Map<string, number>() };
  private renewedAt = 0;

  constructor(private readonly notices: Notices) {}

  onModuleInit(): void {
    const { notices } = this;
    notices.on('tasks', (ids, here) => {
      ids.forEach((id) => this.notify(id));
      const far = here ? ids.filter((id) => isAwaited(this.elsewhere.changes, id)) : [];
      if (far.length > 0) notices.passOn({ tasks: far });
    });
    notices.on('workspace', (id, here) => {
      this.notify(id);
      if (here && isAwaited(this.elsewhere.changes, id)) notices.passOn({ workspace: id });
    });
    notices.on('update', (update) =>
      this.subscribers.get(update.taskId)?.forEach(({ onUpdate }) => onUpdate?.(update)),
    );
    // Notices may have been missed, and who tells of what is followed here may be a new process.
    const missed = () => {
      this.announceAll();
      for (const id of this.subscribers.keys()) this.notify(id);
    };
    notices.on('subscribed', (subscribed) => this.subscribedElsewhere(subscribed), missed);
  }

  /** Subscribes to a task or a workspace until the returned function is called. */
  subscribe(id: string, subscriber: Subscriber): () => void {
    const all = this.subscribers.get(id) ?? new Set();
    this.subscribers.set(id, all.add(subscriber));
    this.announce([id], subscriber.onUpdate !== undefined, false);
    return () => {
      all.delete(subscriber);
      if (all.size === 0 && this.subscribers.get(id) === all) this.subscribers.delete(id);
    };
  }

  /** A subscriber that takes updates is ready for them: asks for those of a task that are at hand, from their beginning. */
  join(taskId: string): void {
    this.announce([taskId], true, true);
    this.sources.get(taskId)?.again();
  }

  /** Whether anybody wants the updates of a task. Cheap: asked for each. */
  wantsUpdates(taskId: string): boolean {
    if (isAwaited(this.elsewhere.updates, taskId)) return true;
    const here = this.subscribers.get(taskId);
    if (here === undefined) return false;
    for (const { onUpdate } of here) if (onUpdate !== undefined) return true;
    return false;
  }

  /** Updates of this task come from here until the returned function is called. */
  open(taskId: string, source: UpdateSource): () => void {
    this.sources.set(taskId, source);
    return () => {
      if (this.sources.get(taskId) === source) this.sources.delete(taskId);
    };
  }

  /** Passes an update on to those who want it. Of one that is too long for a notice `halves` makes two. */
  pass(taskId: string, update: LiveUpdate, halves: (update: LiveUpdate) => LiveUpdate[]): void {
    for (const subscriber of this.subscribers.get(taskId) ?? []) subscriber.onUpdate?.(update);
    if (isAwaited(this.elsewhere.updates, taskId)) this.send(taskId, update, halves);
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

  private send(taskId: string, update: LiveUpdate, halves: (update: LiveUpdate) => LiveUpdate[]): void {
    if (Buffer.byteLength(JSON.stringify(update)) <= UPDATE_BYTES) {
      this.notices.passOn({ update: { ...update, taskId } });
    } else for (const half of halves(update)) this.send(taskId, half, halves);
  }

  private announceAll(): void {
    this.renewedAt = performance.now();
    const wants = (id: string) => [...(this.subscribers.get(id) ?? [])].some(({ onUpdate }) => onUpdate !== undefined);
    const ids = [...this.subscribers.keys()];
    this.announce(ids.filter(wants), true, false);
    this.announce(ids.filter((id) => !wants(id)), false, false); // prettier-ignore
  }

  private announce(ids: string[], updates: boolean, begins: boolean): void {
    for (const part of partsOf(ids)) this.notices.passOn({ subscribed: { ids: part, updates, begins } });
  }

  private subscribedElsewhere({ ids, updates, begins }: Subscribed): void {
    const until = performance.now() + LIVES_MS;
    for (const id of ids) {
      this.elsewhere.changes.set(id, until);
      if (!updates) continue;
      this.elsewhere.updates.set(id, until);
      if (begins) this.sources.get(id)?.again();
    }
  }

  private notify(id: string): void {
    for (const subscriber of this.subscribers.get(id) ?? []) subscriber.changed();
  }
}

function isAwaited(known: Map<string, number>, id: string): boolean {
  // Empty where one process does all.
  if (known.size === 0) return false;
  const until = known.get(id);
  return until !== undefined && until >= performance.now();
}
