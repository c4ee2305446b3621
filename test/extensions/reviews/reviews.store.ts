import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Chore, isUuid, notFound, OperatorError } from 'millwright';
import type { Repository } from 'typeorm';
import { Review } from './review.entity.js';
import { ReviewsConfig } from './reviews.names.js';

/** Reads, and what the operator does: outside of requests that write, so the repository is injected. */
@Injectable()
export class ReviewStore {
  constructor(
    @InjectRepository(Review) private readonly reviews: Repository<Review>,
    private readonly config: ReviewsConfig,
  ) {}

  async get(workspaceId: string, id: string): Promise<Review> {
    const review = isUuid(id) ? await this.reviews.findOneBy({ id, workspaceId }) : null;
    return review ?? missing();
  }

  /** Newest first, after a place of the list. */
  page(taskId: string, limit: number, after: readonly string[] | null): Promise<Review[]> {
    const query = this.reviews.createQueryBuilder('r').where('r.taskId = :taskId', { taskId });
    if (after !== null) {
      const [createdAt, id] = after;
      query.andWhere('(r.createdAt, r.id) < (:createdAt, :id)', { createdAt, id });
    }
    return query.orderBy('r.createdAt', 'DESC').addOrderBy('r.id', 'DESC').limit(limit).getMany();
  }

  /** With their tasks: one statement. */
  ofWorkspace(workspaceId: string): Promise<Review[]> {
    const query = this.reviews.createQueryBuilder('r').innerJoinAndSelect('r.task', 't');
    return query.where('r.workspaceId = :workspaceId', { workspaceId }).orderBy('r.createdAt').getMany();
  }

  /** How many there are of each rating. */
  async byRating(): Promise<[string, number][]> {
    const query = this.reviews.createQueryBuilder('r').select('r.rating', 'rating').addSelect('count(*)', 'count');
    const rows = await query.groupBy('r.rating').getRawMany<{ rating: number; count: string }>();
    return rows.map(({ rating, count }) => [String(rating), Number(count)]);
  }

  /** Every hour, in one process. Resolves with how many were deleted. */
  @Chore({ every: 3_600_000, lock: 8_200_001 })
  async forgetOld(): Promise<number> {
    const old = this.reviews.createQueryBuilder().delete().where('created_at < now() - make_interval(days => :days)');
    const { affected } = await old.setParameter('days', this.config.keepDays).execute();
    return affected ?? 0;
  }

  /** For the operator. */
  async delete(id: string): Promise<void> {
    const { affected } = isUuid(id) ? await this.reviews.delete({ id }) : { affected: 0 };
    if (affected !== 1) throw new OperatorError(`There is no review '${id}'; 'reviews list' shows the ids.`);
  }
}

function missing(): never {
  throw notFound('review');
}
