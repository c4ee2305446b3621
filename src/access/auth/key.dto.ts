import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsInt, IsOptional, IsString, Max, MaxLength, Min, ValidateBy } from 'class-validator'; // prettier-ignore
import { Documented } from '../../platform/http/documented.js';
import type { Scope } from '../../platform/http/endpoint.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import { instantOf } from '../../platform/text/instant.js';

const WEEK_SECONDS = 604_800;

export class CreateKeyDto {
  @Name('For the list of keys.')
  name: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @ArrayUnique()
  @IsString({ each: true })
  @MaxLength(100, { each: true })
  @Documented({ description: 'What it may do: scopes of the calling key.' })
  scopes: Scope[];

  @IsOptional()
  @ValidateBy({
    name: 'instant',
    validator: {
      validate: (value) => typeof value === 'string' && instantOf(value) !== null,
      defaultMessage: () => '$property must be an ISO 8601 time with Z or an offset',
    },
  })
  @Documented({
    type: 'string',
    format: 'date-time',
    description: 'When it ends, not after the calling key; null for never. Not given: when the calling key ends.',
  })
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
