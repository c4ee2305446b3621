import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import { digits, PageQuery } from '../../platform/http/pages.js';
import { VISIBILITIES, type Visibility } from './project.row.js';

const NAME = 'What people call it.';
const LIMIT = 'limit must be a whole number from 1 to 50';

export class CreateProjectDto {
  @Name(NAME)
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
  @Name(NAME)
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
