import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { configSection, Documented, errorCode, idSchema, named, PageQuery, timestampSchema } from 'millwright';
import { z } from 'zod';
import type { Review } from './review.table.js';

/** `extensions.reviews` of CONFIG_FILE. */
export class ReviewsConfig extends configSection(z.strictObject({ perTask: z.int().min(1).default(20) })) {}
export const TOO_MANY_REVIEWS = errorCode('too_many_reviews', 409, 'conflict');

export class NewReview {
  @IsInt() @Min(1) @Max(5) rating: number;
  @IsString() @MaxLength(2000) text: string;
}

export class ReviewPage extends PageQuery {
  @Documented({ description: 'Only reviews with this rating.' })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(5)
  @Type(() => Number)
  rating?: number;
}

const fields = { id: idSchema, taskId: idSchema, rating: z.int(), text: z.string(), createdAt: timestampSchema };
export const reviewSchema = named('Review', z.strictObject(fields));

export function reviewView(row: Pick<Review, keyof typeof fields>): z.output<typeof reviewSchema> {
  const { id, taskId, rating, text, createdAt } = row;
  return { id, taskId, rating, text, createdAt: createdAt.toISOString() };
}
