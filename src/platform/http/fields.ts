// Checks that fields of several resources share.
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  getMetadataStorage,
  IsArray,
  IsString,
  Matches,
  MaxLength,
  ValidateBy,
  ValidateIf,
  ValidationTypes,
} from 'class-validator';
import { momentOf } from '../text/instant.js';
import { isName, NAME_PATTERN, NAME_RULE, TAG_PATTERN } from '../text/names.js';
import { Documented, documented } from './documented.js';

/** The field may be absent; null is not absent. */
export const OptionalNotNull = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);

const named = (value: unknown): boolean => typeof value === 'string' && isName(value);

/** A name or title: one line of 1 to 200 characters after trimming. `description` stands in the document. */
export const Name =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ description, pattern: NAME_PATTERN })(target, key);
    // Registered from the last check to the first: the pipe answers the one that was registered last.
    ValidateBy({
      name: 'name',
      validator: { validate: named, defaultMessage: () => `$property must be ${NAME_RULE}` },
    })(target, key);
    Matches(/\S/, { message: '$property must not be blank' })(target, key);
    MaxLength(200)(target, key);
    IsString()(target, key);
    Transform(trimmed)(target, key);
  };

/** Text without the white space around it; anything else is left for the validator to refuse. */
function trimmed({ value }: { value: unknown }): unknown {
  return typeof value === 'string' ? value.trim() : value;
}

const TAG = new RegExp(TAG_PATTERN, 'u');
const isTag = (value: unknown): boolean => typeof value === 'string' && TAG.test(value) && [...value].length <= 64;

/** At most 16 different tags of 1 to 64 characters. `description` stands in the document. */
export const Tags =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    const items = { type: 'string', minLength: 1, maxLength: 64, pattern: TAG_PATTERN };
    Documented({ description, type: 'array', uniqueItems: true, items })(target, key);
    ValidateBy({
      name: 'different',
      validator: {
        validate: (value) => !Array.isArray(value) || new Set(value).size === value.length,
        defaultMessage: () => '$property must not contain a tag twice',
      },
    })(target, key);
    ValidateBy({
      name: 'tags',
      validator: {
        validate: (value) => !Array.isArray(value) || value.every(isTag),
        defaultMessage: () =>
          `$property must be tags of 1 to 64 characters, each ${NAME_RULE}, and without white space around it`,
      },
    })(target, key);
    ArrayMaxSize(16)(target, key);
    IsArray()(target, key);
    OptionalNotNull()(target, key);
  };

/** A time, or a day. `description` stands in the document. */
export const Moment =
  (description: string, required = false): PropertyDecorator =>
  (target, key): void => {
    Documented({ type: 'string', description: `${description} A date is its beginning in UTC.` })(target, key);
    ValidateBy({
      name: 'moment',
      validator: {
        validate: (value) => typeof value === 'string' && momentOf(value) !== null,
        defaultMessage: () => '$property must be a date, or a time with Z or an offset, such as 2026-12-01T09:00:00Z',
      },
    })(target, key);
    if (!required) OptionalNotNull()(target, key);
  };

/**
 * Whether a body of this class may be `{}`: each field may be left out, and the document asks for none of them (`anyOf`), as it does
 * where one of several must be there.
 */
export function allOptional(type: { prototype: object } & (new () => object)): boolean {
  if ('anyOf' in documented(type)) return false;
  const checks = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const given = new type() as Record<string, unknown>;
  const conditions = checks.filter((check) => check.type === ValidationTypes.CONDITIONAL_VALIDATION);
  const may = (name: string) =>
    conditions.some(({ propertyName, constraints: [condition] }) => {
      return propertyName === name && (condition as (of: object, value: unknown) => boolean)({}, undefined) === false;
    });
  return checks.every(({ propertyName }) => given[propertyName] !== undefined || may(propertyName));
}

const GATHERED = Symbol('millwright:gathered');

/**
 * The field of a query holds the parameters `<field>.<key>` by their keys. `<field>` alone is an object of such pairs in JSON: no way to send
 * an object in a query is known to all generators of clients, and all send a text as it is. One in a class.
 */
export const Gathered = (): PropertyDecorator => (target, key) => Reflect.defineMetadata(GATHERED, key, target);

/** The {@link Gathered} field of a class. */
export function gatheredField(type: { prototype: object } | undefined): string | undefined {
  return type && (Reflect.getMetadata(GATHERED, type.prototype) as string | undefined);
}
