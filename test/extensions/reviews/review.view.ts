import { idSchema, named, timestampSchema } from 'millwright';
import { z } from 'zod';
import type { Review } from './review.entity.js';

export const reviewSchema = named(
  'Review',
  z.strictObject({
    id: idSchema,
    taskId: idSchema,
    rating: z.int(),
    text: z.string(),
    createdAt: timestampSchema,
  }),
);

export function reviewView({ id, taskId, rating, text, createdAt }: Review): z.output<typeof reviewSchema> {
  return { id, taskId, rating, text, createdAt: createdAt.toISOString() };
}
