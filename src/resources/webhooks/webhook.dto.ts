import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { Moment, OptionalNotNull } from '../../platform/http/fields.js';
import { PageQuery } from '../../platform/http/pages.js';
import { documentedPatterns, documentedTypes } from './event-types.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from './webhook-delivery.entity.js';
import { WEBHOOK_STATUSES, type WebhookStatus } from './webhook.entity.js';

const WEEK_SECONDS = 604_800;

// Registered from the last check to the first: the pipe answers the one that was registered last.
const Url =
  (): PropertyDecorator =>
  (target, key): void => {
    Documented({
      description:
        'Where to send to: `https://`, without user name and password. No address that is not public, however it is spelled, unless the operator allows its network.',
    })(target, key);
    MaxLength(2048)(target, key);
    IsString()(target, key);
  };

const Types =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented((extensions) => documentedPatterns(description, extensions))(target, key);
    // Which there are is the extensions' to say: the services check it.
    IsString({ each: true })(target, key);
    ArrayUnique()(target, key);
    ArrayMaxSize(50)(target, key);
    ArrayMinSize(1)(target, key);
    IsArray()(target, key);
  };

const TYPES = 'Of which events it is told: types, all of one kind (`task.*`), or all (`*`).';

class WebhookOptions {
  @IsOptional()
  @IsString()
  @MaxLength(4000)
  @Documented({ description: 'For people.' })
  description?: string | null;

  @IsOptional()
  @IsString()
  @Documented({ description: 'Only events of this project: of its tasks and automations.' })
  projectId?: string | null;
}

export class CreateWebhookDto extends WebhookOptions {
  @Url()
  url: string;

  @Types(TYPES)
  types: string[];
}

export class ChangeWebhookDto extends WebhookOptions {
  @OptionalNotNull()
  @Url()
  url?: string;

  @OptionalNotNull()
  @Types(TYPES)
  types?: string[];

  @OptionalNotNull()
  @IsIn(WEBHOOK_STATUSES)
  @Documented({
    description:
      '`disabled`: nothing is sent, and what waits is cancelled. `enabled`: what happens from now on is sent.',
  })
  status?: WebhookStatus;
}

export class RotateWebhookSecretDto {
  @OptionalNotNull()
  @IsInt()
  @Min(0)
  @Max(WEEK_SECONDS)
  @Documented({ description: 'How long the former secret signs too, in seconds; 86400 is the default.' })
  overlapSeconds?: number;
}

export class RecoverWebhookDto {
  @Moment('From when on.', true)
  since: string;

  @OptionalNotNull()
  @Types('Only these of its types.')
  types?: string[];
}

export class ListDeliveriesQuery extends PageQuery {
  @OptionalNotNull()
  @IsIn(DELIVERY_STATUSES)
  @Documented({ description: 'Only deliveries with this status.' })
  status?: DeliveryStatus;

  @OptionalNotNull()
  @IsString()
  @Documented((extensions) => documentedTypes('Only deliveries of events of this type.', extensions))
  type?: string;

  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'Only deliveries of events of this task.' })
  taskId?: string;
}
