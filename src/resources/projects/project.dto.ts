import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { OptionalNotNull, trimmed } from '../../platform/http/fields.js';
import { digits, PageQuery } from '../../platform/http/pages.js';
import { VISIBILITIES, type Visibility } from './project.entity.js';

const LIMIT = 'limit must be a whole number from 1 to 50';

// Registered from the last check to the first: the pipe answers the one that was registered last.
const Name =
  (): PropertyDecorator =>
  (target, key): void => {
    Matches(/\S/, { message: 'name must not be blank' })(target, key);
    MaxLength(200)(target, key);
    IsString()(target, key);
    Transform(trimmed)(target, key);
  };

export class CreateProjectDto {
  @Name()
  name: string;

  @IsOptional()
  @IsString()
  @MaxLength(4_000)
  description?: string | null;

  @OptionalNotNull()
  @IsIn(VISIBILITIES)
  visibility?: Visibility;
}

export class ChangeProjectDto {
  @OptionalNotNull()
  @Name()
  name?: string;

  @IsOptional()
  @IsString()
  @MaxLength(4_000)
  description?: string | null;

  @OptionalNotNull()
  @IsIn(VISIBILITIES)
  visibility?: Visibility;
}

export class ListProjectsQuery extends PageQuery {
  // Replaces the checks of the base class.
  @IsInt({ message: LIMIT })
  @Min(1, { message: LIMIT })
  @Max(50, { message: LIMIT })
  @Transform(digits)
  override limit = 50;
}
