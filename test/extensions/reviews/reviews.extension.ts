import { defineExtension } from 'millwright';
import { Reviews1795564800001 } from './0001-reviews.js';
import { Review } from './review.entity.js';
import { REVIEWS_COMMANDS } from './reviews.commands.js';
import { ReviewsModule, ReviewStoreModule } from './reviews.module.js';
import { ReviewsConfig, TOO_MANY_REVIEWS } from './reviews.names.js';
import { ReviewStore } from './reviews.store.js';

export const REVIEWS = defineExtension({
  name: 'reviews',
  module: ReviewsModule,
  operatorModule: ReviewStoreModule,
  entities: [Review],
  migrations: [Reviews1795564800001],
  config: ReviewsConfig,
  scopes: ['reviews:read', 'reviews:write'],
  policies: {
    review_write: { free: { capacity: 10, windowSeconds: 60 }, paid: { capacity: 60, windowSeconds: 60 } },
  },
  errors: [TOO_MANY_REVIEWS],
  commands: REVIEWS_COMMANDS,
  metrics: (metrics, services) =>
    metrics.gauge('reviews', 'Reviews by rating.', 'rating', () => services.get(ReviewStore).byRating()),
});
