// The types of events that a webhook may subscribe to (reference §17, §18).
import { t } from '../../texts/index.ts';

export const TYPES: string[] = Object.keys(t.webhooks.typeWords);
export const KINDS = ['task', 'check', 'automation'] as const;
export const TEST = 'webhook.test';

export function typesInWords(types: string[]): string {
  if (types.includes('*')) return t.webhooks.everything;
  return types.map((type) => (type.endsWith('.*') ? t.webhooks.pattern(type.slice(0, -2)) : type)).join(', ');
}

/** Whether one that is chosen says so of another one. */
export const isCovered = (type: string, chosen: ReadonlySet<string>): boolean =>
  (type !== '*' && chosen.has('*')) || (!type.endsWith('*') && chosen.has(`${type.split('.')[0]}.*`));

/** Those that say all of it. */
export const withoutCovered = (chosen: ReadonlySet<string>): string[] =>
  [...chosen].filter((type) => !isCovered(type, chosen));
