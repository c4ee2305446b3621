import { IsOptional, ValidateBy } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { SLUG } from '../environments/environment-choice.dto.js';

/** By which a version is named that an agent moves from one to the next. It is no number: those are versions. */
export const CHANNEL = /^[a-z][a-z0-9-]{0,39}$/;
export const CHANNEL_RULE = '1 to 40 small letters, digits and dashes, the first a letter';
const VERSION = /^[1-9]\d{0,8}$/;

/** An agent as clients name it. Both null: its newest version. */
export interface NamedAgent {
  slug: string;
  version: number | null;
  channel: string | null;
}

/** What a client has written: `slug`, `slug@3` or `slug@stable`. Null: it is none of them. */
export function agentNamed(text: string): NamedAgent | null {
  const [slug = '', which, ...more] = text.split('@');
  if (!SLUG.test(slug) || more.length > 0) return null;
  if (which === undefined) return { slug, version: null, channel: null };
  if (VERSION.test(which)) return { slug, version: Number(which), channel: null };
  return CHANNEL.test(which) ? { slug, version: null, channel: which } : null;
}

/** A field that names an agent, or is null. `description` stands in the document. */
export const ChoiceOfAgent =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    const validate = (value: unknown) => typeof value === 'string' && agentNamed(value) !== null;
    const defaultMessage = () =>
      '$property must be the slug of an agent, or with a version or a channel: reviewer, reviewer@3, reviewer@stable';
    ValidateBy({ name: 'agent', validator: { validate, defaultMessage } })(target, key);
    IsOptional()(target, key);
    const pattern = `${SLUG.source.slice(0, -1)}(@([1-9][0-9]{0,8}|[a-z][a-z0-9-]{0,39}))?$`;
    Documented({ description, type: 'string', minLength: 1, maxLength: 105, pattern })(target, key);
  };
