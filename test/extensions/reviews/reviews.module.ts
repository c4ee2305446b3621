import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Review } from './review.entity.js';
import { ReviewsController } from './reviews.controller.js';
import { ReviewsService } from './reviews.service.js';
import { ReviewStore } from './reviews.store.js';

/** What the operator command loads: no HTTP. */
@Module({ imports: [TypeOrmModule.forFeature([Review])], providers: [ReviewStore], exports: [ReviewStore] })
export class ReviewStoreModule {}

@Module({ imports: [ReviewStoreModule], controllers: [ReviewsController], providers: [ReviewsService] })
export class ReviewsModule {}
