import { Transform } from 'class-transformer';
import { IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { Documented } from '../../platform/http/documented.js';
import { OptionalNotNull } from '../../platform/http/fields.js';
import { digits } from '../../platform/http/pages.js';

const LIMIT = 'limit must be a whole number from 1 to 100';
const WAIT = 'wait must be a whole number from 0 to 30';

/** What both routes of events take. */
export class EventsQuery {
  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'A position: only what came later. `0` is the beginning, `latest` is now. `Last-Event-ID` wins over it.' })
  after?: string;

  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'Types, comma-separated; `*` stands for a last segment: `task.*,message.completed`.' })
  types?: string;

  @OptionalNotNull()
  @IsInt({ message: LIMIT })
  @Min(1, { message: LIMIT })
  @Max(100, { message: LIMIT })
  @Transform(digits)
  @Documented({ description: 'How many at most; 100 when it is not given. Not on a stream.' })
  limit?: number;

  @OptionalNotNull()
  @IsInt({ message: WAIT })
  @Min(0, { message: WAIT })
  @Max(30, { message: WAIT })
  @Transform(digits)
  @Documented({ description: 'Seconds to wait for an event when there is none; 0 when it is not given. Not on a stream.' })
  wait?: number;
} // prettier-ignore

export class TaskEventsQuery extends EventsQuery {
  @OptionalNotNull()
  @IsIn(['final'])
  @Documented({ description: '`final`: the stream ends when the status is final and all is sent. Streams only.' })
  until?: 'final';

  @OptionalNotNull()
  @IsIn(['true', 'false'])
  @Documented({
    description:
      'Whether what is still being made is passed on too: `false` when it is not given, `true` with `format`. Streams only.',
  })
  deltas?: 'true' | 'false';

  @OptionalNotNull()
  @IsIn(['ui-message-stream'])
  @Documented({
    description: "`ui-message-stream`: the turn under way as the AI SDK's `useChat` reads it, or 204. Streams only.",
  })
  format?: 'ui-message-stream';
}

export class WorkspaceEventsQuery extends EventsQuery {
  @OptionalNotNull()
  @IsString()
  @Documented({ description: 'Only of this project.' })
  projectId?: string;
}
