// Checks that fields of several resources share.
import { Transform } from 'class-transformer';
import { IsString, Matches, MaxLength, ValidateBy, ValidateIf } from 'class-validator';
import { isName, NAME_PATTERN, NAME_RULE } from '../text/names.js';
import { Documented } from './documented.js';

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
