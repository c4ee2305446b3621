import type { ConversationMessage } from '../models/conversation.js';
import type { ModelInfo, ToolDefinition } from '../models/model-provider.js';
import type { SecretToUse, WebUse } from './agent-tool.js';
import type { RunCommands } from './commands/run-commands.js';
import type { ContextCompactor } from './context/context-compactor.js';
import type { EngineSettings } from './engine-settings.js';
import type { LazySandbox } from './lazy-sandbox.js';
import type { ModelCaller } from './model-caller.js';
import type { TurnOutput } from './output/turn-output.js';
import type { Surroundings } from './surroundings.js';
import type { TaskFiles } from './task-files.js';
import type { ToolRegistry } from './tool-registry.js';
import type { TurnLimits } from './turn-limits.js';

/** What the run of a turn works with. */
export interface TurnParts {
  caller: ModelCaller;
  /** The system prompt. */
  system: string;
  output: TurnOutput;
  tools: ToolRegistry;
  /** Their definitions for the model. */
  offered: ToolDefinition[];
  /** Names of those that the task does not have. */
  denied: readonly string[];
  /** The secrets of a task that asks before the first use of each; null: it does not ask. */
  secrets: readonly SecretToUse[] | null;
  /** The pages that it may read; null: none. */
  web: ((conversation: readonly ConversationMessage[]) => WebUse) | null;
  /** Those that go on beyond their calls; null: none may. */
  commands: RunCommands | null;
  settings: EngineSettings;
  sandbox: LazySandbox;
  limits: TurnLimits;
  /** Characters of one result that the model reads. */
  resultCharacters: number;
  /** Kinds of content that the model reads. */
  reads: ModelInfo['input'];
  files: TaskFiles;
  /** What the service says to the model before the first message of a task; null: nothing. */
  surroundings: (() => Promise<Surroundings>) | null;
  context: ContextCompactor;
  /** Receives what an operator must know and a client must not see. */
  report: (error: Error) => void;
}
