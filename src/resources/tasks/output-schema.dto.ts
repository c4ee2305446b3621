import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';
import { SCHEMA_BYTES } from '../../engine/agent/output/output-schema.js';
import { Documented } from '../../platform/http/documented.js';

const DESCRIPTION = `A JSON Schema (2020-12) of at most 16 KiB, without references to other documents; null for none. With it the last answer of a
turn is JSON that fits it: \`result.output\`. An answer that does not fit is mended once, else the task fails, \`output_invalid\`. \`format\` is not
checked.`;

/** The schema of a task's answers (reference §15), as far as it can be looked at without compiling it. */
export const SchemaOfOutput =
  (): PropertyDecorator =>
  (target, key): void => {
    const validate = (value: unknown) => formFault(value) === null;
    const defaultMessage = (about?: { value: unknown }) =>
      `$property must be a JSON Schema: ${formFault(about?.value)}`;
    ValidateBy({ name: 'outputSchema', validator: { validate, defaultMessage } })(target, key);
    // As it was given: class-transformer leaves out keys that are names of Object.prototype.
    Transform(({ obj }: { obj: { outputSchema?: unknown } }) => obj.outputSchema)(target, key);
    IsOptional()(target, key);
    Documented({ description: DESCRIPTION, type: 'object', additionalProperties: true })(target, key);
  };

function formFault(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'an object';
  if (Buffer.byteLength(JSON.stringify(value)) > SCHEMA_BYTES)
    return `an object of at most ${SCHEMA_BYTES} bytes of JSON`;
  return pointsElsewhere(value) ? 'one without references to other documents; each "$ref" must begin with "#"' : null;
}

function pointsElsewhere(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, one]) => {
    return (
      (/^\$(ref|dynamicRef)$/.test(key) && typeof one === 'string' && !one.startsWith('#')) || pointsElsewhere(one)
    );
  });
}
