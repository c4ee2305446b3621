import { IsInt, Max, Min } from 'class-validator';
import type { Effort } from '../../engine/models/model-provider.js';
import type { WhenBlocked } from '../../engine/agent/agent-engine.js';
import { documented, Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { type BudgetDto, Content, TaskOptions } from './task.dto.js';

/** Says of an inherited field what it means here. All else of it stays. */
const Means =
  (description: string): PropertyDecorator =>
  (target, key): void =>
    Documented({ ...documented({ prototype: target }, String(key)), description })(target, key);

export class ForkTaskDto extends TaskOptions {
  @OptionalNotNull()
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  @Documented({ description: 'The last turn that the fork has; without it the last one that has ended.' })
  turn?: number;

  @Content('The next message of the fork. Markdown. Without it the fork waits as `completed`.')
  content?: string;

  @Means('Without it that of the original.')
  declare title?: string;

  @Means(
    'The project that the fork belongs to; null for none. Without it that of the original, as long as that is there.',
  )
  declare projectId?: string | null;

  @Means('What one turn of the fork may use; null for no limit of its own. Without it that of the original.')
  declare budget?: BudgetDto | null;

  @Means('At most 16 pairs of text of your own. Without it those of the original.')
  declare metadata?: Record<string, string>;

  @Means('Words of your own that lists can be filtered by. Without it those of the original.')
  declare tags?: string[];

  @Means('An id of `GET /v1/models`. Without it that of the original.')
  declare model?: string;

  @Means(
    'How much the model thinks, as `GET /v1/models` lists it for the model. Without it as in the original; for another model that does not take this, the default of that model.',
  )
  declare effort?: Effort;

  @Means(
    '`wait`: what would end a turn as failed and passes by itself, such as a used up window or an overloaded model, is waited for; `fail`: it is not. Without it as in the original.',
  )
  declare whenBlocked?: WhenBlocked;

  @Means('The names of its servers, as of a task that is created. Without it those of the original.')
  declare mcpServers?: string[];
}
