import { IsIn, IsInt, IsString, Matches, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { Documented } from '../../../platform/http/documented.js';
import { OptionalNotNull } from '../../../platform/http/fields.js';

const MOST_LINES = 10_000_000;
const PATH_RULE =
  'a path of the repository, relative to its root: without "." and "..", and without control characters';

function isPath(value: unknown): boolean {
  if (typeof value !== 'string' || /[\p{Cc}\u2028\u2029]/u.test(value)) return false;
  return value.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

const Line = (): PropertyDecorator => (target, key) => {
  Max(MOST_LINES)(target, key);
  Min(1)(target, key);
  IsInt()(target, key);
};

/** One comment of a review (reference §6). */
export class ReviewCommentDto {
  @IsString()
  @MaxLength(1024)
  @ValidateBy({
    name: 'path',
    validator: { validate: isPath, defaultMessage: () => `$property must be ${PATH_RULE}` },
  })
  @Documented({ description: 'The file, relative to the root of the repository.' })
  path: string;

  @IsIn(['old', 'new'])
  @Documented({ description: 'Whether the lines are those before the changes (`old`) or after them (`new`).' })
  side: 'old' | 'new';

  @Line()
  @Documented({ description: 'The first line, from 1.' })
  line: number;

  @OptionalNotNull()
  @Line()
  @ValidateBy({
    name: 'endLine',
    validator: {
      validate: (value, args) => Number(value) >= (args?.object as ReviewCommentDto).line,
      defaultMessage: () => '$property must not be before line',
    },
  })
  @Documented({ description: 'The last line; without it `line`.' })
  endLine?: number;

  @IsString()
  @MaxLength(4_000)
  @Documented({ description: 'What the lines say. The agent reads it with the comment.' })
  quote: string;

  @IsString()
  @MaxLength(10_000)
  @Matches(/\S/, { message: '$property must not be blank' })
  @Documented({ description: 'The comment.', minLength: 1 })
  text: string;
}
