import { ValidateIf } from 'class-validator';

/** The field may be absent; null is not absent. */
export const OptionalNotNull = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);

/** Text without the white space around it; anything else is left for the validator to refuse. */
export function trimmed({ value }: { value: unknown }): unknown {
  return typeof value === 'string' ? value.trim() : value;
}
