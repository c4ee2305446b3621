import { Injectable } from '@nestjs/common';
import { ApiError, byCreation, columns, Database, EventLog, isUuid, newId, notFound, TaskAccess } from 'millwright';
import { int, intOrNull, sql, timeOrNull, USER, uuid, uuidOrNull, visible } from 'millwright';
import type { AuthContext, PageRequest, UnitOfWork } from 'millwright';
import { type NewReview, type ReviewPage, ReviewsConfig, TOO_MANY_REVIEWS } from './review.shapes.js';
import { Review } from './review.table.js';

const REVIEW = columns(Review, 'r', ['id', 'taskId', 'rating', 'text', 'createdAt']);
// Who sees the task sees its reviews.
const SEEN = sql`FROM reviews r JOIN tasks t ON t.id = r.task_id WHERE ${visible('t')}`;
const GET = sql`SELECT ${REVIEW} ${SEEN} AND r.id = ${uuid('id')}`.rows<typeof REVIEW.row>();
const RATING = intOrNull('rating');
const BEFORE = timeOrNull('createdAt');
const LIST = sql`
SELECT ${REVIEW} ${SEEN} AND t.id = ${uuid('taskId')} AND (${RATING} IS NULL OR r.rating = ${RATING})
  AND (${BEFORE} IS NULL OR (r.created_at, r.id) < (${BEFORE}, ${uuidOrNull('before')}))
ORDER BY r.created_at DESC, r.id DESC LIMIT ${int('limit')}`.rows<typeof REVIEW.row>();
const DELETE = sql`
DELETE FROM reviews WHERE id = (SELECT r.id ${SEEN} AND r.id = ${uuid('id')} AND r.created_by = ${USER})
RETURNING id`.rows<{ id: string }>();

@Injectable()
export class ReviewsService {
  constructor(
    private readonly config: ReviewsConfig,
    private readonly database: Database,
    private readonly events: EventLog,
    private readonly tasks: TaskAccess,
  ) {}

  async create(auth: AuthContext, tx: UnitOfWork, taskId: string, input: NewReview): Promise<Review> {
    // From here on two reviews of one task come one after the other.
    await this.tasks.hold(auth, tx, taskId);
    const reviews = tx.manager.getRepository(Review);
    if ((await reviews.countBy({ taskId })) >= this.config.perTask) {
      throw new ApiError(TOO_MANY_REVIEWS, `A task has at most ${this.config.perTask} reviews.`);
    }
    const { workspaceId, userId: createdById } = auth;
    const { rating, text } = input;
    const id = newId();
    await reviews.insert({ id, workspaceId, taskId, createdById, rating, text });
    await this.events.append(tx, { workspaceId, taskId, type: 'reviews.created', data: { reviewId: id, rating } });
    return reviews.findOneByOrFail({ id });
  }

  async get(auth: AuthContext, id: string) {
    const [review] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    return review ?? missing();
  }

  async list(auth: AuthContext, taskId: string, page: PageRequest<ReviewPage>) {
    await this.tasks.check(auth, taskId);
    const [createdAt = null, before = null] = page.after ?? [];
    const values = { taskId, rating: page.query.rating ?? null, createdAt, before, limit: page.limit + 1 };
    return page.cut(await this.database.read.run(LIST({ auth, ...values })), byCreation);
  }

  /** Only by who wrote it. */
  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    const gone = isUuid(id) ? await tx.run(DELETE({ auth, id })) : [];
    if (gone.length === 0) missing();
  }
}

function missing(): never {
  throw notFound('review');
}
