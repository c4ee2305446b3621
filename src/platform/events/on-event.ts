// Handlers of events: what the product does when something has happened to a task or an automation.
import 'reflect-metadata';
import type { UnitOfWork } from '../database/unit-of-work.js';

const EVENTS = Symbol('millwright:events');

/** What happened, as reference §17 lists it. */
export interface DomainEvent {
  /** `<taskId>-<seq>` of a task's event, else a UUID: the same whenever the event is handed over. */
  id: string;
  /** For example `task.failed`. */
  type: string;
  workspaceId: string;
  taskId: string | null;
  /** The number among the events of the task; null for an event that is not of a task's own. */
  seq: number | null;
  data: Record<string, unknown>;
  createdAt: Date;
}

/**
 * What a handler is: what it writes in `tx` is committed with the position of the handler. It resolves with false for an event
 * that means nothing to it, about which it has written nothing: the next event then shares the transaction.
 */
export type EventMethod = (event: DomainEvent, tx: UnitOfWork) => Promise<unknown>;

/**
 * Makes a method of a provider the handler of events of these types, in each process that works.
 *
 * - It gets each event at least once, one after the other, in the order of the log, and one process calls it at a time. What it
 *   writes in `tx` happens exactly once, because the position moves in the same transaction. Whatever else it does may happen
 *   again: `event.id` tells.
 * - It may throw. The transaction is rolled back, and the same event comes again after a pause that grows from 1 to 30
 *   seconds. After 20 failures the handler steps over the event; the log and the metric `millwright_event_failures_total` say so.
 * - A new handler begins with what happens after its first boot. Its name is `Class.method`: renamed, it is a new one.
 * - The events of a task that is deleted are gone with it, handled or not; `task.deleted` comes in their place.
 * - It may resolve with false for an event that means nothing to it, about which it has written nothing: the next event then
 *   shares the transaction.
 * - The transaction holds a connection of the requests. It waits for a lock at most 2 s, and must not span a call to elsewhere.
 *
 * @example
 * ```ts
 * @OnEvent('task.failed')
 * async count(event: DomainEvent, tx: UnitOfWork): Promise<void> { … }
 * ```
 */
export function OnEvent(...types: string[]) {
  return <T extends EventMethod>(target: object, method: string, descriptor: TypedPropertyDescriptor<T>): void => {
    if (types.length === 0) throw new Error(`@OnEvent of ${target.constructor.name}.${method}: a type is expected.`);
    if (descriptor.value !== undefined) Reflect.defineMetadata(EVENTS, types, descriptor.value);
  };
}

/** The types that `@OnEvent` gives a method; undefined for any other. */
export function eventTypesOf(method: object): string[] | undefined {
  return Reflect.getMetadata(EVENTS, method) as string[] | undefined;
}
