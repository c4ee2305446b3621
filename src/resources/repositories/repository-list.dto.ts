import { IsIn, IsString, MaxLength, MinLength } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';

class HostQuery extends PageQuery {
  @OptionalNotNull()
  @IsIn(['false', 'true'])
  @Documented({ description: 'Whether the host is asked now; `false` takes what it said in the last minute.' })
  refresh: 'false' | 'true' = 'false';
}

export class ListRepositoriesQuery extends HostQuery {
  @OptionalNotNull()
  @IsString()
  @MinLength(1)
  @MaxLength(100)
  @Documented({ description: 'Only repositories with this text in their names, small or large letters.' })
  q?: string;

  @OptionalNotNull()
  @IsString()
  @MinLength(1)
  @MaxLength(255)
  @Documented({ description: 'Only repositories of this host: `github.com`, or with a port.' })
  host?: string;
}

export class ListBranchesQuery extends HostQuery {
  @IsString()
  @MaxLength(2048)
  @Documented({ description: 'The https URL of a repository, as a task names it.' })
  url: string;

  @OptionalNotNull()
  @IsString()
  @MinLength(1)
  @MaxLength(255)
  @Documented({
    description:
      'Only branches with this text in their names, small or large letters. Where the host has more than 1,000, GitHub finds those that begin so.',
  })
  q?: string;
}
