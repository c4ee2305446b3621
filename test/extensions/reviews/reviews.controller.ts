import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { Auth, type AuthContext, deletedSchema, Endpoint, Page, PageRequest, pageSchema, Tx } from 'millwright';
import type { UnitOfWork } from 'millwright';
import { z } from 'zod';
import { NewReview, ReviewPage, reviewSchema, reviewView } from './review.shapes.js';
import { ReviewsService } from './reviews.service.js';

const READS = { policy: 'resource_read', scopes: ['reviews:read'] } as const;
const WRITES = { policy: 'review_write', scopes: ['reviews:write'], transaction: true } as const;
const one = z.strictObject({ review: reviewSchema });
const many = pageSchema('reviews', reviewSchema);

@Controller('v1')
export class ReviewsController {
  constructor(private readonly reviews: ReviewsService) {}

  @Post('tasks/:taskId/reviews')
  @Endpoint({
    ...WRITES,
    summary: 'Review a task',
    idempotency: 'optional',
    location: '/v1/reviews/{review.id}',
    answer: one,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('taskId') id: string, @Body() body: NewReview) {
    return { review: reviewView(await this.reviews.create(auth, tx, id, body)) };
  }

  @Get('tasks/:taskId/reviews')
  @Endpoint({ ...READS, summary: 'List the reviews of a task', description: 'Newest first.', answer: many })
  async list(@Auth() auth: AuthContext, @Param('taskId') id: string, @Page(ReviewPage) page: PageRequest<ReviewPage>) {
    const { rows, nextCursor } = await this.reviews.list(auth, id, page);
    return { reviews: rows.map(reviewView), nextCursor };
  }

  @Get('reviews/:reviewId')
  @Endpoint({ ...READS, summary: 'Read a review', answer: one })
  async get(@Auth() auth: AuthContext, @Param('reviewId') id: string) {
    return { review: reviewView(await this.reviews.get(auth, id)) };
  }

  @Delete('reviews/:reviewId')
  @Endpoint({ ...WRITES, summary: 'Delete a review', answer: deletedSchema })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('reviewId') id: string) {
    await this.reviews.remove(auth, tx, id);
    return { deleted: true as const, id };
  }
}
