import { ArrayMaxSize, ArrayUnique, IsArray, IsString, Matches } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';

const MOST_SECRETS = 20;

/** A list of secrets by their names, whether there are such or not. */
// Registered from the last check to the first: the pipe answers the one that was registered last.
export const SecretNames =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ description })(target, key);
    Matches(/^[A-Z][A-Z0-9_]{0,63}$/, {
      each: true,
      message:
        'each of $property must be the name of a secret: 1 to 64 capital letters, digits and _, the first a letter',
    })(target, key);
    IsString({ each: true })(target, key);
    ArrayUnique()(target, key);
    ArrayMaxSize(MOST_SECRETS)(target, key);
    IsArray()(target, key);
  };
