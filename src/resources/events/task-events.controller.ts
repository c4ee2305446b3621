import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Env } from '../../platform/config/env.js';
import { EventSubscriptions } from '../../platform/events/event-subscriptions.js';
import { isUuid } from '../../platform/database/ids.js';
import { notFound } from '../../platform/http/api-error.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { originOf } from '../../platform/http/origin.js';
import { isFinal } from '../tasks/task-status.js';
import { TransparencyPolicy } from '../tasks/messages/transparency-policy.js';
import { TasksService } from '../tasks/tasks.service.js';
import { asksForStream, checkForm, checkTurn, invalidPosition, positionOf, typesOf } from './asked.js';
import { EventAnswers } from './event-answers.js';
import { EventReads } from './event-reads.js';
import { readerOf } from './feed.js';
import { eventsAnswer, TASK_TYPES, taskEventSchema } from './event.view.js';
import { TaskEventsQuery } from './events.dto.js';
import { LiveUpdates } from './live-updates.js';
import { PlainWords } from './plain-words.js';
import { LAST_TURN } from './turn.sql.js';
import { TurnFeed } from './turn-feed.js';
import { UiWords } from './ui-words.js';
import { LAST, TaskFeed, type TaskFeedOptions } from './task-feed.js';

@Controller('v1/tasks/:taskId/events')
export class TaskEventsController {
  constructor(
    private readonly tasks: TasksService,
    private readonly policy: TransparencyPolicy,
    private readonly reads: EventReads,
    private readonly answers: EventAnswers,
    private readonly subscriptions: EventSubscriptions,
    private readonly env: Env,
  ) {}

  @Get()
  @Endpoint({
    summary: 'Follow a task',
    description:
      'Its events after a position, each once, in order. With `Accept: text/event-stream` a stream that goes on, else JSON; with `wait` ' +
      'that waits for an event. Without `after` it begins with the first event.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: {
      200: {
        description: 'The events.',
        content: { 'application/json': eventsAnswer('TaskEventsResponse', taskEventSchema), 'text/event-stream': null },
      },
      204: { description: 'With `format`: no turn is under way.' },
    },
  })
  async read(
    @Auth() auth: AuthContext,
    @Param('taskId') taskId: string,
    @Query() query: TaskEventsQuery,
    @Req() req: Request,
    @Res() res: Response,
  ): Promise<void> {
    const stream = asksForStream(req);
    checkForm(query, stream);
    if (query.format !== undefined) checkTurn(query);
    const after = numberOf(positionOf(req, query));
    const types = typesOf(query.types, TASK_TYPES);
    if (!isUuid(taskId)) throw notFound('task');
    const about = { ...readerOf(auth), taskId: taskId.toLowerCase(), types };
    const options = { ...about, after, origin: originOf(req, this.env), policy: this.policy.deployment };
    if (query.format !== undefined) await this.turn(auth, query, options, res);
    else if (stream) await this.stream(auth, query, options, res);
    else await this.json(query, options, res);
  }

  private async stream(
    auth: AuthContext,
    query: TaskEventsQuery,
    options: TaskFeedOptions,
    res: Response,
  ): Promise<void> {
    this.answers.place(options, res);
    const row = await this.tasks.get(auth, options.taskId);
    const { lastEvent: latest } = row;
    const after = options.after ?? latest;
    if (after > latest) throw invalidPosition();
    const feed = new TaskFeed(this.reads, { ...options, after });
    const ready = { position: String(after), latest, ...this.policy.task(auth, row) };
    const until = query.until === 'final';
    const updates = query.deltas === 'true' ? new LiveUpdates(() => feed.transparency) : null;
    const joins = { joins: () => this.subscriptions.join(feed.followed) };
    this.answers.stream(res, feed, new PlainWords(feed, { ready, until }, updates), updates === null ? {} : joins);
  }

  /** The turn under way in the form of the AI SDK; 204 when there is none. */
  private async turn(
    auth: AuthContext,
    query: TaskEventsQuery,
    options: TaskFeedOptions,
    res: Response,
  ): Promise<void> {
    this.answers.place(options, res);
    const [found] = await this.reads.run(auth.workspaceId, LAST_TURN({ auth, taskId: options.taskId }));
    if (found === undefined) throw notFound('task');
    const { status, turn, after } = found;
    if (isFinal(status)) {
      res.status(204).end();
      return;
    }
    const feed = new TurnFeed(this.reads, { ...options, after }, turn);
    const joins = { joins: () => this.subscriptions.join(feed.followed) };
    this.answers.stream(res, feed, new UiWords(feed), query.deltas === 'false' ? {} : joins);
  }

  private async json(query: TaskEventsQuery, options: TaskFeedOptions, res: Response): Promise<void> {
    if ((query.wait ?? 0) > 0) this.answers.place(options, res);
    const feed = new TaskFeed(this.reads, options);
    await this.answers.json(res, feed, query, () => {
      if (options.after !== null && options.after > feed.lastEvent) throw invalidPosition();
    });
  }
}

/** The number of an event; null for the last one. Throws 400. */
function numberOf(position: string | undefined): number | null {
  if (position === 'latest') return null;
  const number = Number(position ?? '0');
  if (!/^(0|[1-9]\d{0,9})$/.test(position ?? '0') || number > LAST) throw invalidPosition();
  return number;
}
