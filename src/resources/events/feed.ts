// Where events are read, for a stream or for one answer in JSON.
import type { AuthContext } from '../../access/auth/auth-context.js';
import type { TaskStatus } from '../tasks/task-status.js';

/** What is shown of one event, with the position behind it. */
export interface Shown {
  position: string;
  event: ShownEvent;
}
export interface ShownEvent {
  id: string;
  type: string;
  seq: number | null;
  data: object;
}

export interface Batch {
  shown: Shown[];
  /** Nothing more was there. */
  caughtUp: boolean;
}

/** Why there is nothing to read any more: the thing is not seen, or the key stands for nobody. */
export type Ending = 'gone' | 'unauthorized';

/** For whom events are read: with each batch it is looked up anew whether these still stand for anybody. */
export interface Reader {
  workspaceId: string;
  userId: string;
  keyId: string;
  /** See `AuthContext.session`. */
  session: Buffer | null;
}

export function readerOf({ workspaceId, userId, credential, session }: AuthContext): Reader {
  return { workspaceId, userId, keyId: credential.id, session };
}

/** The events of a task or of a workspace, for one reader, from a position on. */
export abstract class Feed {
  /** Whose changes there are to wait for: the id of a task or of a workspace. */
  abstract readonly followed: string;
  /** Behind what {@link next} has read, also what is not shown. */
  abstract readonly position: string;
  /** Of the task when it was last read; null for a workspace. */
  readonly status: TaskStatus | null = null;

  constructor(readonly reader: Reader) {}

  /** Reads on: at most so many events. Each time who may read is looked up anew, in the statement that reads. */
  abstract next(limit: number): Promise<Batch | Ending>;
}
