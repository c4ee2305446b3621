// What the providers read in their payloads (reference §13).
import type { IntegrationDescription, Parsed } from '../integration-provider.js';

/** The text at a path of objects, such as `event`, `id`; undefined when something else stands there, or nothing. */
export function textAt(payload: unknown, ...path: string[]): string | undefined {
  const found = valueAt(payload, ...path);
  return typeof found === 'string' ? found : undefined;
}

export function valueAt(payload: unknown, ...path: string[]): unknown {
  let value = payload;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** An event by its name, and its action if there is one. An id that is not what ids look like counts as none. */
export function eventOf(deliveryId: string | undefined, name: string | undefined, action?: string): Parsed {
  const event = action === undefined ? (name ?? '') : `${name ?? ''}.${action}`;
  return {
    type: 'event',
    event: event.length <= 200 && /^[a-z0-9_]+(\.[a-z0-9_]+)*$/.test(event) ? event : 'unknown',
    deliveryId: deliveryId !== undefined && /^[\x21-\x7e]{1,200}$/.test(deliveryId) ? deliveryId : null,
  };
}

/** A question of the provider that this body answers. */
export function handshake(body: object): Parsed {
  return { type: 'handshake', answer: { status: 200, body } };
}

/** `{ issues: { opened: 'An issue was opened.' }, push: 'Commits were pushed.' }` as the list of a description. */
export function eventList(
  events: Record<string, string | Record<string, string>>,
): IntegrationDescription['triggerEvents'] {
  return Object.entries(events).flatMap(([name, said]) =>
    typeof said === 'string'
      ? [{ name, description: said }]
      : Object.entries(said).map(([action, description]) => ({ name: `${name}.${action}`, description })),
  );
}
