import type { CommandStatus } from './agent-command.js';

interface SaidSoFar {
  /** The end of what it has said, and bytes of all that. */
  output: string;
  outputBytes: number;
}

/** What becomes of a command that goes on beyond its call, for the record. */
export type CommandEvent =
  | ({ type: 'command_started'; number: number; toolCallId: string; command: string; terminal: boolean } & SaidSoFar)
  /** While it runs, now and then: its run may be taken from its worker. */
  | ({ type: 'command_said'; number: number } & SaidSoFar)
  | ({
      type: 'command_ended';
      number: number;
      status: CommandStatus;
      exitCode: number | null;
      /** Whether the agent knows of its end. */
      told: boolean;
    } & SaidSoFar)
  /** The agent has been shown the end of one that is on record as not told. */
  | { type: 'command_seen'; number: number };

/** What one has said, as it comes. */
export interface CommandOutput {
  type: 'command_output';
  commandId: string;
  chunk: Buffer;
}
