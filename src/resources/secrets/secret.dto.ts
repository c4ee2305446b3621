import { IsIn, IsOptional, IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { COMMAND_VARIABLES } from '../../engine/sandbox/drivers/root-folder.js';
import { NETWORK_VARIABLES } from '../../engine/sandbox/network/inside.js';
import { SHORTEST } from '../../engine/sandbox/network/mask.mjs';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { type BindingDto, Bindings } from './binding.dto.js';
import { SECRET_SCOPES, type SecretScope } from './secret.entity.js';

/** Characters. A shorter value stands in many texts by chance: an answer could not be rid of it. */
const [LEAST_VALUE, MOST_VALUE] = [SHORTEST, 65_536];
const VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** What the sandbox sets by itself, and what decides which programs run and whom they trust. */
const TAKEN = new Set([
  ...['PATH', 'HOME', 'SHELL', 'USER', 'TMPDIR', 'PROJECT_DIR', 'BASH_ENV', 'ENV', 'IFS', 'SSL_CERT_DIR'],
  ...Object.keys(COMMAND_VARIABLES),
  ...Object.keys(NETWORK_VARIABLES),
]);
/** Whether a variable of this name may have the placeholder of a secret. */
export const isFreeVariable = (name: string): boolean => !TAKEN.has(name) && !/^LD_|_PROXY$/i.test(name);

/** What is wrong with a value, told without a piece of it; null for a good one. */
function faultOf(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string';
  if (/[\r\n]$/.test(value)) return 'must not end in a line break: it would be a part of the secret';
  if (value.length < LEAST_VALUE) return `must have at least ${LEAST_VALUE} characters: a shorter one cannot be masked`;
  if (value.length > MOST_VALUE) return `must have at most ${MOST_VALUE} characters`;
  return VALUE.test(value)
    ? null
    : 'must be visible ASCII characters, and spaces between them: nothing else arrives whole in a header';
}

const Value = (): PropertyDecorator => (target, key) => {
  Documented({
    type: 'string',
    ...{ minLength: LEAST_VALUE, maxLength: MOST_VALUE, pattern: VALUE.source, writeOnly: true },
    description: 'It is never shown.',
  })(target, key);
  ValidateBy({
    name: 'secretValue',
    validator: {
      validate: (value) => faultOf(value) === null,
      defaultMessage: (given) => `$property ${faultOf(given?.value) ?? 'is not valid'}`,
    },
  })(target, key);
};

const SecretName = (): PropertyDecorator => (target, key) => {
  Documented({
    description:
      'Once in its scope. In a task a user’s own goes before the project’s, and that before the workspace’s.',
  })(target, key);
  Matches(/^[A-Z][A-Z0-9_]{0,63}$/, {
    message: '$property must be 1 to 64 capital letters, digits and _, the first a letter',
  })(target, key);
  IsString()(target, key);
};

class SecretOptions {
  @IsOptional()
  @IsString()
  @MaxLength(4000)
  @Documented({ description: 'For people.' })
  description?: string | null;

  @OptionalNotNull()
  @IsString()
  @Matches(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, {
    message: '$property must be the name of a variable: 1 to 64 letters, digits and _, the first no digit',
  })
  @Documented({
    description:
      'The variable that has the placeholder inside of the sandbox: none that the sandbox sets itself, or that decides which programs run.',
  })
  env?: string;
}

/** Reference §24. */
export class CreateSecretDto extends SecretOptions {
  @SecretName()
  name: string;

  @OptionalNotNull()
  @IsIn(SECRET_SCOPES)
  @Documented({ description: 'Whose tasks have it: all of the workspace (default), those of a project, or your own.' })
  scope?: SecretScope;

  @IsOptional()
  @IsString()
  @Documented({ description: 'For the scope `project` alone.' })
  projectId?: string | null;

  @Value()
  value: string;

  @Bindings()
  bindings: BindingDto[];
}

/** Reference §24. */
export class ChangeSecretDto extends SecretOptions {
  @OptionalNotNull()
  @SecretName()
  name?: string;

  @OptionalNotNull()
  @Value()
  value?: string;

  @OptionalNotNull()
  @Bindings()
  bindings?: BindingDto[];
}
