import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsString,
  Matches,
  MaxLength,
  ValidateBy,
} from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';

const MOST_PATTERNS = 50;
/** Of all together: each is compared with the path of a repository, character by character. */
const MOST_CHARACTERS = 2000;
const PATTERN = /^(?!\/)[^\s\p{Cc}\\]{1,200}(?<!\/)$/u;
const arePatterns = (value: unknown): boolean =>
  !Array.isArray(value) ||
  (value.every((one) => typeof one === 'string' && PATTERN.test(one)) && value.join('').length <= MOST_CHARACTERS);

// Registered from the last check to the first: the pipe answers the one that was registered last.
const Patterns =
  (description: string, least: number): PropertyDecorator =>
  (target, key): void => {
    const items = { type: 'string', minLength: 1, maxLength: 200 };
    Documented({ description, type: 'array', items })(target, key);
    const defaultMessage = () =>
      '$property must be patterns of 1 to 200 characters, such as acme/*, without white space and without a slash at an end, and of 2000 characters together';
    ValidateBy({ name: 'patterns', validator: { validate: arePatterns, defaultMessage } })(target, key);
    ArrayUnique()(target, key);
    ArrayMaxSize(MOST_PATTERNS)(target, key);
    ArrayMinSize(least)(target, key);
    IsArray()(target, key);
    OptionalNotNull()(target, key);
  };

const STARS = '`*` stands for any characters but a slash, `**` for any.';

class ConnectionOptions {
  @OptionalNotNull()
  @IsString()
  @Matches(/^[\x21-\x7e]{8,2000}$/, { message: 'token must have 8 to 2000 visible ASCII characters' })
  @Documented({ description: 'Of an account, a project or a group at the host. It is never shown.' })
  token?: string;

  @OptionalNotNull()
  @IsString()
  @Matches(/^[A-Za-z0-9._-]{1,100}$/, { message: 'appId must be the id of a GitHub App' })
  @Documented({ description: 'The id of a GitHub App.' })
  appId?: string;

  @OptionalNotNull()
  @IsString()
  @MaxLength(16_384)
  @Documented({ description: 'The private key of the GitHub App, as PEM. It is never shown.' })
  privateKey?: string;

  @OptionalNotNull()
  @IsString()
  @Matches(/^\d{1,20}$/, { message: 'installationId must be the number of an installation' })
  @Documented({ description: 'The number of the installation of the GitHub App.' })
  installationId?: string;

  @Patterns(`Paths of repositories, without \`.git\`; all that the credential sees is \`**\`. ${STARS}`, 1)
  paths?: string[];

  @Patterns(`Branches that tasks may push to; none: it only reads. ${STARS}`, 0)
  push?: string[];
}

/** Reference §15. */
export class CreateRepositoryConnectionDto extends ConnectionOptions {
  @IsString()
  @MaxLength(255)
  @Documented({ description: 'The name of the host in small letters, with its port unless that is 443: `github.com`.' })
  host: string;

  @OptionalNotNull()
  @IsIn(['github', 'gitlab'])
  @Documented({ description: 'What serves the host. github.com and gitlab.com are known.' })
  hosting?: 'github' | 'gitlab';

  @OptionalNotNull()
  @IsString()
  @MaxLength(2048)
  @Documented({ description: 'The https address of its API, when that is not where such a host has it.' })
  api?: string;
}

/** Reference §15. */
export class ChangeRepositoryConnectionDto extends ConnectionOptions {}
