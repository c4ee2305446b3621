import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsInt, IsOptional, IsString, Max, MaxLength, Min, ValidateBy } from 'class-validator'; // prettier-ignore
import { Documented } from '../../platform/http/documented.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import { instantOf } from '../../platform/text/instant.js';

const WEEK_SECONDS = 604_800;

/** At least one scope, none twice. `description` stands in the document. */
const Scopes = (description: string): PropertyDecorator =>
  applyDecorators(
    Documented({ description }),
    // Registered from the last check to the first: the pipe answers the one that was registered last.
    ArrayUnique(),
    MaxLength(100, { each: true }),
    IsString({ each: true }),
    ArrayMaxSize(100),
    ArrayMinSize(1),
    IsArray(),
  );

/** A time, or null for never. `description` stands in the document. */
const End = (description: string): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    ValidateBy({
      name: 'instant',
      validator: {
        validate: (value) => typeof value === 'string' && instantOf(value) !== null,
        defaultMessage: () => '$property must be an ISO 8601 time with Z or an offset',
      },
    }),
    Documented({ type: 'string', format: 'date-time', description }),
  );

export class CreateKeyDto {
  @Name('For the list of keys.')
  name: string;

  @Scopes('What it may do: scopes of the calling key.')
  scopes: Scope[];

  @End('When it ends, not after the calling key; null for never. Not given: when the calling key ends.')
  expiresAt?: string | null;
}

export class RotateKeyDto {
  @OptionalNotNull()
  @IsInt()
  @Min(0)
  @Max(WEEK_SECONDS)
  @Documented({ description: 'How long the old key works besides, in seconds; 0 is the default.' })
  overlapSeconds?: number;
}

export class CreateServiceKeyDto {
  @Name('For the list of keys.')
  name: string;

  @Scopes('What it may do: any scopes that there are.')
  scopes: Scope[];

  @End('When it ends; null, or not given, for never.')
  expiresAt?: string | null;
}
