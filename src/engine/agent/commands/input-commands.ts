import type { CommandStatus } from './agent-command.js';

/** A command of the task that has ended, of an earlier run as a rule. */
export interface EarlierCommand {
  number: number;
  command: string;
  /** `running`: it was, when its worker was lost. */
  status: CommandStatus;
  exitCode: number | null;
  /** The end of what it has said; empty when nobody has recorded it. */
  output: string;
}

export const statusOf = ({ status }: EarlierCommand) => (status === 'running' ? 'lost' : status);

/** What an engine knows of the commands of a task when a run begins. */
export interface InputCommands {
  /** The number of the last one; 0: there was none. */
  last: number;
  /** Those of earlier runs whose end the agent has not been told of. */
  earlier: readonly EarlierCommand[];
  /** Calls back with the number of one that a person stops. What it returns ends that. */
  onStop: (stop: (number: number) => void) => () => void;
}
