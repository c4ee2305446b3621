import { createECDH } from 'node:crypto';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInstance,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { clockOf } from '../automations/clock.js';
import { type Channel, CHANNELS } from './notice-settings.entity.js';

const Channels =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ description })(target, key);
    IsIn(CHANNELS, { each: true })(target, key);
    ArrayUnique()(target, key);
    ArrayMaxSize(CHANNELS.length)(target, key);
    IsArray()(target, key);
    OptionalNotNull()(target, key);
  };

const TimeOfDay =
  (description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ description })(target, key);
    Matches(/^([01]\d|2[0-3]):[0-5]\d$/, { message: '$property must be a time of the day such as 22:00' })(target, key);
    IsString()(target, key);
  };

export class QuietHoursDto {
  @TimeOfDay('From when on nothing is sent.')
  from: string;

  @TimeOfDay('Until when; on the next day, when it is before `from`. Another time than `from`.')
  to: string;

  @IsString()
  @ValidateBy({
    name: 'timezone',
    validator: {
      validate: (value) => typeof value === 'string' && clockOf(value) !== undefined,
      defaultMessage: () => '$property must be an IANA time zone such as Europe/Berlin',
    },
  })
  @Documented({ description: 'An IANA time zone, whose clocks count.' })
  timezone: string;
}

/** What is not given is off. */
export class ChangeNoticesDto {
  @Channels('Where to tell that a task asks something.')
  needsYou?: Channel[];

  @Channels('Where to tell that a task is completed.')
  finished?: Channel[];

  @Channels('Where to tell that a task has failed.')
  failed?: Channel[];

  @IsOptional()
  @IsString()
  @MaxLength(2048)
  @Documented({
    description:
      'For the channel `hook`: an address of yours, or an incoming webhook of Slack. `https://`, without user name and password. No address that is not public, unless the operator allows its network.',
  })
  hookUrl?: string | null;

  @IsOptional()
  @IsInstance(QuietHoursDto, { message: 'quiet must be an object' })
  @ValidateNested({ message: 'quiet must be an object' })
  @Type(() => QuietHoursDto)
  @Documented({ description: 'When nothing is sent. What is still true at the end is sent then.' })
  quiet?: QuietHoursDto | null;

  @OptionalNotNull()
  @IsBoolean()
  @Documented({ description: 'Whether the question of the task is sent too; false is the default.' })
  detail?: boolean;
}

/** Bytes of an uncompressed point of P-256, and of the secret beside it (RFC 8291, section 3.1 and 3.2). */
const [POINT, SECRET] = [65, 16];
const bytesOf = (text: unknown): Buffer | null =>
  typeof text === 'string' && /^[A-Za-z0-9_-]{1,100}={0,2}$/.test(text) ? Buffer.from(text, 'base64url') : null;

function isPoint(text: unknown): boolean {
  const point = bytesOf(text);
  if (point?.length !== POINT) return false;
  try {
    const curve = createECDH('prime256v1');
    curve.generateKeys();
    return curve.computeSecret(point).length > 0;
  } catch {
    return false;
  }
}

const Key =
  (validate: (text: unknown) => boolean, description: string): PropertyDecorator =>
  (target, key): void => {
    Documented({ type: 'string', description })(target, key);
    const defaultMessage = () => '$property must be the key of a subscription, in base64url';
    ValidateBy({ name: 'key', validator: { validate, defaultMessage } })(target, key);
  };

export class PushKeysDto {
  @Key(isPoint, 'The public key of the browser: a point of P-256 in base64url.')
  p256dh: string;

  @Key((text) => bytesOf(text)?.length === SECRET, 'The secret of the browser: 16 bytes in base64url.')
  auth: string;
}

/** What `PushSubscription.toJSON()` of a browser gives. */
export class PushSubscriptionDto {
  @IsString()
  @MaxLength(2048)
  @Documented({ description: 'The address of the push service. It follows the rule of `hookUrl`.' })
  endpoint: string;

  @IsInstance(PushKeysDto, { message: 'keys must be an object' })
  @ValidateNested({ message: 'keys must be an object' })
  @Type(() => PushKeysDto)
  keys: PushKeysDto;

  @IsOptional()
  @IsNumber()
  @Documented({ type: ['number', 'null'], description: 'When the subscription ends; it is not looked at.' })
  expirationTime?: number | null;
}

export class EndpointQuery {
  @IsString()
  @MaxLength(2048)
  @Documented({ description: 'The address of the subscription.' })
  endpoint: string;
}

export class TestNoticeDto {
  @IsIn(CHANNELS)
  @Documented({ description: 'Where to send it.' })
  channel: Channel;
}
