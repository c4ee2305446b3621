import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
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
import { APPROVALS, type Approvals, WHEN_BLOCKED, type WhenBlocked } from '../../engine/agent/agent-engine.js';
import type { OutputSchema } from '../../engine/agent/output/output-schema.js';
import { Documented } from '../../platform/http/documented.js';
import { Name, OptionalNotNull, Tags } from '../../platform/http/fields.js';
import type { Effort } from '../../engine/models/model-provider.js';
import { ChoiceOfAgent } from '../agents/agent-choice.dto.js';
import { ChoiceOfEnvironment, type EnvironmentChoice } from '../environments/environment-choice.dto.js';
import { ChoiceOfMcpServers } from '../mcp-servers/mcp-server-choice.dto.js';
import { ChoiceOfSkills } from '../skills/skill-choice.dto.js';
import { type CheckDto, Checks, MaxRepairs } from './checks/checks.dto.js';
import { ReviewCommentDto } from './messages/review.dto.js';
import { Metadata } from './metadata.js';
import { SchemaOfOutput } from './output-schema.dto.js';
import { RepositoryDto } from './repository.dto.js';

const MAX_CONTENT = 200_000;

// Registered from the last check to the first: the pipe answers the one that was registered last.
export const Content =
  (description = 'What the agent is to do, or to know. Markdown.'): PropertyDecorator =>
  (target, key): void => {
    Matches(/\S/, { message: '$property must not be blank' })(target, key);
    MaxLength(MAX_CONTENT)(target, key);
    IsString()(target, key);
    OptionalNotNull()(target, key);
    Documented({ description })(target, key);
  };

/** A list of at most `most` objects of a class; `message` says what each is to be. */
const Items =
  (type: () => new () => object, most: number, message: string, description: string): PropertyDecorator =>
  (target, key): void => {
    Type(type)(target, key);
    ValidateNested({ each: true, message })(target, key);
    // class-validator goes through lists in lists, and finds nothing wrong with empty ones.
    const isFlat = (value: unknown) => Array.isArray(value) && !value.some(Array.isArray);
    ValidateBy({ name: 'flat', validator: { validate: isFlat, defaultMessage: () => message } })(target, key);
    ArrayMaxSize(most)(target, key);
    ArrayMinSize(1)(target, key);
    IsArray()(target, key);
    OptionalNotNull()(target, key);
    Documented({ description })(target, key);
  };

const Attachments = (): PropertyDecorator => {
  const description = 'Uploads that become files of the task, under `attachments/` in its workdir.';
  return Items(() => AttachmentDto, 20, 'each of $property must be an object {uploadId}', description);
};

export class AttachmentDto {
  @IsString()
  @Documented({ description: 'The id of an upload of the last 24 hours.' })
  uploadId: string;
}

const COST = /^\d{1,9}(\.\d{1,6})?$/;
const AMOUNT =
  'maxCost must be an amount in USD as text, above 0 and below 1,000,000,000, with at most 6 decimals: "0.50"';

/** A limit of a budget: null means that it is not given, so that a budget that was read can be sent back. */
const Limit =
  (...checks: PropertyDecorator[]): PropertyDecorator =>
  (target, key): void => {
    for (const check of checks.toReversed()) check(target, key);
    Transform(({ value }: { value: unknown }) => value ?? undefined)(target, key);
    IsOptional()(target, key);
  };

const Count = (most: number): PropertyDecorator => Limit(IsInt(), Min(1), Max(most));

/** Reference §4. */
export class BudgetDto {
  @Count(1_000_000)
  @Documented({ description: 'Calls of the model.' })
  maxSteps?: number;

  @Count(1_000_000_000_000)
  @Documented({ description: 'Tokens that go in and come out, together.' })
  maxTokens?: number;

  @Count(31_622_400)
  @Documented({ description: 'Running time; waiting for people does not count.' })
  maxDurationSeconds?: number;

  @Limit(IsString(), Matches(COST, { message: AMOUNT }), Matches(/[1-9]/, { message: AMOUNT }))
  @Documented({
    description: 'USD, a decimal number above 0, as text. Only with a model that has prices.',
    pattern: COST.source,
  })
  maxCost?: string;
}

/** A task or message has at least one of these. */
const Substance = (...fields: string[]) => Documented({ anyOf: fields.map((field) => ({ required: [field] })) });

/** What a task is created with and may be changed to afterwards. */
export class TaskOptions {
  @OptionalNotNull()
  @Name('Without it the first line of the content that says something, else the name of the first file.')
  title?: string;

  @IsOptional()
  @IsString()
  @Documented({ description: 'The project that the task belongs to; null for none.' })
  projectId?: string | null;

  @IsOptional()
  @IsInstance(BudgetDto, { message: 'budget must be an object' })
  @ValidateNested({ message: 'budget must be an object' })
  @Type(() => BudgetDto)
  @Documented({ description: 'What one turn may use; null for no limit of its own.' })
  budget?: BudgetDto | null;

  @Metadata('At most 16 pairs of text of your own. A PATCH replaces all of them.')
  metadata?: Record<string, string>;

  @Tags('Words of your own that lists can be filtered by. A PATCH replaces all of them.')
  tags?: string[];

  @OptionalNotNull()
  @IsString()
  @Documented({
    description:
      'An id of `GET /v1/models`; a task that is created without it has the default. A PATCH counts from the next turn on.',
  })
  model?: string;

  @OptionalNotNull()
  @IsIn(['low', 'medium', 'high'])
  @Documented({
    description:
      'How much the model thinks, as `GET /v1/models` lists it for the model; without it the default of the model.',
  })
  effort?: Effort;

  @OptionalNotNull()
  @IsIn(WHEN_BLOCKED)
  @Documented({
    description:
      '`wait`: what would end a turn as failed and passes by itself, such as a used up window or an overloaded model, is waited for. `fail` is the default.',
  })
  whenBlocked?: WhenBlocked;

  @ChoiceOfMcpServers(
    'The names of servers of `GET /v1/mcp-servers` whose tools its agent has; an empty list: none. A task that is created without it has those that are so by default. A PATCH counts from the next run on.',
  )
  mcpServers?: string[];

  @Checks()
  checks?: CheckDto[];

  @MaxRepairs()
  maxRepairs?: number;
}

export class ChangeTaskDto extends TaskOptions {
  @OptionalNotNull()
  @IsBoolean()
  @Documented({
    description: 'Lists leave out a task that is archived. It goes on as it is; a message or an answer brings it back.',
  })
  archived?: boolean;
}

@Substance('content', 'attachments')
export class CreateTaskDto extends TaskOptions {
  @Content()
  content?: string;

  @Attachments()
  attachments?: AttachmentDto[];

  @OptionalNotNull()
  @IsIn(APPROVALS)
  @Documented({
    description:
      '`writes`: a person approves each command and each change of a file first; `secrets`: the first use of each secret. `none` is the default.',
  })
  approvals?: Approvals;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({
    description:
      '`false`: its agent reads no pages of the web, although the operator lets agents. `true` is the default.',
  })
  web?: boolean;

  @SchemaOfOutput()
  outputSchema?: OutputSchema | null;

  @OptionalNotNull()
  @IsInstance(RepositoryDto, { message: 'repository must be an object' })
  @ValidateNested({ message: 'repository must be an object' })
  @Type(() => RepositoryDto)
  @Documented({ description: 'Cloned before the first model call, and handed in at `repo/` of the workdir.' })
  repository?: RepositoryDto;

  @ChoiceOfSkills(
    'The skills that it has: each by its name for the newest version, or as `name@3`. Without it, and null: those that are so by default; an empty list: none.',
  )
  skills?: string[] | null;

  @ChoiceOfEnvironment(
    'What it works in: the slug of an environment for its newest version, or `{slug, version}`. Without it that of the project; null for none.',
  )
  environment?: EnvironmentChoice | null;

  @ChoiceOfAgent(
    'How it works: `slug` for the newest version of an agent, `slug@3`, or `slug@stable` for a channel. The task keeps that version. Without it the default agent of the workspace; null for none. An agent never lets a member do more: the stricter `approvals`, the smaller of each limit of `budget`, `web` only where both let; nor when the task is changed or forked.',
  )
  agent?: string | null;
}

const MODES = `When a running task reads the message; otherwise all three are the same. \`queue\`, the default: in a turn of its own, when the
running one is over. \`steer\`: before the next model call of the running turn. \`interrupt\`: the running turn ends as it stands, and
the next one reads it.`;

@Substance('content', 'review', 'attachments')
export class SendMessageDto {
  @Content()
  content?: string;

  @Items(
    () => ReviewCommentDto,
    100,
    'each of $property must be an object {path, side, line, endLine, quote, text}',
    'Comments on lines of the changes. They become `custom` parts of the kind `review`, which the agent reads as text.',
  )
  review?: ReviewCommentDto[];

  @Attachments()
  attachments?: AttachmentDto[];

  @OptionalNotNull()
  @IsIn(['queue', 'steer', 'interrupt'])
  @Documented({ description: MODES })
  mode?: 'queue' | 'steer' | 'interrupt';
}

export class AnswerDto {
  @IsString()
  @Documented({ description: 'The id of the pending interaction.' })
  interactionId: string;

  @Content()
  content?: string;

  @OptionalNotNull()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @Documented({ description: 'For a `choice`: ids of its options.' })
  optionIds?: string[];

  @Attachments()
  attachments?: AttachmentDto[];

  @OptionalNotNull()
  @IsIn(['approve', 'deny'])
  @Documented({ description: 'For an `approval`, which takes nothing else but `reason` and `remember`.' })
  decision?: 'approve' | 'deny';

  @OptionalNotNull()
  @IsString()
  @MaxLength(4_000)
  @Matches(/\S/, { message: 'reason must not be blank' })
  @Documented({ description: 'Why; the agent reads it when the call is denied.' })
  reason?: string;

  @OptionalNotNull()
  @IsIn(['task'])
  @Documented({ description: 'With `approve`: no more asking for that tool in this task.' })
  remember?: 'task';
}
