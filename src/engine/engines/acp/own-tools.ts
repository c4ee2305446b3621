// The tools of the service that a program has, as the MCP server `millwright` at its door (reference §30).
import type { JsonValue, ToolInvocation } from '../../models/conversation.js';
import type { ToolDefinition } from '../../models/model-provider.js';
import { sorted } from '../../models/result-text.js';

/** What a program has of its own. */
const NOT_OFFERED = [
  ...['apply_patch', 'bash', 'bash_input', 'bash_output', 'bash_stop', 'edit', 'exec_command', 'glob', 'grep', 'read'],
  ...['write', 'write_stdin'],
];

export function offeredAtDoor(definitions: readonly ToolDefinition[]): ToolDefinition[] {
  return definitions.filter(({ name }) => !NOT_OFFERED.includes(name));
}

/** A call as it comes to `/mcp`. */
export class Asked {
  private readonly text: string;

  constructor(
    readonly name: string,
    readonly input: JsonValue,
  ) {
    this.text = JSON.stringify(sorted(input));
  }

  /** Whether the model has made this call. */
  isOf({ input }: Pick<ToolInvocation, 'input'>): boolean {
    return JSON.stringify(sorted(input)) === this.text;
  }
}
