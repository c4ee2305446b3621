import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import {
  Auth,
  type AuthContext,
  Endpoint,
  Metrics,
  Page,
  PageQuery,
  PageRequest,
  pageSchema,
  Tx,
  type UnitOfWork,
} from 'millwright';
import { z } from 'zod';
import { CreateReviewDto } from './review.dto.js';
import { reviewSchema, reviewView } from './review.view.js';
import { ReviewsService } from './reviews.service.js';

const reviewAnswer = z.strictObject({ review: reviewSchema });

@Controller('v1')
export class ReviewsController {
  private readonly written;

  constructor(
    private readonly reviews: ReviewsService,
    metrics: Metrics,
  ) {
    this.written = metrics.counter('reviews_written_total', 'Reviews that this process wrote.');
  }

  @Post('tasks/:taskId/reviews')
  @Endpoint({
    summary: 'Review a task',
    policy: 'review_write',
    scopes: ['reviews:write'],
    transaction: true,
    idempotency: 'optional',
    location: '/v1/reviews/{review.id}',
    answer: reviewAnswer,
  })
  async create(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: CreateReviewDto,
  ) {
    const review = await this.reviews.create(auth, tx, taskId, body);
    tx.afterCommit(() => this.written.inc());
    return { review: reviewView(review) };
  }

  @Get('tasks/:taskId/reviews')
  @Endpoint({
    summary: 'List the reviews of a task',
    description: 'Newest first.',
    policy: 'resource_read',
    scopes: ['reviews:read'],
    answer: pageSchema('reviews', reviewSchema),
  })
  async list(@Auth() auth: AuthContext, @Param('taskId') taskId: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.reviews.list(auth, taskId, page);
    return { reviews: rows.map(reviewView), nextCursor };
  }

  @Get('reviews/:reviewId')
  @Endpoint({ summary: 'Read a review', policy: 'resource_read', scopes: ['reviews:read'], answer: reviewAnswer })
  async get(@Auth() auth: AuthContext, @Param('reviewId') id: string) {
    return { review: reviewView(await this.reviews.get(auth, id)) };
  }
}
