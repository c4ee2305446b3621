import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';

/** A field with pairs of text. `description` stands in the document. */
export const Metadata =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    const rule = 'metadata must be at most 16 pairs of text: keys of 1 to 64, values of at most 512 characters';
    ValidateBy({ name: 'metadata', validator: { validate: isMetadata, defaultMessage: () => rule } })(target, key);
    Documented({
      description,
      type: 'object',
      maxProperties: 16,
      propertyNames: { minLength: 1, maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
    })(target, key);
    // As it was given: class-transformer leaves out keys that are names of Object.prototype.
    Transform(({ obj }: { obj: { metadata?: unknown } }) => obj.metadata)(target, key);
    OptionalNotNull()(target, key);
  };

/** Whether a value is at most 16 pairs of text, as `metadata` takes it. */
export function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const pairs = Object.entries(value);
  return (
    pairs.length <= 16 &&
    pairs.every(([key, text]) => key !== '' && fits(key, 64) && typeof text === 'string' && fits(text, 512))
  );
}

/** Characters, as the document and the other fields count them; a JavaScript string's length counts some of them twice. */
function fits(text: string, characters: number): boolean {
  return text.length <= characters || (text.length <= 2 * characters && [...text].length <= characters);
}
