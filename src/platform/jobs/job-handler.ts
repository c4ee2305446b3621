// Background work: a class that carries out the jobs of one queue, ours or an extension's.
import 'reflect-metadata';
import { Injectable, type Type } from '@nestjs/common';

/** One try at a job. */
export interface Job<T> {
  /** The same at each attempt: what makes an effect happen once, where the effect can remember it. */
  readonly id: string;
  /** What `JobQueue.add` was given, as JSON brings it: a Date comes back as text. */
  readonly data: T;
  /** 1 at first. */
  readonly attempt: number;
}

export interface JobOptions {
  /** How many jobs of the queue one process carries out at once. Default 4. */
  concurrency?: number;
  /** How long a job is a process's own without a sign of life, in seconds. After a crash others wait so long. Default 60. */
  leaseSeconds?: number;
  /** How often a job is begun before it counts as failed. Default 10: about two hours. */
  attempts?: number;
}

/** Something that lives by the leases of jobs outside of this process's signals, as the commands of a sandbox do. */
export interface LeaseListener {
  /** The database has confirmed a lease when it was asked at that moment, by `performance.now()`. */
  confirmed(askedAt: number): void;
  /** The database was asked, whatever it confirmed. */
  beat(): void;
}

/** Carries out the jobs of one queue. Made known by {@link JobHandler}. */
export abstract class JobWork<T extends object = object> {
  /** Told of the leases of all jobs of the queue that this process has. */
  readonly heartbeat?: LeaseListener;

  /**
   * Does what the job asks for. The job is done, and gone, when this resolves.
   *
   * - At least once: a process may end between the work and its record, and another one begins again. So make the effect
   *   one that can be repeated, or remember `job.id` in the transaction of the effect.
   * - A throw is another attempt, 1 s later, then 3, 9 and so on up to an hour, each shortened by chance to as little as half.
   * - `signal` is aborted when the job is no longer this process's (its lease was not renewed in time) and at the end of the
   *   process, which waits 5 s for it. Throw then: at the end of the process a throw hands the job to another one at once, and
   *   is no attempt. A handler that resolves all the same has done the job.
   */
  abstract handle(job: Job<T>, signal: AbortSignal): Promise<void>;
}

/** What {@link JobHandler} says about a class. */
export type HandlerMark = Required<JobOptions> & { readonly queue: string };

const HANDLER = Symbol('millwright:job-handler');
const NAME = /^[a-z][a-z0-9_.-]{0,62}$/;
const DEFAULTS = { concurrency: 4, leaseSeconds: 60, attempts: 10 };
const LONGEST_LEASE_SECONDS = 86_400;

/** The queues that some class of this program is the handler of, whether or not this process has the class among its providers. */
const DECLARED = new Set<string>();

/**
 * Marks a provider, which extends {@link JobWork}, as the handler of the queue `name`. It is called in
 * processes that work (`ROLE` all or worker) and may be a provider of all. Two handlers of one queue stop the boot.
 *
 * @example
 * ```ts
 * @JobHandler('mails', { attempts: 5 })
 * export class MailWork extends JobWork<{ to: string }> { … }
 * ```
 */
export function JobHandler(name: string, options: JobOptions = {}): ClassDecorator {
  return (target) => {
    const mark = { ...DEFAULTS, ...options, queue: name };
    const problem = problemOf(mark);
    if (problem !== null) throw new Error(`@JobHandler of ${target.name}: ${problem}`);
    DECLARED.add(name);
    Reflect.defineMetadata(HANDLER, mark, target);
    Injectable()(target as unknown as Type<unknown>);
  };
}

/** What `@JobHandler` says about the class of an object; undefined for any other. */
export function handlerMarkOf(provider: object): HandlerMark | undefined {
  return Reflect.getMetadata(HANDLER, provider.constructor) as HandlerMark | undefined;
}

export function isDeclared(queue: string): boolean {
  return DECLARED.has(queue);
}

function problemOf({ queue, concurrency, leaseSeconds, attempts }: HandlerMark): string | null {
  const isCount = (value: number, least: number) => Number.isSafeInteger(value) && value >= least;
  if (!NAME.test(queue) || queue === 'runs') {
    return `'${queue}' cannot name a queue: up to 63 of a-z, 0-9, '.', '_', '-' are expected, a letter first, and not 'runs'.`;
  }
  if (!isCount(concurrency, 1)) return `a whole number from 1 is expected as 'concurrency'.`;
  if (!isCount(attempts, 1)) return `a whole number from 1 is expected as 'attempts'.`;
  if (!isCount(leaseSeconds, 3) || leaseSeconds > LONGEST_LEASE_SECONDS) {
    return `a whole number from 3 to ${LONGEST_LEASE_SECONDS} is expected as 'leaseSeconds'.`;
  }
  return null;
}
