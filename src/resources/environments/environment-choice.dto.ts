import { IsOptional, ValidateBy } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import type { NamedEnvironment } from './definition.js';

/** By which clients name an environment. */
export const SLUG = /^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/;
export const SLUG_RULE = '1 to 64 small letters, digits and dashes, the first and the last no dash';
const MOST_VERSION = 2_147_483_647;

/** As a client names one: by its slug for the newest version of the moment, or with a version. */
export type EnvironmentChoice = string | { slug: string; version?: number | null };

const isSlug = (value: unknown): boolean => typeof value === 'string' && SLUG.test(value);
const isVersion = (value: unknown): boolean =>
  value == null || (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_VERSION);

function isChoice(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return isSlug(value);
  const { slug, version, ...others } = value as Record<string, unknown>;
  return isSlug(slug) && isVersion(version) && Object.keys(others).length === 0;
}

const slugSchema = { type: 'string', minLength: 1, maxLength: 64, pattern: SLUG.source };
const SCHEMA = {
  anyOf: [
    slugSchema,
    {
      type: 'object',
      properties: { slug: slugSchema, version: { type: ['integer', 'null'], minimum: 1, maximum: MOST_VERSION } },
      required: ['slug'],
      additionalProperties: false,
    },
  ],
};

/** A field that names an environment, or is null. `description` stands in the document. */
export const ChoiceOfEnvironment =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    const defaultMessage = () => '$property must be the slug of an environment, or an object {slug, version}';
    ValidateBy({ name: 'environment', validator: { validate: isChoice, defaultMessage } })(target, key);
    IsOptional()(target, key);
    Documented({ description, ...SCHEMA })(target, key);
  };

/** The choice in one form. */
export function namedBy(choice: EnvironmentChoice): NamedEnvironment {
  if (typeof choice === 'string') return { slug: choice, version: null };
  return { slug: choice.slug, version: choice.version ?? null };
}
