import { IsString, MaxLength } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Moment, OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';

export class ListAuditQuery extends PageQuery {
  @Moment('Only entries from this time on.')
  since?: string;

  @Moment('Only entries before this time.')
  until?: string;

  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'Only entries of this user: an id.' })
  actor?: string;

  @OptionalNotNull()
  @IsString()
  @MaxLength(100)
  @Documented({ description: 'Only entries with this action, such as `task.create`.' })
  action?: string;
}
