import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HostError } from '../../engine/repositories/hosting/host-error.js';
import { HOST_LISTS } from '../../platform/fairness/shares.js';
import { WorkspaceSemaphore } from '../../platform/fairness/workspace-semaphore.js';

/** Adds rows page by page and resolves with whether these are all. Rejects with {@link HostError}, and with the reason of the signal. */
export type Fill<T> = (add: (rows: readonly T[]) => void, signal: AbortSignal) => Promise<boolean>;

/** What is known of a list of a host. */
export interface Known<T> {
  rows: readonly T[];
  /** Whether the host has given all of it just now, or a minute ago at most. */
  whole: boolean;
  /** Why not, when the host was asked and failed. */
  failure: HostError | null;
}

interface Kept extends Known<unknown> {
  askedAt: number;
  /** A host that has failed is left alone until then. */
  notBefore: number;
  characters: number;
}

interface Run {
  rows: unknown[];
  done: Promise<void>;
}

const FRESH_MS = 60_000;
/** Between two questions for one list, for all who ask together, and after a failure. */
const REFRESH_MS = 2000;
/** So long a request waits for a host. The question goes on, for those who ask next. */
const PATIENCE_MS = 5000;
/** A question with all its pages. */
const RUN_MS = 30_000;
const MAX_LISTS = 500;
/** Of all lists together, as JSON. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * What hosts have answered, in this process. One question is under way for a list, whatever number of requests wants it. A list that could
 * not be read again stays as it was, and says so.
 */
@Injectable()
export class HostLists implements OnModuleDestroy {
  /** Those used last stand last. */
  private readonly kept = new Map<string, Kept>();
  private readonly runs = new Map<string, Run>();
  private readonly turns = new WorkspaceSemaphore(HOST_LISTS);
  private readonly end = new AbortController();

  onModuleDestroy(): void {
    this.end.abort(new Error('The process ends.'));
  }

  /**
   * @param list of all lists of the workspace.
   * @param refresh whether what is a moment old will not do.
   */
  async read<T>(workspaceId: string, list: string, refresh: boolean, fill: Fill<T>): Promise<Known<T>> {
    const key = `${workspaceId} ${list}`;
    const kept = this.kept.get(key);
    if (kept !== undefined) this.keep(key, kept);
    const known = kept as Known<T> | undefined;
    if (kept !== undefined && known !== undefined && isGood(kept, refresh)) return known;
    const run = this.runs.get(key) ?? this.begin(workspaceId, key, fill);
    const left = new AbortController();
    const late = wait(PATIENCE_MS, 'late' as const, { signal: left.signal, ref: false }).catch(() => 'late' as const);
    const first = await Promise.race([run.done, late]);
    left.abort();
    const now = this.kept.get(key) as Known<T> | undefined;
    if (first !== 'late' && now !== undefined) return now;
    return { rows: known?.rows ?? ([...run.rows] as T[]), whole: false, failure: null };
  }

  private begin<T>(workspaceId: string, key: string, fill: Fill<T>): Run {
    const [rows, askedAt]: [T[], number] = [[], Date.now()];
    const done = async () => {
      let failure: HostError | null = null;
      let whole = false;
      try {
        const signal = AbortSignal.any([this.end.signal, AbortSignal.timeout(RUN_MS)]);
        const release = await this.turns.acquire(workspaceId, signal);
        try {
          whole = await fill((more) => rows.push(...more), signal);
        } finally {
          release();
        }
      } catch (error) {
        failure = error instanceof HostError ? error : new HostError('unreachable', null, { cause: error });
      }
      const before = (this.kept.get(key) as (Kept & Known<T>) | undefined)?.rows ?? [];
      // The host may have failed behind its first page.
      const found = failure !== null && rows.length < before.length && !isGone(failure) ? before : rows;
      const pause = failure?.retryAfterSeconds == null ? REFRESH_MS : failure.retryAfterSeconds * 1000;
      const notBefore = failure === null ? 0 : Date.now() + pause;
      const characters = key.length + JSON.stringify(found).length;
      this.keep(key, { rows: found, whole, failure, askedAt, notBefore, characters });
      this.runs.delete(key);
    };
    const run = { rows, done: done() };
    this.runs.set(key, run);
    return run;
  }

  private keep(key: string, kept: Kept): void {
    this.kept.delete(key);
    this.kept.set(key, kept);
    let characters = 0;
    for (const one of this.kept.values()) characters += one.characters;
    for (const [oldest, one] of this.kept) {
      if (this.kept.size <= MAX_LISTS && characters <= MAX_CHARACTERS) return;
      characters -= one.characters;
      this.kept.delete(oldest);
    }
  }
}

function isGood({ failure, askedAt, notBefore }: Kept, refresh: boolean): boolean {
  const age = Date.now() - askedAt;
  return failure === null ? age < (refresh ? REFRESH_MS : FRESH_MS) : Date.now() < notBefore;
}

/** What the host says it has not, or not for this credential, is known no more. */
function isGone({ code }: HostError): boolean {
  return code === 'not_found' || code === 'moved' || code === 'forbidden' || code === 'refused';
}
