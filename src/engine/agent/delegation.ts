// Tasks that an agent hands to tasks of their own (reference §27, docs/decisions/0103).
import type { Readable } from 'node:stream';
import type { JsonValue } from '../models/conversation.js';
import type { Effort } from '../models/model-provider.js';
import type { Budget } from './budget.js';
import type { OpenedFile, SandboxSession } from '../sandbox/sandbox.js';
import type { PublishedFile } from './published-file.js';

/** What may be used of a turn; money in millionths of a US dollar. */
export interface Amounts {
  steps: number;
  tokens: number;
  costMicros: number;
}
/** The same; null: there is no such limit. */
export type Limits = { [K in keyof Amounts]: number | null };

/** What a new task begins in: a clone of the repository with its present changes, a copy of the folders, or nothing. */
export const FOLDERS = ['repository', 'copy', 'empty'] as const;
export type Folder = (typeof FOLDERS)[number];

/** A version of an agent that a call names, and what of it counts before the task is made; null: it says nothing of that. */
export interface AgentForTask {
  id: string;
  version: number;
  model: string | null;
  effort: Effort | null;
  budget: Budget | null;
}

/** A task that is to be made. */
export interface NewTask {
  title: string;
  content: string;
  /** The addresses in the content that its maker might read. */
  named: readonly string[];
  /** Null: that of its maker. */
  agent: AgentForTask | null;
  model: string;
  effort: Effort | null;
  folder: Folder;
  budget: Budget | null;
  /** What is taken from the turn for it. */
  reserved: Limits;
  /** They become its attachments. */
  files: PublishedFile[];
}

/** What a call hands over. */
export interface HandedTasks {
  tasks: NewTask[];
  /** The present changes of the repository; null: there are none. */
  base: PublishedFile | null;
  /** To be called when all of it is stored, or not needed. */
  close(): Promise<void>;
}

/** How many files differ, and how many lines in them. */
export interface Figures {
  files: number;
  additions: number;
  deletions: number;
}

/** What a call asks of the repository of the task; as of `InputRepository`, which knows more of the engine than a tool may. */
export interface RepositoryInUse {
  changes(session: SandboxSession): Promise<{
    counted: { patchOmitted?: boolean };
    patch: OpenedFile | null;
    close(): Promise<void>;
  }>;
  difference(session: SandboxSession, folder: string, hasPatch: boolean): Promise<Figures>;
}

/** A task that a call has made, and what became of it. */
export interface MadeTask {
  id: string;
  /** Among all that the task has made, from 1. */
  number: number;
  title: string;
  /** Whether it was final once; or the turn is to go on without that. */
  isOver: boolean;
  /** Null: it is deleted. */
  status: string | null;
  statusReason: JsonValue;
  text: string | null;
  output: JsonValue;
  changes: Figures | null;
  /** The changes of the repository with which it began; null: there were none. */
  base: (() => Promise<Readable>) | null;
  /** What it published in its last turn. */
  files: { name: string; open: () => Promise<Readable> }[];
}

/** What a task may hand out, and what became of that. */
export interface Delegation {
  /** Tasks that the turn has made. */
  made: number;
  /** What these have used, and may still use. */
  reserved: Amounts;
  /** What a call has made, in the order of its input; none: it has not. */
  of(call: { messageId: string; toolCallId: string }): Promise<MadeTask[]>;
  /** What `slug`, `slug@3` or `slug@stable` names. Throws a sentence when that is nothing that a task may have. */
  agent(name: string): Promise<AgentForTask>;
}

/** The same for one call. */
export interface DelegationUse {
  made: number;
  of(): Promise<MadeTask[]>;
  agent(name: string): Promise<AgentForTask>;
  /** What the turn has left. */
  left(): Limits & { seconds: number | null };
  model: { id: string; effort: Effort | null };
  repository: RepositoryInUse | null;
}
