import { Transform, Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInstance,
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
import { APPROVALS, type Approvals, WHEN_BLOCKED, type WhenBlocked } from '../../engine/agent/agent-engine.js';
import type { Effort } from '../../engine/models/model-provider.js';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull } from '../../platform/http/fields.js';
import { digits, PageQuery } from '../../platform/http/pages.js';
import { ChoiceOfAgent } from '../agents/agent-choice.dto.js';
import { ChoiceOfEnvironment, type EnvironmentChoice } from '../environments/environment-choice.dto.js';
import { ChoiceOfMcpServers } from '../mcp-servers/mcp-server-choice.dto.js';
import { ChoiceOfSkills } from '../skills/skill-choice.dto.js';
import { SecretNames } from '../secrets/secret-names.js';
import { type CheckDto, DefaultChecks, DefaultMaxRepairs } from '../tasks/checks/checks.dto.js';
import { RepositoryDto } from '../tasks/repository.dto.js';
import { BudgetDto } from '../tasks/task.dto.js';
import { type AutomationKind, KINDS, type Overlap, OVERLAPS } from './automation.entity.js';
import { instantOf } from '../../platform/text/instant.js';
import { MAX_CRON } from './schedule.js';

const NAME = 'What people call it.';
const CONTENT = 'What each of its tasks is to do. Markdown.';
const PAYLOAD = 'samplePayload must be an object or a list';
const INSTANT = '$property must be a time with Z or an offset, such as 2026-12-01T09:00:00Z';

// Registered from the last check to the first: the pipe answers the one that was registered last.
const Content =
  (): PropertyDecorator =>
  (target, key): void => {
    Matches(/\S/, { message: '$property must not be blank' })(target, key);
    MaxLength(200_000)(target, key);
    IsString()(target, key);
    Documented({ description: CONTENT })(target, key);
  };

const trimmed = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.trim() : value);

/** What may be left out, and be null, which is the same in a create and clears it in a change. */
class AutomationOptions {
  @IsOptional()
  @IsIn(KINDS)
  @Documented({ description: 'Follows from the trigger; when it is given it must agree.' })
  kind?: AutomationKind | null;

  @IsOptional()
  @IsString()
  @MaxLength(MAX_CRON)
  @Transform(trimmed)
  @Documented({
    description: 'Recurring: minute, hour, day of the month, month and day of the week, such as `30 9 * * 1-5`.',
  })
  cron?: string | null;

  @IsOptional()
  @IsString()
  @Documented({ description: 'Of `cron`: an IANA name, such as `Europe/Berlin`. `UTC` is the default.' })
  timezone?: string | null;

  @IsOptional()
  @IsString()
  @ValidateBy({
    name: 'instant',
    validator: {
      validate: (value) => typeof value === 'string' && instantOf(value) !== null,
      defaultMessage: () => INSTANT,
    },
  })
  @Documented({ description: 'One time: when. It has `Z` or an offset, and lies ahead.', format: 'date-time' })
  runAt?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Documented({
    description:
      'Webhook: an event of a connected integration, such as `github.pull_request.opened`; `*` may stand for the action.',
  })
  triggerEvent?: string | null;

  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  @Documented({ description: 'Of `triggerEvent`: a JMESPath expression; a run starts when it is true of the payload.' })
  filter?: string | null;

  @IsOptional()
  @IsIn(OVERLAPS)
  @Documented({
    description:
      'While the task of the previous run is queued or running, the next occurrence is skipped, waits (one at most), or runs too. `skip` is the default of schedules, `allow` of events.',
  })
  overlap?: Overlap | null;

  @IsOptional()
  @IsString()
  @Documented({ description: 'The project of its tasks; null for none.' })
  projectId?: string | null;

  @IsOptional()
  @IsString()
  @Documented({ description: 'An id of `GET /v1/models`; null for the default at the time when it fires.' })
  model?: string | null;

  @IsOptional()
  @IsIn(['low', 'medium', 'high'])
  @Documented({ description: 'How much the model thinks; null for its default at the time when it fires.' })
  effort?: Effort | null;

  @IsOptional()
  @IsIn(APPROVALS)
  @Documented({
    description:
      '`writes`: a person approves each command and each change of a file; `secrets`: the first use of each secret. `none` is the default.',
  })
  approvals?: Approvals | null;

  @IsOptional()
  @IsIn(WHEN_BLOCKED)
  @Documented({
    description: 'Of its tasks: `wait` for what blocks them and passes by itself, or `fail`, the default.',
  })
  whenBlocked?: WhenBlocked | null;

  @IsOptional()
  @IsBoolean()
  @Documented({
    description:
      'Whether agents of its tasks may read pages of the web, where the operator lets agents. Without it, and null: they may, but for tasks that an event begins, which what others have written has set going.',
  })
  web?: boolean | null;

  @ChoiceOfSkills(
    'The skills of its tasks: each by its name for the newest version at the time when it fires, or as `name@3`. Without it, and null: those that are so by default then; an empty list: none.',
  )
  skills?: string[] | null;

  @ChoiceOfMcpServers(
    'The names of servers of `GET /v1/mcp-servers` whose tools its tasks have; an empty list: none. Without it, and null: those that a task has by default at the time when it fires, but for tasks that an event begins, which have no server that is called by its `url`.',
    true,
  )
  mcpServers?: string[] | null;

  @IsOptional()
  @IsInstance(BudgetDto, { message: 'budget must be an object' })
  @ValidateNested({ message: 'budget must be an object' })
  @Type(() => BudgetDto)
  @Documented({ description: 'What one turn of a task may use; null for no limit of its own.' })
  budget?: BudgetDto | null;

  @IsOptional()
  @IsInstance(RepositoryDto, { message: 'repository must be an object' })
  @ValidateNested({ message: 'repository must be an object' })
  @Type(() => RepositoryDto)
  @Documented({
    description:
      'What its tasks work on, and where their changes go. In `push.branch` `{taskId}` and `{date}` (UTC, such as `2026-01-31`) stand for those of each run; without `{taskId}` runs share a branch, which is the first one’s.',
  })
  repository?: RepositoryDto | null;

  @ChoiceOfEnvironment(
    'What its tasks work in: the slug of an environment for the newest version at the time when it fires, or `{slug, version}`; null for that of its project.',
  )
  environment?: EnvironmentChoice | null;

  @ChoiceOfAgent(
    'How its tasks work: `slug` for the newest version of an agent at the time when it fires, `slug@3`, or `slug@stable` for a channel; null for the default agent of the workspace. While the automation is active the agent is not archived.',
  )
  agent?: string | null;

  @DefaultChecks()
  checks?: CheckDto[] | null;

  @DefaultMaxRepairs()
  maxRepairs?: number | null;

  @IsOptional()
  @SecretNames(
    'Names of the secrets that its tasks have, those of them that there are, and no others. Without it, and null, they have what a task of its owner has; a task that an event began then has none. One that an event began reaches the hosts that these secrets are bound to, and nothing else.',
  )
  secrets?: string[] | null;
}

export class ChangeAutomationDto extends AutomationOptions {
  @OptionalNotNull()
  @Name(NAME)
  name?: string;

  @OptionalNotNull()
  @Content()
  content?: string;
}

export class CreateAutomationDto extends AutomationOptions {
  @Name(NAME)
  name: string;

  @Content()
  content: string;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: '`true`: checks all and makes nothing; the answer is 200 and says when it would run.' })
  dryRun?: boolean;

  @OptionalNotNull()
  // As it was given: class-transformer leaves out keys that are names of Object.prototype.
  @Transform(({ obj }: { obj: { samplePayload?: unknown } }) => obj.samplePayload)
  @Documented({
    description:
      'With `dryRun` and `triggerEvent`: the payload of an event; the answer says whether a run would start.',
    anyOf: [{ type: 'object' }, { type: 'array' }],
  })
  @ValidateBy({
    name: 'payload',
    validator: { validate: (value) => typeof value === 'object' && value !== null, defaultMessage: () => PAYLOAD },
  })
  samplePayload?: object;
}

const LIMIT = 'limit must be a whole number from 1 to 100';

export class ListAutomationsQuery extends PageQuery {
  // Replaces the checks of the base class.
  @OptionalNotNull()
  @IsInt({ message: LIMIT })
  @Min(1, { message: LIMIT })
  @Max(100, { message: LIMIT })
  @Transform(digits)
  @Documented({ description: 'How many at most; without it all.' })
  override limit: number | undefined = undefined;
}
