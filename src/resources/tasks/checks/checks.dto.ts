import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import type { Check, TaskChecks } from '../../../engine/checks/check.js';
import { globFault } from '../../../engine/checks/protection.js';
import { Documented } from '../../../platform/http/documented.js';
import { OptionalNotNull } from '../../../platform/http/fields.js';

const MOST_CHECKS = 16;
const USUAL_SECONDS = 600;
export const USUAL_REPAIRS = 2;
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Below the folder of the check, without a way out of it; of files, for a folder alone has none, and none that is turned round. */
const GLOB = /^(?![/!])(?!(.*\/)?\.\.?(\/|$))(?!.*\/(\/|$))[^\p{Cc}\\]{1,200}$/u;
const isGlob = (value: unknown): boolean => typeof value === 'string' && GLOB.test(value) && globFault(value) === null;

/** A command that the service runs when a turn would be completed (reference §26). */
export class CheckDto {
  @IsString()
  @Matches(NAME, { message: 'name of a check must be 1 to 40 small letters, digits and hyphens' })
  @Documented({ description: 'Another one for each check of a task.', pattern: NAME.source })
  name: string;

  @IsString()
  @MaxLength(4_000)
  @Matches(/\S/, { message: 'command must not be blank' })
  @Documented({ description: 'For `bash`, in `repo/` when there is a repository, else in the workdir. Exit code 0 is a pass.' })
  command: string;

  @OptionalNotNull()
  @IsInt()
  @Min(1)
  @Max(86_400)
  @Documented({ description: '600 by default; at most as long as any command may take.' })
  timeoutSeconds?: number;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: '`false`: what comes of it is told, and decides nothing. `true` is the default.' })
  required?: boolean;

  @OptionalNotNull()
  @IsArray()
  @ArrayMaxSize(64)
  @ValidateBy(
    { name: 'glob', validator: { validate: isGlob, defaultMessage: () => 'each of protect must be a pattern of paths of files from the folder of the check, such as test/**, without /, ./, ../ or ! before it and / behind it' } },
    { each: true },
  )
  @Documented({
    description: 'Patterns of paths that the check sees as they were in the beginning, whatever the agent has made of them: `test/**`.',
    items: { type: 'string', minLength: 1, maxLength: 200 },
  })
  protect?: string[];

  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: '`true`: with the network of the task, without its secrets. `false` is the default.' })
  network?: boolean;
} // prettier-ignore

const list = (description: string, optional: () => PropertyDecorator): PropertyDecorator => {
  const message = 'each of checks must be an object {name, command}';
  const isFlat = (value: unknown) => Array.isArray(value) && !value.some(Array.isArray);
  return (target, key) => {
    Type(() => CheckDto)(target, key);
    ArrayUnique((one: CheckDto | null) => one?.name, { message: 'checks must have different names' })(target, key);
    ValidateNested({ each: true, message })(target, key);
    ValidateBy({ name: 'flat', validator: { validate: isFlat, defaultMessage: () => message } })(target, key);
    ArrayMaxSize(MOST_CHECKS)(target, key);
    IsArray()(target, key);
    optional()(target, key);
    Documented({ description })(target, key);
  };
};

const count = (description: string, optional: () => PropertyDecorator): PropertyDecorator => {
  return (target, key) => {
    Max(10)(target, key);
    Min(0)(target, key);
    IsInt()(target, key);
    optional()(target, key);
    Documented({ description })(target, key);
  };
};

export const Checks = () =>
  list(
    'What the service runs itself, in a clean copy of the work, when a turn would be completed; `[]` for nothing. Without it those of the project, else of the environment. A PATCH counts at the next end of a turn.',
    OptionalNotNull,
  );
export const MaxRepairs = () =>
  count('How often in a turn the agent may go on when a check has failed: 0 to 10, 2 by default.', OptionalNotNull);

/** Of tasks that name none themselves. */
export const DefaultChecks = () =>
  list(
    'Checks of its tasks, of those that name none themselves; `[]` for none, null to say nothing of them.',
    IsOptional,
  );
export const DefaultMaxRepairs = () =>
  count('As of tasks, for those that do not say it themselves; null to say nothing of it.', IsOptional);

/** As a project or an automation has them for its tasks. */
export interface DefaultsOfChecks {
  checks: Check[] | null;
  maxRepairs: number | null;
}

export const asChecks = (given: CheckDto[]): Check[] => given.map(withDefaults);

/** What a task keeps after a change; what is not given stays. Null: it has no checks. */
export function changedChecks(
  before: TaskChecks | null,
  { checks, maxRepairs }: { checks?: CheckDto[]; maxRepairs?: number },
): TaskChecks | null {
  if (checks === undefined && maxRepairs === undefined) return before;
  const kept = checks === undefined ? (before?.checks ?? []) : asChecks(checks);
  return kept.length === 0 ? null : { checks: kept, maxRepairs: maxRepairs ?? before?.maxRepairs ?? USUAL_REPAIRS };
}

function withDefaults({ name, command, ...given }: CheckDto): Check {
  const { timeoutSeconds = USUAL_SECONDS, required = true, protect = [], network = false } = given;
  return { name, command, timeoutSeconds, required, protect, network };
}
