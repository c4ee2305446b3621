// The servers of a task as an engine has them (reference §28).
import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';

/** A tool as a server lists it, as far as it is taken. */
export interface ListedTool {
  /** As the server calls it. */
  name: string;
  description: string;
  /** As the model is shown it. */
  inputSchema: Record<string, unknown>;
  /** Arguments that are sent as headers too, where the server is called by HTTP. Absent: none. */
  headers?: { path: string[]; name: string }[];
}

/** A tool that the model of a task is offered. */
export interface OfferedTool extends ListedTool {
  server: string;
  /** As the model calls it. */
  calledAs: string;
}

/** What the model of a task is offered. It is decided once, and again when the task has other servers or another model. */
export interface McpOffer {
  model: string;
  servers: readonly string[];
  /** `search`: two tools stand for all of them, for they are too long for the window. */
  form: 'tools' | 'search';
  tools: OfferedTool[];
  /** What the first message says of the servers, a line each. Absent in older ones. */
  told?: string[];
}

/** What a worker has seen of a server. */
export interface Sighting {
  fingerprint: string;
  /** Null: it could not be reached. */
  found: { revision: string; tools: { name: string; description: string }[] } | null;
}

export interface InputMcp {
  /** As the task names them. Null: the operator has none of that name for its workspace any more. */
  servers: readonly { name: string; config: McpServerConfig | null }[];
  /** As it was decided last; null: it was not yet. */
  offer: McpOffer | null;
  /** Keeps what was decided. */
  keep(offer: McpOffer): Promise<void>;
  /** Tells others what was seen. It never rejects. */
  saw(server: string, sighting: Sighting): Promise<void>;
}
