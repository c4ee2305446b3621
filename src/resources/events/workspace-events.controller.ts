import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Env } from '../../platform/config/env.js';
import { isUuid } from '../../platform/database/ids.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import type { Mac } from '../../platform/http/pages.js';
import { LastingKeys } from '../../platform/installation/lasting-keys.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { asksForStream, checkForm, invalidPosition, positionOf, typesOf } from './asked.js';
import { EventAnswers } from './event-answers.js';
import { EventReads } from './event-reads.js';
import { LIMIT } from './event-stream.js';
import { type Reader, readerOf } from './feed.js';
import { eventsAnswer, workspaceEventSchema } from './event.view.js';
import { WorkspaceEventsQuery } from './events.dto.js';
import { LogPositions } from './log-position.js';
import { PlainWords } from './plain-words.js';
import { LATEST, type LogPlace } from './workspace-batch.sql.js';
import { BEGINNING, WorkspaceFeed } from './workspace-feed.js';

/** A well-formed id that no project has. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000';

@Controller('v1/events')
export class WorkspaceEventsController {
  private readonly mac: Mac;

  constructor(
    keys: LastingKeys,
    private readonly reads: EventReads,
    private readonly answers: EventAnswers,
    private readonly env: Env,
    private readonly extensions: ExtensionSet,
  ) {
    this.mac = keys.mac('cursors');
  }

  @Get()
  @Endpoint({
    summary: 'Follow a workspace',
    description:
      'What happens to the tasks that you see, in one order for everybody; with `automations:read` also to automations. Kept for ' +
      '30 days, or as the operator says. Without `after` it begins now. As a stream or as JSON, as the events of a task.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: {
      200: {
        description: 'The events.',
        content: {
          'application/json': eventsAnswer('WorkspaceEventsResponse', workspaceEventSchema),
          'text/event-stream': null,
        },
      },
    },
    errors: [410],
  })
  async read(
    @Auth() auth: AuthContext,
    @Query() query: WorkspaceEventsQuery,
    @Req() req: Request,
    @Res() res: Response,
  ): Promise<void> {
    const stream = asksForStream(req);
    checkForm(query, stream);
    const { events } = this.extensions;
    const known = events.map(({ type }) => type);
    const types = typesOf(query.types, known);
    const projectId = query.projectId?.toLowerCase() ?? null;
    const positions = new LogPositions(this.mac, auth, { types, projectId });
    const asked = placeOf(positionOf(req, query), positions);
    const owner = readerOf(auth);
    const told = events.flatMap(({ type, scope }) => (scope === null || auth.scopes.includes(scope) ? type : []));
    if (stream || (query.wait ?? 0) > 0) this.answers.place(owner, res);
    const feed = new WorkspaceFeed(this.reads, positions, {
      ...owner,
      types: (types ?? known).filter((type) => told.includes(type)),
      projectId: projectId === null || isUuid(projectId) ? projectId : NO_PROJECT,
      after: asked ?? (await this.latest(owner)),
      days: this.env.variables.EVENT_RETENTION_DAYS,
    });
    const check = () => {
      if (feed.expired) throw expired(this.env.variables.EVENT_RETENTION_DAYS);
    };
    if (!stream) return this.answers.json(res, feed, query, check);
    const ready = { position: feed.position, latest: null, task: null };
    const first = await feed.next(LIMIT);
    check();
    const words = new PlainWords(feed, { ready, until: false });
    this.answers.stream(res, feed, words, typeof first === 'string' ? {} : { first });
  }

  private async latest({ workspaceId, keyId, session }: Reader): Promise<LogPlace> {
    const [place] = await this.reads.run(workspaceId, LATEST({ keyId, session }));
    return place ?? BEGINNING;
  }
}

/** Where a request begins; null for now. Throws 400. */
function placeOf(position: string | undefined, positions: LogPositions): LogPlace | null {
  if (position === undefined || position === 'latest') return null;
  if (position === '0') return BEGINNING;
  try {
    return positions.read(position);
  } catch (error) {
    throw error instanceof ApiError ? invalidPosition() : error;
  }
}

function expired(days: number): ApiError {
  const message = `What came after this position is not kept any more, but for ${days} days: list the tasks, and follow from 'latest'.`;
  return new ApiError('cursor_expired', message, { param: 'after' });
}
