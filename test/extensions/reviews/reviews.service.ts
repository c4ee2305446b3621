import { Injectable } from '@nestjs/common';
import {
  ApiError,
  type AuthContext,
  byCreation,
  newId,
  type PageRequest,
  TaskAccess,
  type UnitOfWork,
} from 'millwright';
import type { CreateReviewDto } from './review.dto.js';
import { Review } from './review.entity.js';
import { ReviewsConfig, TOO_MANY_REVIEWS } from './reviews.names.js';
import { ReviewStore } from './reviews.store.js';

@Injectable()
export class ReviewsService {
  constructor(
    private readonly config: ReviewsConfig,
    private readonly store: ReviewStore,
    private readonly tasks: TaskAccess,
  ) {}

  async create(auth: AuthContext, tx: UnitOfWork, taskId: string, input: CreateReviewDto): Promise<Review> {
    // From here on two reviews of one task come one after the other.
    await this.tasks.hold(auth, tx, taskId);
    const reviews = tx.manager.getRepository(Review);
    if ((await reviews.countBy({ taskId })) >= this.config.perTask) {
      throw new ApiError(TOO_MANY_REVIEWS, `A task has at most ${this.config.perTask} reviews.`);
    }
    const { workspaceId, userId: createdById } = auth;
    const { rating, text } = input;
    const review = { id: newId(), workspaceId, taskId, createdById, rating, text };
    await reviews.insert(review);
    return reviews.findOneByOrFail({ id: review.id });
  }

  /** Who sees the task sees its reviews. */
  async get(auth: AuthContext, id: string): Promise<Review> {
    const review = await this.store.get(auth.workspaceId, id);
    await this.tasks.check(auth, review.taskId);
    return review;
  }

  async list(auth: AuthContext, taskId: string, page: PageRequest) {
    await this.tasks.check(auth, taskId);
    const rows = await this.store.page(taskId, page.limit + 1, page.after);
    return page.cut(rows, byCreation);
  }
}
