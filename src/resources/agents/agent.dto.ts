import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
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
import { APPROVALS, type Approvals } from '../../engine/agent/agent-engine.js';
import type { OutputSchema } from '../../engine/agent/output/output-schema.js';
import type { Effort } from '../../engine/models/model-provider.js';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull, Tags } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';
import {
  ChoiceOfEnvironment,
  type EnvironmentChoice,
  SLUG,
  SLUG_RULE,
} from '../environments/environment-choice.dto.js';
import { ChoiceOfMcpServers } from '../mcp-servers/mcp-server-choice.dto.js';
import { ChoiceOfSkills } from '../skills/skill-choice.dto.js';
import { type CheckDto, DefaultChecks, DefaultMaxRepairs } from '../tasks/checks/checks.dto.js';
import { Metadata } from '../tasks/metadata.js';
import { SchemaOfOutput } from '../tasks/output-schema.dto.js';
import { RepositoryDto } from '../tasks/repository.dto.js';
import { BudgetDto } from '../tasks/task.dto.js';
import { CHANNEL, CHANNEL_RULE } from './agent-choice.dto.js';

const INSTRUCTIONS = 32 * 1024;
const [MOST_CHANNELS, MOST_DENIED, MOST_VERSION] = [20, 100, 999_999_999];

const fits = (value: unknown): boolean => typeof value === 'string' && Buffer.byteLength(value) <= INSTRUCTIONS;

function areChannels(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const all = Object.entries(value);
  const isVersion = (one: unknown) =>
    typeof one === 'number' && Number.isInteger(one) && one >= 1 && one <= MOST_VERSION;
  return all.length <= MOST_CHANNELS && all.every(([name, version]) => CHANNEL.test(name) && isVersion(version));
}

/** Reference §27.5. */
export class AgentToolsDto {
  @OptionalNotNull()
  @IsArray()
  @ArrayMaxSize(MOST_DENIED)
  @ArrayUnique()
  @IsString({ each: true })
  @Documented({
    description:
      'Names of tools that its tasks do not have: they are not offered to the model, and refused when it calls them.',
  })
  deny?: string[];
}

/** What a version is made of. Null and what is not given says nothing: then it is as in a task without an agent. */
class AgentOptions {
  @OptionalNotNull()
  @ValidateBy({
    name: 'instructions',
    validator: { validate: fits, defaultMessage: () => `$property must be text of at most ${INSTRUCTIONS} bytes` },
  })
  @Documented({
    description:
      'What its tasks are told before all else, as the word of who made the agent: at most 32 KiB. Markdown.',
    type: 'string',
    maxLength: INSTRUCTIONS,
  })
  instructions?: string;

  @IsOptional()
  @IsString()
  @Documented({
    description: 'An id of `GET /v1/models`, of tasks that name none themselves; null for the default at that time.',
  })
  model?: string | null;

  @IsOptional()
  @IsIn(['low', 'medium', 'high'])
  @Documented({ description: 'How much the model thinks; null for its default.' })
  effort?: Effort | null;

  @OptionalNotNull()
  @IsIn(APPROVALS)
  @Documented({
    description:
      'What a person approves first, at least: `writes` is stricter than `secrets`, and that than `none`, the default.',
  })
  approvals?: Approvals;

  @IsOptional()
  @IsInstance(BudgetDto, { message: 'budget must be an object' })
  @ValidateNested({ message: 'budget must be an object' })
  @Type(() => BudgetDto)
  @Documented({ description: 'What one turn of its tasks may use, at most; null for no limit of its own.' })
  budget?: BudgetDto | null;

  @IsOptional()
  @IsInstance(RepositoryDto, { message: 'repository must be an object' })
  @ValidateNested({ message: 'repository must be an object' })
  @Type(() => RepositoryDto)
  @Documented({
    description:
      'What its tasks work on, and where their changes go; null for nothing. In `push.branch` `{taskId}` and `{date}` stand for those of each task, as in automations.',
  })
  repository?: RepositoryDto | null;

  @OptionalNotNull()
  @IsInstance(AgentToolsDto, { message: 'tools must be an object' })
  @ValidateNested({ message: 'tools must be an object' })
  @Type(() => AgentToolsDto)
  @Documented({ description: 'Which tools its tasks do not have.' })
  tools?: AgentToolsDto;

  @IsOptional()
  @IsBoolean()
  @Documented({ description: '`false`: its tasks read no pages of the web. Null, the default, says nothing of that.' })
  web?: boolean | null;

  @ChoiceOfSkills(
    'The skills of its tasks: each by its name for the newest version at that time, or as `name@3`. Without it, and null: those that are so by default; an empty list: none.',
  )
  skills?: string[] | null;

  @ChoiceOfMcpServers(
    'The names of servers of `GET /v1/mcp-servers` whose tools its tasks have; an empty list: none. Without it, and null: those of the environment, else those that are so by default.',
    true,
  )
  mcpServers?: string[] | null;

  @DefaultChecks()
  checks?: CheckDto[] | null;

  @DefaultMaxRepairs()
  maxRepairs?: number | null;

  @ChoiceOfEnvironment(
    'What its tasks work in: the slug of an environment for the newest version at that time, or `{slug, version}`; null for that of their project.',
  )
  environment?: EnvironmentChoice | null;

  @SchemaOfOutput()
  outputSchema?: OutputSchema | null;

  @Tags('Of tasks that have none themselves.')
  tags?: string[];

  @Metadata('Of tasks that have none themselves: at most 16 pairs of text.')
  metadata?: Record<string, string>;

  @OptionalNotNull()
  @IsString()
  @MaxLength(2_000)
  @Documented({ description: 'For people: when to take this one. It makes no version.' })
  description?: string;

  @OptionalNotNull()
  @ValidateBy({
    name: 'channels',
    validator: {
      validate: areChannels,
      defaultMessage: () =>
        `$property must be an object of at most ${MOST_CHANNELS} names and versions, such as {"stable": 3}; a name has ${CHANNEL_RULE}`,
    },
  })
  // As it was given: class-transformer leaves out keys that are names of Object.prototype.
  @Transform(({ obj }: { obj: { channels?: unknown } }) => obj.channels)
  @Documented({
    description:
      'Names that stand for versions: with `{"stable": 3}` a task takes version 3 as `slug@stable`. All of them are replaced; it makes no version.',
    type: 'object',
    maxProperties: MOST_CHANNELS,
    propertyNames: { pattern: CHANNEL.source },
    additionalProperties: { type: 'integer', minimum: 1, maximum: MOST_VERSION },
  })
  channels?: Record<string, number>;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({
    description:
      'Whether tasks of the workspace that name no agent have this one: at most one agent is. Set by owners and admins alone; it makes no version.',
  })
  default?: boolean;
}

const NAME = 'What people call it.';

/** Reference §27.5. */
export class CreateAgentDto extends AgentOptions {
  @IsString()
  @Matches(SLUG, { message: `$property must be ${SLUG_RULE}` })
  @Documented({ description: 'By which tasks name it: once in a workspace, and never another.' })
  slug: string;

  @OptionalNotNull()
  @Name(`${NAME} Without it the slug.`)
  name?: string;
}

/** Reference §27.5. */
export class ChangeAgentDto extends AgentOptions {
  @IsInt()
  @Min(1)
  @Max(MOST_VERSION)
  @Documented({
    description:
      'The newest version as the caller knows it. Another one is 409 `version_conflict`: read the agent again.',
  })
  version: number;

  @OptionalNotNull()
  @Name(`${NAME} It makes no version.`)
  name?: string;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: '`true`: it takes no new task, and lists leave it out. It makes no version.' })
  archived?: boolean;
}

export class ListAgentsQuery extends PageQuery {
  @OptionalNotNull()
  @IsIn(['true', 'false', 'all'])
  @Documented({ description: 'Agents that are archived, those that are not (the default), or all.' })
  archived?: 'true' | 'false' | 'all';
}
