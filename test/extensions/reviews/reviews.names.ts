import { configSection, errorCode } from 'millwright';
import { z } from 'zod';

/** `extensions.reviews` of CONFIG_FILE. */
export class ReviewsConfig extends configSection(
  z.strictObject({
    perTask: z.int().min(1).default(20),
    keepDays: z.int().min(1).default(365),
  }),
) {}

export const TOO_MANY_REVIEWS = errorCode('too_many_reviews', 409, 'conflict');
