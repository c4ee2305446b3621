import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { JsonValue, StoredPart, ToolInvocation, ToolResult } from '../models/conversation.js';
import type { Freeform, ModelInfo } from '../models/model-provider.js';
import type { SandboxSession } from '../sandbox/sandbox.js';
import type { DelegationUse, HandedTasks } from './delegation.js';
import type { PublishedFile } from './published-file.js';

export type { PublishedFile };
import type { RunCommands } from './commands/run-commands.js';

/** A secret of a task, without its value. */
export interface SecretToUse {
  name: string;
  /** The variable that has its placeholder. */
  env: string;
  /** Those that it is bound to, with the port where that is not 443. */
  hosts: readonly string[];
  /** Whether a person has allowed its use in this task. */
  approved: boolean;
}

/** What a turn may read of the web. */
export interface WebUse {
  /** Counts a call: how many the turn has made with it. */
  begin(): number;
  /** Whether a person, the owner or a page has named an address. */
  isSeen(url: URL): boolean;
}

/** What a tool may use. Nothing of the service's own reaches it: no database, no key, no environment. */
export interface ToolContext {
  taskId: string;
  workspaceId: string;
  /** The owner of the task: the user who made it, or to whom it was transferred. */
  userId: string;
  toolCallId: string;
  /** Characters of the result that the model is shown; of more, only the beginning and the end. Absent: 30,000. */
  resultCharacters?: number;
  /** What the task's model takes. Absent: text alone. */
  input?: ModelInfo['input'];
  /** The secrets of a task that asks before the first use of each. Null or absent: it does not ask. */
  secrets?: readonly SecretToUse[] | null;
  /** The pages that it may read. Null or absent: none. */
  web?: WebUse | null;
  /** Its commands that go on beyond their calls. Null or absent: none may. */
  commands?: RunCommands | null;
  /** The tasks that it may make. Null or absent: none. */
  delegation?: DelegationUse | null;
  /** The task's sandbox, opened at the first use. */
  sandbox(): Promise<SandboxSession>;
  /** Receives what the call prints while it runs, for live views; the result has it too. Absent: there is none. */
  progress?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  /** Aborted when the run is cancelled, fenced off or handed back. */
  signal: AbortSignal;
  /** Aborted before that when the worker has to stop: who only waits ends that, and answers what there is. Absent: nobody says so. */
  stopping?: AbortSignal;
  /** What is left of the turn's `maxDurationSeconds` (reference §4): a command ends with it. Absent: no such limit. */
  secondsLeft?: number;
  /**
   * Keeps the whole of a result in a file of the sandbox, for a tool whose output is too long for a result. Resolves with its number,
   * which becomes `forModel.whole` of the result, or with null when it could not be written. Results that are only too long for the model
   * are kept by the loop.
   */
  keepWhole?: (content: string | Readable) => Promise<number | null>;
}

/** A question that ends the run until a person answers; the answer becomes the call's result. */
export interface Question {
  question: string;
  options: { id: string; label: string; description: string | null }[] | null;
  multiple: boolean;
  allowText: boolean;
}

/**
 * What a call came to: a result (with files and parts for the message), a question, or tasks. `paths`: files of the workdir that it was about;
 * the owner's notes on their folders come with it.
 */
export type ToolOutcome =
  | (ToolResult & { files?: PublishedFile[]; parts?: StoredPart[]; paths?: string[] })
  | { status: 'question'; question: Question }
  /** The call waits for tasks: those that it hands over, or with null those that it has made before. */
  | { status: 'tasks'; handed: HandedTasks | null };

/**
 * Something that the agent can do. The loop checks the arguments against `parameters` and words the error for the model;
 * `execute` gets them parsed. What it throws becomes an `error` result with the message of the error, so messages are
 * written for the model that must act on them. The tool truncates its output; the loop truncates at 256 KiB of JSON.
 */
export abstract class AgentTool<P extends z.ZodType = z.ZodType> {
  abstract readonly name: string;
  /** What it does and when to use it: the model's documentation. */
  abstract readonly description: string;
  /** A model is told of names, types and descriptions; limits, patterns and defaults it hears of when a call does not keep to them. */
  abstract readonly parameters: P;
  /**
   * Other names that models give the fields of `parameters`. Upper and lower case, `_` and `-` make no difference, and
   * `filePath` is found by `file_path`. The model does not know them.
   */
  readonly aliases: Readonly<Record<string, readonly string[]>> = {};
  /**
   * After a crash a call may be found begun and without result. True: it is run again (it reads, or writes the same
   * content). False: it gets an error result that says that it may have run partly.
   */
  abstract readonly repeatable: boolean;
  /** Whether that holds for this call. Override it where the call's own arguments say so. */
  mayRunAgain(_input: z.output<P>): boolean {
    return this.repeatable;
  }
  /**
   * Whether a call may run a command, change a file or reach outside of the task. With `approvals: "writes"`
   * (reference §4) a person is asked before each call of such a tool. False is for tools that only read, or write
   * what people see anyway.
   */
  readonly changes: boolean = true;
  /** Whether a call is about commands that go on beyond their calls. Where none may it is refused, and no person is asked before. */
  needsCommands(_input: z.output<P>): boolean {
    return false;
  }
  /**
   * True: a call neither changes anything nor sends anything, so up to eight of a step that stand together run side by side.
   * Their results are recorded in the order of the calls. It has to be `repeatable`, and not to be one that `changes`.
   */
  readonly changesNothing: boolean = false;
  /** True: offered to models that write patches only (`ModelProvider.writesPatches`); false: to all others; null: to every model. */
  readonly patches: boolean | null = null;
  /** The name of the tool whose place it takes for some models: a task that does not have one of them has neither. Null: none. */
  readonly standsFor: string | null = null;
  /** How a model may write the call as plain text where its API takes that; null: as JSON alone. */
  readonly freeform: Freeform | null = null;
  /** The schema of `parameters` where another program has it, which checks the arguments itself: they come as the model wrote them. Null: ours. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null = null;
  /** Whether a person is asked before each call that `changes` something, whatever the approvals of the task are. */
  readonly asksAlways: boolean = false;
  /** Whether what it changes lies elsewhere: it goes on in a workspace that can store no more. */
  readonly elsewhere: boolean = false;
  /** The error of a call that was begun and is not run again. Null: the usual one. */
  readonly interrupted: string | null = null;
  /** The call that this one stands for, which counts in its place; null: it is one itself. */
  passesOn(_input: z.output<P>): Pick<ToolInvocation, 'name' | 'input'> | null {
    return null;
  }
  abstract execute(input: z.output<P>, context: ToolContext): Promise<ToolOutcome>;

  /**
   * What a person is asked before a call: the tool, and what it would do. The whole input is shown beside it.
   * The loop truncates it at 4,000 characters.
   * @param _secrets as of {@link ToolContext}; empty when the task does not ask before it uses them.
   */
  approvalQuestion(input: z.output<P>, _secrets: readonly SecretToUse[]): string {
    return `May the agent use the tool ${this.name}?\n\n${JSON.stringify(input)}`;
  }
}

/** The result of a tool as plain JSON. */
export function success(output: JsonValue): ToolResult {
  return { status: 'success', output };
}
