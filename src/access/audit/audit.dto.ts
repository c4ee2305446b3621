import { IsString, MaxLength, ValidateBy } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';
import { momentOf } from '../../platform/text/instant.js';

const Moment =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ description: `${description} A date is its beginning in UTC.` })(target, key);
    ValidateBy({
      name: 'moment',
      validator: {
        validate: (value) => typeof value === 'string' && momentOf(value) !== null,
        defaultMessage: () => '$property must be a date, or a time with Z or an offset, such as 2026-12-01T09:00:00Z',
      },
    })(target, key);
    OptionalNotNull()(target, key);
  };

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
