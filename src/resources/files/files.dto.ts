import { IsIn } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';

export class ListFilesQuery extends PageQuery {
  @OptionalNotNull()
  @IsIn(['none'], { message: 'project must be none: the files of a project are listed below the project' })
  @Documented({ description: '`none`, the default: what is left of deleted projects.' })
  project?: 'none';
}
