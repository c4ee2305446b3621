import { IsIn, IsString } from 'class-validator';
import { Documented } from '../../../platform/http/documented.js';
import { OptionalNotNull } from '../../../platform/http/fields.js';
import { PageQuery } from '../../../platform/http/pages.js';

export class ListMessagesQuery extends PageQuery {
  @OptionalNotNull()
  @IsIn(['asc', 'desc'])
  @Documented({ description: 'Oldest first (`asc`, the default) or newest first.' })
  order: 'asc' | 'desc' = 'asc';

  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'The id of a message: only what came later.' })
  after?: string;
}
