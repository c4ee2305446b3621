import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { JsonValue, StoredPart, ToolResult } from '../models/conversation.js';
import type { SandboxSession } from '../sandbox/sandbox.js';

/** What a tool may use. Nothing of the service's own reaches it: no database, no key, no environment. */
export interface ToolContext {
  taskId: string;
  workspaceId: string;
  /** The owner of the task: the user who made it, or to whom it was transferred. */
  userId: string;
  toolCallId: string;
  /** The task's sandbox, opened at the first use. */
  sandbox(): Promise<SandboxSession>;
  /** Aborted when the run is cancelled, fenced off or handed back. */
  signal: AbortSignal;
}

/** A file that a tool hands over to become a task file. It is on record together with the tool's result, or not at all. */
export interface PublishedFile {
  /** UUIDv7, made by the tool, so that its output can name it. */
  id: string;
  name: string;
  /** Bytes, where they are known: for the words of a refusal. */
  size?: number;
  content: Readable;
}

/** A question that ends the run until a person answers; the answer becomes the call's result. */
export interface Question {
  question: string;
  options: { id: string; label: string; description: string | null }[] | null;
  multiple: boolean;
  allowText: boolean;
}

/** What a call came to: a result (with files and parts for the message), or a question. */
export type ToolOutcome =
  (ToolResult & { files?: PublishedFile[]; parts?: StoredPart[] }) | { status: 'question'; question: Question };

/**
 * Something that the agent can do. The loop checks the arguments against `parameters` and words the error for the model;
 * `execute` gets them parsed. What it throws becomes an `error` result with the message of the error, so messages are
 * written for the model that must act on them. Output is cut by the tool itself; the loop cuts at 256 KiB of JSON.
 */
export abstract class AgentTool<P extends z.ZodType = z.ZodType> {
  abstract readonly name: string;
  /** What it does and when to use it: the model's documentation. */
  abstract readonly description: string;
  abstract readonly parameters: P;
  /**
   * After a crash a call may be found begun and without result. True: it is run again (it reads, or writes the same
   * content). False: it gets an error result that says that it may have run partly.
   */
  abstract readonly repeatable: boolean;
  /**
   * Whether a call may run a command, change a file or reach outside of the task. With `approvals: "writes"`
   * (reference §4) a person is asked before each call of such a tool. False is for tools that only read, or write
   * what people see anyway.
   */
  readonly changes: boolean = true;
  abstract execute(input: z.output<P>, context: ToolContext): Promise<ToolOutcome>;

  /**
   * What a person is asked before a call: the tool, and what it would do. The whole input is shown beside it.
   * The loop cuts it at 4,000 characters.
   */
  approvalQuestion(input: z.output<P>): string {
    return `May the agent use the tool ${this.name}?\n\n${JSON.stringify(input)}`;
  }
}

/** The result of a tool as plain JSON. */
export function success(output: JsonValue): ToolResult {
  return { status: 'success', output };
}
