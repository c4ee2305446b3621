import type { Readable } from 'node:stream';
import type { ConversationMessage, JsonValue, StoredPart, ToolResult } from '../models/conversation.js';
import type { CheckPhase, CheckRef, CheckResult } from '../checks/check.js';
import type { Effort, ModelUsage } from '../models/model-provider.js';
import type { NetworkReport, NetworkUse } from '../sandbox/network/network-use.js';
import type { SandboxSecrets } from '../sandbox/sandbox.js';
import type { SharedFile } from '../sandbox/shared-files.js';
import type { TaskEnvironment } from '../sandbox/session-environment.js';
import type { SkillSources } from '../skills/task-skills.js';
import type { PublishedFile, Question } from './agent-tool.js';
import type { Budget } from './budget.js';
import type { CommandEvent, CommandOutput } from './commands/command-events.js';
import type { InputCommands } from './commands/input-commands.js';
import type { Compaction } from './context/compaction.js';
import type { InputChecks } from './input-checks.js';
import type { ChangeCounts, InputRepository, PushEvent } from './input-repository.js';
import type { OutputSchema } from './output/output-schema.js';
import type { Delegation, NewTask } from './delegation.js';
import type { EngineSession } from './engine-session.js';
import type { InputMcp } from './mcp/input-mcp.js';
import type { Waits } from './waits.js';

export type { Budget };

/** What is asked about before it is done: nothing, each command and file change, or the first use of each secret (reference §4). */
export const APPROVALS = ['none', 'writes', 'secrets'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** What a task does about what blocks it and passes by itself: its turn ends, or goes on later (reference §5). */
export const WHEN_BLOCKED = ['fail', 'wait'] as const;
export type WhenBlocked = (typeof WHEN_BLOCKED)[number];

/** What the turn has used before this run began: a turn may span several runs. */
export interface Spent {
  steps: number;
  tokens: number;
  durationMs: number;
  costMicros: number;
}

/** A file that must lie in the workdir before the first tool runs. */
export interface InputFile {
  /** Relative to the workdir, for example `attachments/data.csv`. */
  path: string;
  open(): Promise<Readable>;
}

export interface AgentInput {
  taskId: string;
  workspaceId: string;
  /** The owner of the task: the user who made it, or to whom it was transferred. */
  userId: string;
  runId: string;
  /** A UUIDv7 for each assistant message is made by the engine. */
  model: { id: string; effort: Effort | null };
  /** Oldest first. The last message may be an assistant's with open invocations: a crash or a question left them. */
  messages: ConversationMessage[];
  /** Whether its title is the first line of its first message, and a model may make a better one. Absent: not. */
  untitled?: boolean;
  /** What the model is not sent any more, the last one of each kind; oldest first. Absent: nothing. */
  cuts?: Compaction[];
  /** Tokens of the last step, its prompt and its answer, unless it was compacted since. Null or absent: not known. */
  contextTokens?: number | null;
  /** What the last answer of a turn has to fit (reference §15). Null or absent: it is any text. */
  outputSchema?: OutputSchema | null;
  /** What a person must approve first. An approved call carries that itself, as its `stage`. */
  approvals: Approvals;
  /** Names of tools that need no more asking in this task, and of secrets that may be used in it (`secretsIn` in approval.ts). */
  approvedTools: string[];
  /** What to do about a failure that passes by itself: with `wait` the turn goes on later, so a call that it keeps from its beginning stays open. Absent: `fail`. */
  whenBlocked?: WhenBlocked;
  /** No open call has begun: the run before this one left them because it was blocked. Absent: the first one may have. */
  untouched?: boolean;
  budget: Budget;
  spent: Spent;
  files: InputFile[];
  /** Opens what a result shows ({@link KeptFile}). Absent: no result of the run does. */
  keptFile?: (sha256: string) => Promise<Readable>;
  /** Whether its commands may have the network that the operator allows; absent: not. */
  network?: boolean;
  /** Without `network`: the hosts that they reach all the same, with the secrets that are bound to these. Absent: none. */
  boundHosts?: readonly string[];
  /**
   * Reads the secrets that its commands may use, with their values, once: it rejects when they cannot be read. Null: there are none. Absent: the
   * task may have none. An engine hands them to the sandbox, and tells the model of their names alone.
   */
  secrets?: () => Promise<SandboxSecrets | null>;
  /** Lets it read pages of the web; `fetched` is how often it has tried in this turn. Absent: it may not. */
  web?: { fetched: number };
  /** The servers whose tools it has. Absent: it has none. */
  mcp?: InputMcp;
  /** Lets it make tasks of its own. Absent: it may not. */
  delegation?: Delegation;
  /** What the agent is told that it works as, as the word of who made it. Absent: nothing. */
  instructions?: string;
  /** The session in which an agent program has worked on the task. Null or absent: none has. */
  engineSession?: EngineSession | null;
  /** Names of tools that it does not have. Absent: it has all. */
  denied?: readonly string[];
  /** What the turn has to pass before it is completed, as of its beginning. Absent: nothing. */
  checks?: InputChecks;
  /** The same as of now: an engine asks at each end of the turn, for a person may have changed it. Null: nothing. Absent: as `checks`. */
  checksNow?: () => Promise<InputChecks | null>;
  /** Those that go on beyond their calls. Absent: none of the task may. */
  commands?: InputCommands;
  /** What holds for its commands. Absent: what holds for all. An engine hands it to the sandbox, and tells the model of it. */
  environment?: TaskEnvironment;
  /** As of {@link SandboxOpenOptions}. Absent: nobody counts. */
  onNetwork?: (uses: readonly NetworkUse[]) => void;
  /** Files of the task's project, for `/project` in the sandbox. */
  project: SharedFile[];
  /** Skills of the task and of its project, for `/skills` in the sandbox. Those of its repository come between them: `skillsOf` has all. Absent: none. */
  skills?: NonNullable<SkillSources['skills']>;
  /** Null or absent: the task has none. */
  repository?: InputRepository | null;
  /** Why the workspace can store no more, a clause for people: no command runs and no file changes. Null or absent: it can. */
  storageExhausted?: string | null;
  /** Why the workspace may use no more, a clause for people: no model is called. Null or absent: it may. */
  usageExhausted?: string | null;
  /**
   * Passes on what is not recorded, while it happens: an engine may call it at any time, also between two events. It returns at once and
   * does not throw. Absent: nobody takes it.
   */
  passOn?: (event: LiveEvent) => void;
  /** Called with what the run waits for, while it waits. Absent: nobody asks. */
  waits?: Waits;
  /** Aborted on cancel, loss of the lease or shutdown: the engine stops at once, closes its sandbox and throws the reason. */
  signal: AbortSignal;
  /**
   * Aborted before that when the worker has to stop: the engine carries out and yields the calls of the step that it has
   * yielded, asks the model no more, gives up a model call under way, and throws the reason. Some seconds later `signal` is
   * aborted too. An engine that does not heed it loses the step that is under way then.
   */
  stopping: AbortSignal;
}

/** The kinds of the parts of an answer; `sealed` is reasoning that only its provider can read. */
export type LiveKind = 'step_start' | 'data' | 'tool' | 'text' | 'reasoning' | 'sealed';

/**
 * What is passed on and not recorded (reference §17).
 *
 * - `words`: more of a part of the answer that is being made, under the id that its message will have. `kinds` are those of the parts so far, this one
 *   the last. What was passed on of a part is the beginning of what is recorded of it.
 * - `discarded`: what was passed on of this message is void.
 * - `output`: what a call has printed.
 * - `check_output`: what a check has printed that runs.
 * - `command_output`: what a command has printed that goes on beyond its call.
 */
export type LiveEvent =
  | { type: 'words'; messageId: string; kinds: LiveKind[]; delta: string }
  | { type: 'discarded'; messageId: string }
  | { type: 'output'; messageId: string; toolCallId: string; stream: 'stdout' | 'stderr'; chunk: Buffer }
  | CommandOutput
  | ({ type: 'check_output'; stream: 'stdout' | 'stderr'; chunk: Buffer } & CheckRef);

/** One tool call as recorded before anything acts on it. */
export interface StartedCall {
  toolCallId: string;
  name: string;
  input: JsonValue;
}

/** What the service sent to the model before the first message of a task, and the id of that message. */
export interface ToldSurroundings {
  messageId: string;
  part: Extract<StoredPart, { type: 'surroundings' }>;
}

/**
 * What happens, in order. Each is yielded before the engine goes on, and `yield` resumes only after it is committed.
 * Texts hold neither NUL nor halves of surrogate pairs: PostgreSQL refuses both.
 *
 * - `step`: a model call is over. Its message is recorded, `complete` when it has no calls, else `in_progress`. `surroundings` is
 *   what the service sent to the model before the first message of the task; it becomes the first part of that message, once in the task's life.
 * - `title`: a model has made a title for an `untitled` task. At most once, before the first `step`.
 * - `spent`: calls of the model that leave no message have used this, and no step has shown it.
 * - `engine_session`: the agent program works in another session from now on.
 * - `cut`: the conversation was compacted: the model is sent less of it from now on. `parts` are the message that says so
 *   to people; `usage` is that of the model call which wrote the summary.
 * - `delegate`: a call makes tasks. They are on record together, or the answer has the error that is the result of the call. `base`: the present changes
 *   of the repository.
 * - `begin`: in a task with approvals, a call that must not be run twice is about to run. After a crash it is found
 *   `begun`; there a call may stay open for days before it begins, so its being open says nothing.
 * - `cloned`: the repository is there, at this commit. Before the first `step`.
 * - `changes`: what the turn has made of the repository, after its last step; null when it is not known.
 * - `patch_omitted`: after `changes` whose patch is too large. `parts` are a message that says so.
 * - `push`, `push_failed`: of the branch of a task, after `changes`. `parts` are a message that says why it failed.
 * - `check`, `checked`: a check begins, and what became of it: those `before` at any time of a turn, the others after `changes`. `first`: a round
 *   begins with it, and counts anew. `whole` is all that it wrote, where its result has only the end.
 * - `checks`: all checks of a round are over. `told`: a message by which the agent learns what it has to mend, when it goes on.
 * - `command_started`, `command_said`, `command_ended`: of a command that goes on beyond its call. `told`: the agent knows of its end.
 * - `command_seen`: the agent has been shown the end of one, which `command_ended` did not say.
 * - `commands_told`: a message by which the agent learns what has become of commands: of earlier runs, or of its own before a round of checks.
 * - `tool`: one call is finished. `last` when the message has no open call left: it becomes `complete`.
 */
export type AgentEvent =
  | {
      type: 'step';
      messageId: string;
      parts: StoredPart[];
      calls: StartedCall[];
      /** Its call that is about to run with it, as of `begin`; absent: none is. */
      begun?: string | null;
      usage: ModelUsage;
      surroundings?: ToldSurroundings | null;
      /** The model that answered, by whose prices the step is metered; absent: that of the run. */
      model?: string;
    }
  | {
      type: 'cut';
      messageId: string;
      cut: Compaction;
      parts: StoredPart[];
      usage: ModelUsage | null;
      /** As of a `step`, of the call that wrote the summary. */
      model?: string;
    }
  | {
      type: 'title';
      /** As the model wrote it; empty when that is of no use. */
      text: string;
      usage: ModelUsage;
      /** As of a `step`. */
      model?: string;
    }
  | { type: 'spent'; usage: ModelUsage; model?: string }
  | { type: 'engine_session'; session: EngineSession }
  | { type: 'cloned'; commit: string }
  | { type: 'changes'; counted: ChangeCounts | null; patch: PublishedFile | null }
  | ({ type: 'check'; first: boolean } & CheckRef)
  | { type: 'checked'; phase: CheckPhase; round: number; result: CheckResult; whole: PublishedFile | null }
  | {
      type: 'checks';
      round: number;
      /** Of those that were carried out in it. */
      names: string[];
      status: 'passed' | 'failed' | 'error';
      told: { messageId: string; parts: StoredPart[] } | null;
      /** As of {@link CheckResult}. */
      workdirSha256: string | null;
      patchSha256: string | null;
    }
  | CommandEvent
  | { type: 'commands_told'; messageId: string; parts: StoredPart[]; numbers: number[] }
  | PushEvent
  | { type: 'push_failed' | 'patch_omitted'; messageId: string; parts: StoredPart[] }
  | { type: 'delegate'; messageId: string; toolCallId: string; tasks: NewTask[]; base: PublishedFile | null }
  | { type: 'begin'; messageId: string; toolCallId: string }
  | {
      type: 'tool';
      messageId: string;
      toolCallId: string;
      result: ToolResult;
      files: PublishedFile[];
      parts: StoredPart[];
      last: boolean;
      /** The workdir's size as last measured; null or absent: not known. */
      workdirBytes?: number | null;
      /** What commands reach, when there is news of it. */
      network?: NetworkReport | null;
    };

/** The recorder's answer to each event. */
export interface AgentFeedback {
  /** Messages to read before the next model call. */
  steer: ConversationMessage[];
  /** What is attached to them: must lie in the workdir before the next tool runs. */
  files: InputFile[];
  /** The result of the call as it is on record, when it is another one: what was published could not be stored. */
  result?: ToolResult;
  /** As of {@link AgentInput}, as they are now. Absent: as before. */
  storageExhausted?: string | null;
  usageExhausted?: string | null;
}

/** How a run ends. */
export type AgentOutcome =
  /** `output`: the JSON in the text, as JSON text, when the task has an `outputSchema`: it fits that. */
  | { type: 'completed'; text: string; output?: string }
  /** `retryAfterMs`: what a provider asks for. */
  | { type: 'failed'; code: string; message: string; retryable: boolean; retryAfterMs?: number }
  | { type: 'question'; messageId: string; toolCallId: string; question: Question }
  /** An open call waits for the tasks that it has made. It comes back as it is, and finds what they came to. */
  | { type: 'tasks'; messageId: string; toolCallId: string }
  /**
   * An open call waits for a person. Approved, it comes back with its `stage`, and `grants` stands among `approvedTools`, without it `tool` where the
   * person wants no more questions about that; denied, it comes back with its result.
   */
  | { type: 'approval'; messageId: string; toolCallId: string; question: string; tool: string; grants?: string };

/**
 * Drives one run: model, tools, model, until it is done, asks, fails or is stopped. It writes nothing itself: it yields
 * and the recorder writes. It throws only when `signal` or `stopping` is aborted (with its reason), when the sandbox is too busy for the
 * run (`SandboxBusyError`, before the first event: the run goes back to the queue) or on a defect; everything a model, a
 * tool or a provider can do wrong is a result, a retry or the outcome `failed`.
 */
export abstract class AgentEngine {
  abstract run(input: AgentInput): AsyncGenerator<AgentEvent, AgentOutcome, AgentFeedback>;
}
