import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsInstance,
  IsInt,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Documented } from '../../../platform/http/documented.js';
import { OptionalNotNull } from '../../../platform/http/fields.js';
import { type CheckDto, Checks } from '../../tasks/checks/checks.dto.js';
import { ClonedRepositoryDto } from '../../tasks/repository.dto.js';
import { Content } from '../../tasks/task.dto.js';

const CASE = 'each of cases must be an object {taskId}, or {content, repository, checks}';
const isFlat = (value: unknown) => Array.isArray(value) && !value.some(Array.isArray);

/** A task that there was, done anew from its beginning; or what a task is made of. */
export class EvaluationCaseDto {
  @OptionalNotNull()
  @IsString()
  @Documented({
    description:
      'A task: its first message with what was attached, its original commit, environment, checks and project. Goes with none of the others.',
  })
  taskId?: string;

  @Content()
  content?: string;

  @OptionalNotNull()
  @IsInstance(ClonedRepositoryDto, { message: 'repository must be an object' })
  @ValidateNested({ message: 'repository must be an object' })
  @Type(() => ClonedRepositoryDto)
  @Documented({ description: 'Cloned as for any task. Nothing is pushed.' })
  repository?: ClonedRepositoryDto;

  @Checks()
  checks?: CheckDto[];
}

/** Reference §27.5. */
export class EvaluateDto {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(5)
  @ArrayUnique()
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(999_999_999, { each: true })
  @Documented({ description: 'The versions that are compared.' })
  versions: number[];

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @ValidateBy({ name: 'flat', validator: { validate: isFlat, defaultMessage: () => CASE } })
  @ValidateNested({ each: true, message: CASE })
  @Type(() => EvaluationCaseDto)
  @Documented({ description: 'Each is a task of its own in each version.' })
  cases: EvaluationCaseDto[];

  @OptionalNotNull()
  @IsInt()
  @Min(1)
  @Max(5)
  @Documented({ description: 'How often each case is done in each version: 1 by default. At most 250 tasks in all.' })
  repeat?: number;
}
