import { IsIn, IsOptional, IsString, MaxLength, ValidateBy } from 'class-validator';
import { PLANS, type Plan } from '../../platform/config/rate-limits.js';
import { Documented } from '../../platform/http/documented.js';
import { ApiError } from '../../platform/http/api-error.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { isDate, momentOf } from '../../platform/text/instant.js';

export const GROUPINGS = ['day', 'model', 'project', 'automation', 'user'] as const;
export type Grouping = (typeof GROUPINGS)[number];

const DAY_MS = 86_400_000;
const MOST_DAYS = 366;
const DEFAULT_DAYS = 30;

const isTime = (value: unknown): boolean => typeof value === 'string' && momentOf(value) !== null;

/** A day, or a time with `Z` or an offset. */
const Moment = (description: string): PropertyDecorator => {
  return (target, key) => {
    Documented({ description, type: 'string', examples: ['2026-11-01'] })(target, key);
    const message = '$property must be a date such as 2026-11-01, or an ISO 8601 time with Z or an offset';
    ValidateBy({ name: 'moment', validator: { validate: isTime, defaultMessage: () => message } })(target, key);
    IsOptional()(target, key);
  };
};

export class PeriodQuery {
  @Moment('The beginning; 30 days before the end when not given. A date is its beginning in UTC.')
  from?: string;

  @Moment('The end, which is not included; now when not given. A date is included whole.')
  to?: string;
}

export class UsageQuery extends PeriodQuery {
  @IsIn(GROUPINGS, { message: `groupBy must be one of ${GROUPINGS.join(', ')}` })
  @Documented({ description: 'What a row of the answer stands for.' })
  groupBy: Grouping = 'day';
}

/** From `from` on, and before `to`. */
export interface Period {
  from: Date;
  to: Date;
}

/** The period of a query. Throws 400 `invalid_query` when it is longer than 366 days or ends before it begins. */
export function periodOf({ from, to }: PeriodQuery, now: Date): Period {
  const end = to === undefined ? now : endOf(to);
  const start = (from === undefined ? null : momentOf(from)) ?? new Date(end.getTime() - DEFAULT_DAYS * DAY_MS);
  if (start > end) {
    throw new ApiError('invalid_query', 'from must not lie after to, which is now when it is not given.', {
      param: 'from',
    });
  }
  if (end.getTime() - start.getTime() > MOST_DAYS * DAY_MS) {
    throw new ApiError('invalid_query', `from and to must be at most ${MOST_DAYS} days apart.`, { param: 'from' });
  }
  return { from: start, to: end };
}

function endOf(text: string): Date {
  const start = momentOf(text)?.getTime() ?? 0;
  return new Date(isDate(text) ? start + DAY_MS : start);
}

const isPage = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

/** An address of a page, at most 2,000 characters. */
const PageUrl = (description: string): PropertyDecorator => {
  return (target, key) => {
    Documented({ description, format: 'uri', pattern: '^https?://' })(target, key);
    const message = '$property must be a URL that begins with http:// or https://';
    ValidateBy({ name: 'page', validator: { validate: isPage, defaultMessage: () => message } })(target, key);
    MaxLength(2000)(target, key);
    IsString()(target, key);
    OptionalNotNull()(target, key);
  };
};

const DONE = 'Where the browser goes afterwards; the usage page of the console when not given.';

/** Either `plan` or `topUp`. */
export class CheckoutDto {
  @OptionalNotNull()
  @IsIn(PLANS)
  @Documented({ description: 'A plan of `offers` of the summary, by subscription.' })
  plan?: Plan;

  @OptionalNotNull()
  @IsString()
  @MaxLength(20)
  @Documented({ description: 'An amount of `offers` of the summary, paid once.', examples: ['10.00'] })
  topUp?: string;

  @PageUrl(DONE)
  successUrl?: string;

  @PageUrl('Where it goes when nothing was paid; as `successUrl` when not given.')
  cancelUrl?: string;
}

export class PortalDto {
  @PageUrl(DONE)
  returnUrl?: string;
}
