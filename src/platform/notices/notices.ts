import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { z } from 'zod';
import { PgChannel } from './pg-channel.js';

const work = z.strictObject({ kind: z.string(), id: z.string() });

/** What a notice may say, by topic. */
const topics = {
  /** A run or a job is there to be claimed. Heard by `RunExecutor` and `JobRunner`. */
  work,
  /** Workers no longer hold these runs: ids. Heard by `RunLeases`. */
  stop: z.array(z.string()),
  /** The tasks of these runs are paused: their workers are to stop soon. Heard by `RunLeases`. */
  pause: z.array(z.string()),
  /** A person stops a command of this task: its id. Heard by `RunStops`. */
  commands: z.string(),
  /** An automation may be due earlier than the workers planned: its id. Heard by `OccurrenceTicker`. */
  automation: z.string(),
  /** Deliveries of a webhook are due: its id. Heard by `DeliverySender`. */
  webhook: z.string(),
  /** There may be new events of these tasks: ids. Heard by `EventSubscriptions`. */
  tasks: z.array(z.string()),
  /** There may be new events in the log of this workspace: its id. Heard by `EventSubscriptions`, `EventHandlers` and `DeliverySender`. */
  workspace: z.string(),
  /** A member is none any more: what it follows ends. Heard by `Streams`. */
  left: z.strictObject({ workspaceId: z.string(), userId: z.string() }),
  /** A secret of this workspace has changed, or is gone: its id. Heard by `RunSecrets`. */
  secrets: z.string(),
  /** Why a model cannot be called; null when it can. Heard by `ModelsModule`. */
  model: z.strictObject({
    id: z.string(),
    refusal: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  }),
  /**
   * The process that sends it is subscribed to these tasks and workspaces. `updates`: it wants what is passed on of them; `begins`: from the
   * beginning of what is at hand.
   */
  subscribed: z.strictObject({ ids: z.array(z.string()), updates: z.boolean(), begins: z.boolean() }),
  /** Something of a task that is passed on while it happens and recorded nowhere. */
  update: z.looseObject({ taskId: z.string() }),
};
const sentSchema = z.strictObject({ from: z.string(), ...z.object(topics).partial().shape });

type Topics = { [T in keyof typeof topics]: z.infer<(typeof topics)[T]> };
type Topic = keyof Topics;
export type Notice = Partial<Topics>;
/** The kind `runs` is a run; every other kind is the name of a queue of jobs, and the id that of a job in it. */
export type Work = Topics['work'];
export type Subscribed = Topics['subscribed'];
/** The kind of a run. No queue of jobs has this name. */
export const RUNS = 'runs';

/** Carries notices of work to a worker instead of PostgreSQL. Bull implements it (`BullQueues`). It never throws. */
export interface WorkCarrier {
  readonly connected: boolean;
  add(work: Work): void;
}

/** Ids of one notice to other processes. */
const TOGETHER = 150;

/** `here`: this process sent the notice. */
type Listener = (value: never, here: boolean) => void;

/**
 * `HERE`: only this process hears these topics, and `EventSubscriptions` passes them on to processes where somebody is subscribed. `ONE`: one
 * process is enough. `AT_ONCE`: is to be over in this process when a request is answered. All topics but those of `HERE` and `ONE` reach every process.
 */
const HERE: ReadonlySet<string> = new Set<Topic>(['tasks', 'workspace']);
const AT_ONCE: ReadonlySet<string> = new Set<Topic>(['left']);
const ONE: ReadonlySet<string> = new Set<Topic>(['work']);

/**
 * A notice tells other parts of the service, in this process and in others, at once that something happened. It may be lost, doubled or
 * reordered. PostgreSQL holds the truth, and every listener also looks there each second. So nobody awaits `send`, and it never throws.
 */
@Injectable()
export class Notices {
  private readonly logger = new Logger(Notices.name);
  private readonly self = randomUUID();
  private readonly listeners = new Map<string, Listener[]>();
  private readonly missed = new Set<() => void>();
  private carrier: WorkCarrier | null = null;

  constructor(private readonly channel: PgChannel) {
    channel.onText((text) => this.receive(text));
    channel.onReconnect(() => this.missed.forEach((call) => call()));
  }

  /** Whether a notice of work reaches a worker now. If not, the work is found within a second. */
  get connected(): boolean {
    return (this.carrier ?? this.channel).connected;
  }

  carryWorkBy(carrier: WorkCarrier): void {
    this.carrier = carrier;
  }

  /**
   * Calls `heard` for each notice on the topic. It must not throw.
   * @param missed is called when notices may have been missed.
   */
  on<T extends Topic>(topic: T, heard: (value: Topics[T], here: boolean) => void, missed?: () => void): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), heard]);
    if (missed !== undefined) this.missed.add(missed);
  }

  /** Tells the listeners in this process, and other processes where needed. In a transaction: `tx.afterCommit(() => notices.send(…))`. */
  send(notice: Notice): void {
    for (const [topic, value] of Object.entries(notice)) {
      if (HERE.has(topic)) this.tell(topic, value, true);
      else if (ONE.has(topic) && this.carrier !== null) this.carrier.add(value as Work);
      else {
        const heard = this.listeners.has(topic);
        if (AT_ONCE.has(topic)) this.tell(topic, value, true);
        // The answer to the request goes out before the listeners run.
        else if (heard) setImmediate(() => this.tell(topic, value, true));
        if (!heard || !ONE.has(topic)) this.passOn({ [topic]: value });
      }
    }
  }

  /** Tells the other processes alone; a long list in several parts, for NOTIFY takes less than 8,000 bytes. */
  passOn(notice: Notice): void {
    for (const [topic, value] of Object.entries(notice)) {
      const parts = Array.isArray(value) ? partsOf(value) : [value];
      for (const part of parts) this.channel.send(JSON.stringify({ from: this.self, [topic]: part }));
    }
  }

  private receive(text: string): void {
    const { from = null, ...notice } = sentOf(text);
    if (from === this.self) return;
    const known = Object.entries(notice);
    // Any user of the database can send on the channel.
    if (known.length === 0) this.logger.warn('A notice that no process of this service sends was ignored.');
    for (const [topic, value] of known) this.tell(topic, value, false);
  }

  private tell(topic: string, value: unknown, here: boolean): void {
    for (const heard of this.listeners.get(topic) ?? []) heard(value as never, here);
  }
}

/** Ids in parts of which each fits into one notice to other processes. */
export function partsOf(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / TOGETHER) }, (_, n) =>
    ids.slice(n * TOGETHER, (n + 1) * TOGETHER),
  );
}

function sentOf(text: string): Partial<z.infer<typeof sentSchema>> {
  try {
    return sentSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}
