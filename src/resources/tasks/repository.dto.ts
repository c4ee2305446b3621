import { Type } from 'class-transformer';
import { IsBoolean, IsInstance, IsString, MaxLength, ValidateBy, ValidateNested } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';

export const REF_RULE = 'at most 255 characters, as git-check-ref-format(1) has it';

/** What git takes as a name below `refs/heads`, and no option of a command. */
function isRef(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value.length <= 255 &&
    // eslint-disable-next-line no-control-regex
    /^(?!-)(?!\/)[^\x00-\x20\x7f~^:?*[\\]+$/.test(value) &&
    !/\.\.|@\{|\/\/|(^|\/)\.|\.lock(\/|$)|[./]$|^@$/.test(value)
  );
}

/** As {@link isRef}, and what a branch may be called. */
export const isBranch = (value: unknown): boolean => isRef(value) && value !== 'HEAD';

const RefName =
  (what: string, description: string, validate = isBranch): PropertyDecorator =>
  (target, key): void => {
    const defaultMessage = () => `$property must be the name of ${what}: ${REF_RULE}`;
    ValidateBy({ name: 'ref', validator: { validate, defaultMessage } })(target, key);
    Documented({ description, type: 'string', minLength: 1, maxLength: 255 })(target, key);
  };

export class PullRequestDto {
  @OptionalNotNull()
  @Name('Without it the title of the task.')
  title?: string;

  @OptionalNotNull()
  @RefName('a branch', 'The branch that it is to go into; without it the one that was cloned, else the default branch.')
  base?: string;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: 'Whether it is opened as a draft; false is the default.' })
  draft?: boolean;
}

export class PushDto {
  @RefName('a branch', 'The branch that completed turns push to: one that the operator allows.')
  branch: string;

  @OptionalNotNull()
  @IsInstance(PullRequestDto, { message: 'pullRequest must be an object' })
  @ValidateNested({ message: 'pullRequest must be an object' })
  @Type(() => PullRequestDto)
  @Documented({ description: 'Opened once, for this branch; without it none is.' })
  pullRequest?: PullRequestDto;
}

/** Reference §15. */
export class ClonedRepositoryDto {
  @IsString()
  @MaxLength(2048)
  @Documented({ description: 'An https URL, or a file URL that the operator allows; without user name and password.' })
  url: string;

  @OptionalNotNull()
  @RefName(
    'a branch or tag, or a whole commit id',
    'A branch, a tag or a whole commit id; without it the default branch.',
    isRef,
  )
  ref?: string;
}

/** Reference §15. */
export class RepositoryDto extends ClonedRepositoryDto {
  @OptionalNotNull()
  @IsInstance(PushDto, { message: 'push must be an object' })
  @ValidateNested({ message: 'push must be an object' })
  @Type(() => PushDto)
  @Documented({ description: 'Where the changes of completed turns go.' })
  push?: PushDto;
}
