// Which types of events webhooks have to do with: those of the log of a workspace, and one of their own.
import { ApiError } from '../../platform/http/api-error.js';
import type { JsonSchema } from '../../platform/http/documented.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';

/** Sent on request alone, whatever the types of the webhook are. */
export const TEST_EVENT = 'webhook.test';

/** All that `types` of a webhook may hold: a type, all of a kind, all. */
function patternsOf({ events }: ExtensionSet): string[] {
  const types = events.flatMap(({ type, webhook }) => (webhook ? type : []));
  const kinds = new Set(types.map((type) => `${type.split('.')[0]}.*`));
  return [...types, ...kinds, '*'];
}

const shownTypes = ({ events }: ExtensionSet): string[] => [...events.map(({ type }) => type), TEST_EVENT];

/** Throws 400 unless a webhook may have all of these. */
export function checkPatterns(types: readonly string[] = [], extensions: ExtensionSet): void {
  const known = patternsOf(extensions);
  if (types.every((type) => known.includes(type))) return;
  throw new ApiError('invalid_field', `each of types must be one of ${known.join(', ')}.`, { param: 'types' });
}

/** Throws 400 unless deliveries may be of this type. */
export function checkType(type: string | null, extensions: ExtensionSet): void {
  const known = shownTypes(extensions);
  if (type === null || known.includes(type)) return;
  const message = `type must be one of the following values: ${known.join(', ')}.`;
  throw new ApiError('invalid_query', message, { param: 'type' });
}

/** What the document says of `types`. */
export function documentedPatterns(description: string, extensions: ExtensionSet): JsonSchema {
  const further = extensions.describedEvents.filter(({ webhook }) => webhook);
  const words = [description, ...further.map(({ type, description: what }) => `\`${type}\`: ${what}`)];
  return { description: words.join(' '), items: { type: 'string', enum: patternsOf(extensions) } };
}

/** What the document says of the type of a delivery. */
export const documentedTypes = (description: string, extensions: ExtensionSet): JsonSchema => ({
  description,
  enum: shownTypes(extensions),
});
