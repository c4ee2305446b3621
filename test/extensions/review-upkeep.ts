import { Injectable, Module } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Chore, configSection, defineExtension, Metrics } from 'millwright';
import type { Repository } from 'typeorm';
import { z } from 'zod';
import { Review } from './reviews/review.table.js';

class UpkeepConfig extends configSection(z.strictObject({ keepDays: z.int().min(1).default(365) })) {}

/** What becomes of reviews outside of requests: so the repository is injected. */
@Injectable()
export class ReviewUpkeep {
  private readonly forgotten;

  constructor(
    @InjectRepository(Review) private readonly reviews: Repository<Review>,
    private readonly config: UpkeepConfig,
    metrics: Metrics,
  ) {
    this.forgotten = metrics.counter('reviews_forgotten_total', 'Reviews that this process forgot.');
  }

  /** Every hour, in one process. Resolves with how many were deleted. */
  @Chore({ every: 3_600_000, lock: 8_200_001 })
  async forgetOld(): Promise<number> {
    const old = this.reviews.createQueryBuilder().delete().where('created_at < now() - make_interval(days => :days)');
    const { affected } = await old.setParameter('days', this.config.keepDays).execute();
    this.forgotten.inc(affected ?? 0);
    return affected ?? 0;
  }

  /** How many there are of each rating. */
  async byRating(): Promise<[string, number][]> {
    const query = this.reviews.createQueryBuilder('r').select('r.rating', 'rating').addSelect('count(*)', 'count');
    const rows = await query.groupBy('r.rating').getRawMany<{ rating: number; count: string }>();
    return rows.map(({ rating, count }) => [String(rating), Number(count)]);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Review])], providers: [ReviewUpkeep] })
class UpkeepModule {}

/** Beside the extension of the reviews. */
export const REVIEW_UPKEEP = defineExtension({
  name: 'review-upkeep',
  module: UpkeepModule,
  config: UpkeepConfig,
  metrics: (metrics, services) =>
    metrics.gauge('reviews', 'Reviews by rating.', 'rating', () => services.get(ReviewUpkeep).byRating()),
});
