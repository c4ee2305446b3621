import { MillwrightError } from './errors.js';
import { follow, type Frame, isEvent } from './follow.js';
import { isDelta, statusIn } from './frames.js';
import type { List } from './list.js';
import { Collection, segment } from './resources.js';
import { limited, reasonOf } from './signals.js';
import type { CallOptions, Query } from './transport.js';
import type {
  Answer, ChangeTask, CreateTask, Deleted, Delta, File, FolderEntry, ForkTask, Interaction, ListTasks, Message, NetworkUse, PauseTask, SendMessage, SecretUse, Snapshot, Task,
  TaskCheck, TaskCommand, TaskEvent, TaskProof, TaskStatus,
} from './types.js'; // prettier-ignore
import { isFinal } from './types.js';

export interface EventsOptions {
  /** The number of the last event that is known, or `latest`. Default: from the first one on. */
  after?: number | 'latest';
  /** Such as `['task.*', 'message.completed']`. */
  types?: readonly string[];
  /** Also what is still being made. */
  deltas?: boolean;
  /** Each time that a connection stands: the task and the number of its last event, of one moment. Deltas from before are void. */
  onReady?: ((ready: { task: Task; latest: number }) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** What a person says to a question; nothing to leave it open. */
export type Reply = Omit<Answer, 'interactionId'>;

export interface WaitOptions<E = TaskEvent> {
  after?: number | 'latest';
  onEvent?: (event: E) => void | Promise<void>;
  /** Asked at each question; its signal ends when somebody else has settled it. */
  onQuestion?: (question: Interaction, about: { signal: AbortSignal; task: Task }) => Promise<Reply | undefined> | Reply | undefined;
  /** Ends the following, not the task. */
  signal?: AbortSignal | undefined;
} // prettier-ignore

/** With `deltas: true`, events and {@link Delta}s. */
export type Deltas = { deltas: true };

export class Tasks extends Collection {
  protected readonly root = '/v1/tasks';

  create(body: CreateTask, options?: CallOptions): Promise<Task> {
    return this.one('task', { method: 'POST', path: this.root, body, keyed: true, ...options });
  }

  get(id: string, options?: CallOptions): Promise<Task> {
    return this.one('task', { method: 'GET', path: this.path(id), ...options });
  }

  update(id: string, body: ChangeTask, options?: CallOptions): Promise<Task> {
    return this.one('task', { method: 'PATCH', path: this.path(id), body, ...options });
  }

  /** Newest first; without `archived` those that are not archived. */
  list({ status, metadata = {}, ...rest }: ListTasks = {}, options?: CallOptions): List<Task> {
    const pairs = Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value] as const);
    const query: Query = { ...rest, ...Object.fromEntries(pairs), ...(status && { status: String(status) }) };
    return this.all(this.root, 'tasks', query, options);
  }

  cancel(id: string, options?: CallOptions): Promise<Task> {
    return this.one('task', { ...this.post(id, '/cancel', options), repeatable: true });
  }

  /** A new task as this one was at the end of a turn. 409 `snapshot_gone`: the folder of that turn is no more. */
  fork(id: string, body: ForkTask = {}, options?: CallOptions): Promise<Task> {
    return this.one('task', { ...this.post(id, '/fork', options), body, keyed: true });
  }

  /** No worker takes it up until `resumeAt`, or until it is resumed. 409 `task_not_pausable`: it is final. */
  pause(id: string, body: PauseTask = {}, options?: CallOptions): Promise<Task> {
    return this.one('task', { ...this.post(id, '/pause', options), body, repeatable: true });
  }

  /** A paused task goes on where it stopped. */
  resume(id: string, options?: CallOptions): Promise<Task> {
    return this.one('task', { ...this.post(id, '/resume', options), repeatable: true });
  }

  /** Answers what the task waits for. 409 `interaction_not_pending`: somebody else did. */
  answer(id: string, body: Answer, options?: CallOptions): Promise<Task> {
    return this.one('task', { ...this.post(id, '/interaction', options), body, keyed: true });
  }

  /** Goes on with a task, whatever its status. */
  send(id: string, body: SendMessage, options?: CallOptions): Promise<{ message: Message; task: Task }> {
    return this.transport.json({ ...this.post(id, '/messages', options), body, keyed: true });
  }

  /** Takes a message back. 409 `message_already_read`: a run was faster. */
  withdraw(id: string, messageId: string, options?: CallOptions): Promise<Deleted> {
    return this.deleted(this.path(id, `/messages/${segment(messageId)}`), options);
  }

  /** Oldest first. */
  messages(
    id: string,
    query: { order?: 'asc' | 'desc'; after?: string; limit?: number } = {},
    options?: CallOptions,
  ): List<Message> {
    return this.all(this.path(id, '/messages'), 'messages', query, options);
  }

  files(id: string, query: { limit?: number } = {}, options?: CallOptions): List<File> {
    return this.all(this.path(id, '/files'), 'files', query, options);
  }

  /** All files of the task as one zip. Resolves with the head of the answer, as `files.content` does. */
  filesArchive(id: string, options: CallOptions = {}): Promise<Response> {
    return this.transport.response({ method: 'GET', path: this.path(id, '/files/archive'), ...options });
  }

  /** What the task did with secrets, by name and host. */
  secretUses(id: string, options?: CallOptions): Promise<SecretUse[]> {
    return this.one('uses', { method: 'GET', path: this.path(id, '/secrets'), ...options });
  }

  /** The hosts that the task reached or was refused, by host and port. */
  network(id: string, query: { limit?: number } = {}, options?: CallOptions): List<NetworkUse> {
    return this.all(this.path(id, '/network'), 'hosts', query, options);
  }

  /** What its last checks said, signed: `verifyProof` reads it. `not_found` where none have run. */
  proof(id: string, options?: CallOptions): Promise<TaskProof> {
    return this.transport.json({ method: 'GET', path: this.path(id, '/proof'), ...options });
  }

  /** What became of its checks, newest first; one that still runs is not among them. */
  checks(id: string, query: { limit?: number } = {}, options?: CallOptions): List<TaskCheck> {
    return this.all(this.path(id, '/checks'), 'checks', query, options);
  }

  /** Runs the checks of a final task again, without its agent. 409 `task_not_final`: it is under way; `no_checks`: it has none. */
  runChecks(id: string, options?: CallOptions): Promise<Task> {
    return this.one('task', { ...this.post(id, '/checks', options), keyed: true });
  }

  /** Commands of its agent that go on, or went on, beyond their calls, newest first. */
  commands(id: string, query: { limit?: number } = {}, options?: CallOptions): List<TaskCommand> {
    return this.all(this.path(id, '/commands'), 'commands', query, options);
  }

  /** Stops one; its worker ends it soon. 409 `command_not_running`: it has ended. */
  stopCommand(id: string, commandId: string, options?: CallOptions): Promise<TaskCommand> {
    return this.one('command', this.post(id, `/commands/${encodeURIComponent(commandId)}/stop`, options));
  }

  /** Newest first. */
  snapshots(id: string, query: { limit?: number } = {}, options?: CallOptions): List<Snapshot> {
    return this.all(this.path(id, '/snapshots'), 'snapshots', query, options);
  }

  /** The entries of one folder of the task, as a snapshot has them: by default `/workdir`, and the newest. */
  workdir(
    id: string,
    query: { path?: string; snapshot?: string; limit?: number } = {},
    options?: CallOptions,
  ): List<FolderEntry> {
    return this.all(this.path(id, '/workdir'), 'entries', query, options);
  }

  /** A file of the folder of the task. Resolves with the head of the answer, as `files.content` does. */
  workdirContent(id: string, query: { path: string; snapshot?: string }, options: CallOptions = {}): Promise<Response> {
    return this.transport.response({ method: 'GET', path: this.path(id, '/workdir/content'), query, ...options });
  }

  /**
   * Each event of the task once, in order, for ever, however often the connection is lost. Ends by leaving the loop or by `signal`.
   * Throws {@link MillwrightError} when the task is gone or the key has ended.
   */
  events(id: string, options: EventsOptions & Deltas): AsyncGenerator<TaskEvent | Delta, void>;
  events(id: string, options?: EventsOptions): AsyncGenerator<TaskEvent, void>;
  async *events(id: string, options: EventsOptions = {}): AsyncGenerator<TaskEvent | Delta, void> {
    for await (const frame of this.frames(id, options)) {
      if (isEvent(frame)) yield frame as unknown as TaskEvent;
      else if (isDelta(frame)) yield frame as unknown as Delta;
      else if (frame.type === 'stream.ready') options.onReady?.(frame as unknown as { task: Task; latest: number });
    }
  }

  /** Each event that there is by now, in order, without following. */
  async *history(
    id: string,
    { after = 0, types, signal }: Pick<EventsOptions, 'types' | 'signal'> & { after?: number } = {},
  ): AsyncGenerator<TaskEvent, void> {
    let page = { events: [] as TaskEvent[], position: String(after), caughtUp: false };
    while (!page.caughtUp) {
      const query = { after: page.position, ...(types && { types: types.join(',') }) };
      page = await this.transport.json<typeof page>({ method: 'GET', path: this.path(id, '/events'), query, signal });
      yield* page.events;
    }
  }

  /** Creates a task and stays with it: see {@link wait}. */
  run(body: CreateTask, options: WaitOptions<TaskEvent | Delta> & Deltas & CallOptions): Promise<Task>;
  run(body: CreateTask, options?: WaitOptions & CallOptions): Promise<Task>;
  async run(body: CreateTask, options: WaitOptions<never> & { deltas?: true } & CallOptions = {}): Promise<Task> {
    const { id } = await this.create(body, options);
    return this.wait(id, options as WaitOptions);
  }

  /** Resolves with the task once its status is final. */
  wait(id: string, options: WaitOptions<TaskEvent | Delta> & Deltas): Promise<Task>;
  wait(id: string, options?: WaitOptions): Promise<Task>;
  async wait(id: string, options: WaitOptions<never> & { deltas?: true } = {}): Promise<Task> {
    const { onEvent } = options as WaitOptions<TaskEvent | Delta>;
    const limit = limited(options.signal);
    const { after = 0, deltas = false } = options;
    const questions = new Questions(this, id, options.onQuestion, (error) => limit.end(error));
    let status: TaskStatus | null = null;
    // Until this event it is history: an earlier turn may have ended in it.
    let latest = 0;
    try {
      for await (const frame of this.frames(id, { after, deltas, signal: limit.signal })) {
        if (isEvent(frame) || isDelta(frame)) await onEvent?.(frame as unknown as TaskEvent);
        // Where the caller has ended it while it was told of the event.
        if (limit.signal.aborted) throw reasonOf(limit.signal);
        if (frame.type === 'stream.ready') {
          ({ latest } = frame as unknown as { latest: number });
          ({ status } = frame['task'] as Task);
          continue;
        }
        const moved = statusIn(frame);
        if (moved !== null && (frame.seq ?? latest + 1) > latest) status = moved;
        const decides = frame.type === 'stream.caught_up' || frame.type === 'heartbeat' || Number(frame.seq) > latest;
        if (!decides) continue;
        if (status === null || isFinal(status)) {
          const task = await this.get(id, { signal: limit.signal });
          if (isFinal(task.status)) return task;
          status = task.status;
        }
        questions.follow(status, frame);
      }
    } finally {
      questions.end();
      limit.done();
    }
    throw new Error('The stream of a task that is not final has ended.');
  }

  private frames(id: string, { after = 0, types, deltas = false, signal }: EventsOptions): AsyncGenerator<Frame, void> {
    const query = { ...(types && { types: types.join(',') }), ...(deltas && { deltas }) };
    return follow(this.transport, { path: this.path(id, '/events'), after: String(after), query, signal });
  }
}

/** The question that a person is asked at the moment, beside the following of the task. */
class Questions {
  private asked: { id: string; ended: AbortController } | null = null;
  private looking = false;

  constructor(
    private readonly tasks: Tasks,
    private readonly taskId: string,
    private readonly ask: WaitOptions['onQuestion'],
    private readonly failed: (error: unknown) => void,
  ) {}

  follow(status: TaskStatus, frame: Frame): void {
    const settled = (frame['data'] as { interactionId?: unknown } | undefined)?.interactionId;
    if (frame.type === 'interaction.settled') {
      // What comes next the status tells.
      if (settled === this.asked?.id) this.end();
      return;
    }
    if (status !== 'awaiting_input') this.end();
    else if (this.ask !== undefined && this.asked === null && !this.looking) {
      this.looking = true;
      void this.answer(this.ask).catch(this.failed);
    }
  }

  end(): void {
    this.asked?.ended.abort(new Error('The question is settled.'));
    this.asked = null;
  }

  private async answer(ask: NonNullable<WaitOptions['onQuestion']>): Promise<void> {
    const task = await this.tasks.get(this.taskId).finally(() => (this.looking = false));
    const question = task.pendingInteraction;
    if (question === null) return;
    const ended = new AbortController();
    this.asked = { id: question.id, ended };
    try {
      const reply = await ask(question, { signal: ended.signal, task });
      if (reply === undefined || ended.signal.aborted) return;
      await this.tasks.answer(this.taskId, { interactionId: question.id, ...reply });
    } catch (error) {
      // Somebody else was faster: the events say how.
      if (ended.signal.aborted || (error instanceof MillwrightError && error.code === 'interaction_not_pending'))
        return;
      throw error;
    }
  }
}
