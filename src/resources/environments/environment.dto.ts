import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInstance,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Documented, type JsonSchema } from '../../platform/http/documented.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import { SecretNames } from '../secrets/secret-names.js';
import { ChoiceOfMcpServers } from '../mcp-servers/mcp-server-choice.dto.js';
import { type CheckDto, DefaultChecks, DefaultMaxRepairs } from '../tasks/checks/checks.dto.js';
import { ClonedRepositoryDto } from '../tasks/repository.dto.js';
import { type OnFailure, ON_FAILURE, type Refresh } from './definition.js';
import { SLUG, SLUG_RULE } from './environment-choice.dto.js';

const MOST_COMMANDS = 30;
const MOST_HOSTS = 50;
const MOST_GLOBS = 16;
const [MOST_VARIABLES, MOST_TOOLS] = [50, 20];
/** Of a command, and of the value of a variable. */
const MOST_BYTES = 4096;
/** With less no shell starts. */
const LEAST_MEMORY = 64 * 1024 ** 2;
const LEAST_DISK = 1024 ** 2;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const TOOL = /^[a-z][a-z0-9-]{0,31}$/;
const TOOL_VERSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
/** A path below the repository, with `*`, `**` and `?`. */
const GLOB = /^(?!\/)(?!(.*\/)?\.\.?(\/|$))(?!.*\/\/)[^\p{Cc}\\]{1,200}$/u;

const isShort = (value: unknown): boolean => typeof value === 'string' && Buffer.byteLength(value) <= MOST_BYTES;

/** A field that one function checks; `what` is said when it is wrong. */
const Checked = (
  name: string,
  validate: (value: unknown) => boolean,
  what: string,
  schema: JsonSchema,
): PropertyDecorator => {
  return (target, key) => {
    ValidateBy({ name, validator: { validate, defaultMessage: () => `$property must be ${what}` } })(target, key);
    OptionalNotNull()(target, key);
    Documented(schema)(target, key);
  };
};

/** Pairs of text as they were given: class-transformer leaves out keys that are names of Object.prototype. */
const Pairs =
  (most: number, key: RegExp, value: (text: unknown) => boolean, what: string, schema: JsonSchema): PropertyDecorator =>
  (target, property): void => {
    const arePairs = (given: unknown) => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
      const pairs = Object.entries(given);
      return pairs.length <= most && pairs.every(([name, text]) => key.test(name) && value(text));
    };
    const { additionalProperties, ...more } = schema;
    const pairs = { maxProperties: most, propertyNames: { pattern: key.source }, additionalProperties };
    Checked('pairs', arePairs, what, { type: 'object', ...pairs, ...more })(target, property);
    Transform(({ obj }: { obj: Record<string, unknown> }) => obj[String(property)])(target, property);
  };

const areCommands = (value: unknown): boolean =>
  !Array.isArray(value) || value.every((one) => isShort(one) && /\S/.test(one as string));

function isRefresh(value: unknown): boolean {
  if (value === 'never' || value === 'daily') return true;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { onLockfile, ...others } = value as Record<string, unknown>;
  if (!Array.isArray(onLockfile) || Object.keys(others).length > 0) return false;
  const few = onLockfile.length >= 1 && onLockfile.length <= MOST_GLOBS && new Set(onLockfile).size === onLockfile.length; // prettier-ignore
  return few && onLockfile.every((one) => typeof one === 'string' && GLOB.test(one));
}

/** Null and what is not given: as the operator has it. */
const Limit =
  (least: number, description: string): PropertyDecorator =>
  (target, key): void => {
    Max(Number.MAX_SAFE_INTEGER)(target, key);
    Min(least)(target, key);
    IsInt()(target, key);
    IsOptional()(target, key);
    Documented({ description })(target, key);
  };

/** Reference §25. Each at most what the operator allows. */
export class EnvironmentResourcesDto {
  @Limit(LEAST_MEMORY, 'Of all processes of a command.')
  memoryBytes?: number | null;

  @Limit(LEAST_DISK, 'Of the folders of a task.')
  diskBytes?: number | null;

  @Limit(1, 'Of a command.')
  wallClockSeconds?: number | null;
}

class EnvironmentOptions {
  @IsOptional()
  @IsInstance(ClonedRepositoryDto, { message: 'repository must be an object' })
  @ValidateNested({ message: 'repository must be an object' })
  @Type(() => ClonedRepositoryDto)
  @Documented({ description: 'Cloned before `setup`; null for none.' })
  repository?: ClonedRepositoryDto | null;

  @OptionalNotNull()
  @IsArray()
  @ArrayMaxSize(MOST_COMMANDS)
  @ValidateBy({
    name: 'commands',
    validator: {
      validate: areCommands,
      defaultMessage: () => `$property must be commands of 1 to ${MOST_BYTES} bytes, none of them blank`,
    },
  })
  @Documented({
    description: 'Commands of bash that make a build, in their order.',
    type: 'array',
    items: { type: 'string', minLength: 1, maxLength: MOST_BYTES, pattern: '\\S' },
  })
  setup?: string[];

  @Pairs(
    MOST_VARIABLES,
    VARIABLE,
    isShort,
    `at most ${MOST_VARIABLES} variables: names of 1 to 64 letters, digits and _, the first no digit, and texts of at most ${MOST_BYTES} bytes`,
    {
      description:
        'What each command has in its environment, for all who see it: a value that nobody may see is a secret. None that the sandbox sets itself, or that decides which programs run.',
      additionalProperties: { type: 'string', maxLength: MOST_BYTES },
    },
  )
  variables?: Record<string, string>;

  @OptionalNotNull()
  @IsArray()
  @ArrayMaxSize(MOST_HOSTS)
  @ArrayUnique()
  @IsString({ each: true })
  @Documented({
    description:
      'The hosts that commands reach, in place of the operator’s list and no more than that: a name, `*.` and a name, or an address, with a port or without. `[]`, the default: none.',
  })
  allowHosts?: string[];

  @OptionalNotNull()
  @SecretNames('Names of the secrets that its tasks have, those of them that there are. `[]`, the default: none.')
  secrets?: string[];

  @Pairs(
    MOST_TOOLS,
    TOOL,
    (text) => typeof text === 'string' && TOOL_VERSION.test(text),
    'an object of names and versions, such as {"node": "22"}',
    {
      description: 'Versions of tools that the operator offers, such as `{"node": "22"}`.',
      additionalProperties: { type: 'string', pattern: TOOL_VERSION.source },
    },
  )
  tools?: Record<string, string>;

  @OptionalNotNull()
  @IsInstance(EnvironmentResourcesDto, { message: 'resources must be an object' })
  @ValidateNested({ message: 'resources must be an object' })
  @Type(() => EnvironmentResourcesDto)
  @Documented({ description: 'Limits of its tasks, at most those of the operator.' })
  resources?: EnvironmentResourcesDto;

  @Checked(
    'refresh',
    isRefresh,
    'never, daily, or an object {onLockfile} with 1 to 16 different patterns of paths below the repository',
    {
      description:
        'When a build is made anew although the version is the same. `never` is the default; `onLockfile`: when one of these files of the repository is another.',
      anyOf: [
        { type: 'string', enum: ['never', 'daily'] },
        {
          type: 'object',
          properties: {
            onLockfile: {
              type: 'array',
              items: { type: 'string', minLength: 1, maxLength: 200, pattern: GLOB.source },
              minItems: 1,
              maxItems: MOST_GLOBS,
              uniqueItems: true,
            },
          },
          required: ['onLockfile'],
          additionalProperties: false,
        },
      ],
    },
  )
  // As it was given: class-transformer would make an object of a class of what it is.
  @Transform(({ obj }: { obj: { refresh?: unknown } }) => obj.refresh)
  refresh?: Refresh;

  @OptionalNotNull()
  @IsIn(ON_FAILURE)
  @Documented({
    description:
      'When a build fails: tasks fail too (`fail`, the default), or begin from the last good one (`lastGood`).',
  })
  onFailure?: OnFailure;

  @DefaultChecks()
  checks?: CheckDto[] | null;

  @DefaultMaxRepairs()
  maxRepairs?: number | null;

  @ChoiceOfMcpServers(
    'The names of servers of `GET /v1/mcp-servers` whose tools tasks have that get none from elsewhere; an empty list: none. Null takes them away: tasks have those that are so by default.',
    true,
  )
  mcpServers?: string[] | null;
}

const NAME = 'What people call it.';

/** Reference §25. */
export class CreateEnvironmentDto extends EnvironmentOptions {
  @IsString()
  @Matches(SLUG, { message: `$property must be ${SLUG_RULE}` })
  @Documented({ description: 'By which tasks name it: once in a workspace, and never another.' })
  slug: string;

  @OptionalNotNull()
  @Name(`${NAME} Without it the slug.`)
  name?: string;
}

/** Reference §25. */
export class ChangeEnvironmentDto extends EnvironmentOptions {
  @OptionalNotNull()
  @Name(NAME)
  name?: string;
}
