import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, MaxLength, MinLength, ValidateBy } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Gathered, Moment, OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';
import { isMetadata } from './metadata.js';
import { TASK_STATUSES } from './task-status.js';

const STATUSES = new RegExp(`^(${TASK_STATUSES.join('|')})(,(${TASK_STATUSES.join('|')}))*$`);
const METADATA_FILTER =
  'metadata.<key>=<value> must be at most 16 pairs of text: keys of 1 to 64, values of at most 512 characters';

export class ListTasksQuery extends PageQuery {
  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'Only tasks of this project.' })
  projectId?: string;

  @OptionalNotNull()
  @IsString()
  @Matches(STATUSES, { message: `status must be one or several of ${TASK_STATUSES.join(', ')}, comma-separated` })
  @Documented({ description: 'Only tasks in this status, or in one of several, comma-separated.' })
  status?: string;

  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'Only tasks that this automation made.' })
  automationId?: string;

  @OptionalNotNull()
  @IsString()
  @Documented({
    description:
      'Only tasks that the agent of this task has made; `any`: these and all others. Without it tasks that no other task has made.',
  })
  parentTaskId?: string;

  @Gathered()
  @OptionalNotNull()
  @Transform(({ obj }: { obj: { metadata?: unknown } }) => obj.metadata)
  @Documented({
    description:
      'Only tasks with all of these pairs of text, an object in JSON: `{"ticket":"MILL-7"}`. By hand each pair may be a parameter of its own: `metadata.ticket=MILL-7`.',
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: {
      type: 'object',
      maxProperties: 16,
      propertyNames: { minLength: 1, maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
    },
  })
  @ValidateBy({
    name: 'metadata',
    validator: { validate: isMetadata, defaultMessage: () => METADATA_FILTER },
  })
  metadata?: Record<string, string>;

  @OptionalNotNull()
  @IsString()
  @MinLength(1)
  @MaxLength(64)
  @Documented({ description: 'Only tasks with this tag.' })
  tag?: string;

  @Moment('Only tasks that were created after this time.')
  createdAfter?: string;

  @Moment('Only tasks that were created before this time.')
  createdBefore?: string;

  @OptionalNotNull()
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  @Documented({
    description:
      'Only tasks with all of these words, or words that begin so, in their title or in the first 10,000 characters of their first message.',
  })
  q?: string;

  @OptionalNotNull()
  @IsIn(['false', 'true', 'all'])
  @Documented({ description: 'Only tasks that are not archived (`false`, the default), only archived ones, or both.' })
  archived: 'false' | 'true' | 'all' = 'false';

  @OptionalNotNull()
  @IsIn(['createdAt', 'updatedAt'])
  @Documented({ description: 'The time by which the newest is first: `createdAt`, the default, or `updatedAt`.' })
  sort: 'createdAt' | 'updatedAt' = 'createdAt';
}
