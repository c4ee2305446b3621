// Checks that fields of several resources share.
import { Transform } from 'class-transformer';
import { IsString, Matches, MaxLength, ValidateIf } from 'class-validator';
import { Documented } from './documented.js';

/** The field may be absent; null is not absent. */
export const OptionalNotNull = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);

/** As sent, before it is trimmed: line breaks may stand around the text, and no control character within it. */
const NAME = String.raw`^\s*[^\s\p{Cc}]+(?:[^\S\p{Cc}]+[^\s\p{Cc}]+)*\s*$`;

/** A name or title: one line of 1 to 200 characters after trimming. `description` stands in the document. */
export const Name =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ description, pattern: NAME })(target, key);
    // Registered from the last check to the first: the pipe answers the one that was registered last.
    Matches(/^\P{Cc}*$/u, { message: '$property must be one line, without control characters' })(target, key);
    Matches(/\S/, { message: '$property must not be blank' })(target, key);
    MaxLength(200)(target, key);
    IsString()(target, key);
    Transform(trimmed)(target, key);
  };

/** Text without the white space around it; anything else is left for the validator to refuse. */
function trimmed({ value }: { value: unknown }): unknown {
  return typeof value === 'string' ? value.trim() : value;
}
