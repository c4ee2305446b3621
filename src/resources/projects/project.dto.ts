import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull, Tags } from '../../platform/http/fields.js';
import { digits, PageQuery } from '../../platform/http/pages.js';
import { SLUG, SLUG_RULE } from '../environments/environment-choice.dto.js';
import { type CheckDto, DefaultChecks, DefaultMaxRepairs } from '../tasks/checks/checks.dto.js';
import { VISIBILITIES, type Visibility } from './project.entity.js';

const NAME = 'What people call it.';
const LIMIT = 'limit must be a whole number from 1 to 50';

class ProjectOptions {
  @IsOptional()
  @IsString()
  @MaxLength(4_000)
  @Documented({ description: 'What it is for; null for none.' })
  description?: string | null;

  @OptionalNotNull()
  @IsIn(VISIBILITIES)
  @Documented({
    description: '`workspace`: all members see it and what belongs to it. `private`, the default: its owner alone.',
  })
  visibility?: Visibility;

  @IsOptional()
  @IsString()
  @Matches(SLUG, { message: `$property must be ${SLUG_RULE}` })
  @Documented({
    description:
      'The slug of the environment that its tasks work in when they name none, each in the newest version; null for none.',
  })
  environment?: string | null;

  @DefaultChecks()
  checks?: CheckDto[] | null;

  @DefaultMaxRepairs()
  maxRepairs?: number | null;

  @Tags('Words of your own. A PATCH replaces all of them.')
  tags?: string[];
}

export class CreateProjectDto extends ProjectOptions {
  @Name(NAME)
  name: string;
}

export class ChangeProjectDto extends ProjectOptions {
  @OptionalNotNull()
  @Name(NAME)
  name?: string;
}

export class ListProjectsQuery extends PageQuery {
  // Replaces the checks of the base class.
  @IsInt({ message: LIMIT })
  @Min(1, { message: LIMIT })
  @Max(50, { message: LIMIT })
  @Transform(digits)
  override limit = 50;
}
